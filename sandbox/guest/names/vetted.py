"""Modules whose listed names are handed over as they are, each group with the reason why it may be.

Common to all: they compute from their arguments, keep no state that a program could change for another, open nothing,
and reach no module by a public name (a test walks them on every supported Python).
"""

from __future__ import annotations

from typing import NamedTuple


class Vetted(NamedTuple):
    """The public names of one module that programs get, and why these and no others."""

    names: str
    why: str


VETTED: dict[str, Vetted] = {
    "math": Vetted(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1 "
        "fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma "
        "log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt sumprod tan tanh tau "
        "trunc ulp",
        "numbers in, numbers out",
    ),
    "cmath": Vetted(
        "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj phase pi "
        "polar rect sin sinh sqrt tan tanh tau",
        "numbers in, numbers out",
    ),
    "itertools": Vetted(
        "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse "
        "groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest",
        "iterators over what they are given; endless ones are ended by the clock of the process",
    ),
    "heapq": Vetted(
        "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest", "lists of the program"
    ),
    "bisect": Vetted("bisect bisect_left bisect_right insort insort_left insort_right", "lists of the program"),
    "statistics": Vetted(
        "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde linear_regression mean "
        "median median_grouped median_high median_low mode multimode pstdev pvariance quantiles stdev variance",
        "numbers in, numbers out",
    ),
    "string": Vetted(
        "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable punctuation "
        "whitespace",
        "text; Formatter is one of our own, since the library's walks attributes",
    ),
    "textwrap": Vetted("TextWrapper dedent fill indent shorten wrap", "text"),
    "decimal": Vetted(
        "Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DivisionByZero DivisionImpossible "
        "DivisionUndefined FloatOperation Inexact InvalidContext InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY "
        "Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP "
        "Rounded Subnormal Underflow getcontext localcontext setcontext",
        "the context belongs to the execution: it runs in a contextvars context of its own. Not the three shared "
        "contexts (DefaultContext …), which outlive it",
    ),
    "fractions": Vetted("Fraction", "numbers"),
    "numbers": Vetted("Complex Integral Number Rational Real", "for isinstance; register is guarded"),
    "array": Vetted("array typecodes", "numbers of the program; fromfile and tofile need a file, and there is none"),
    "struct": Vetted("Struct calcsize error iter_unpack pack pack_into unpack unpack_from", "bytes"),
    "base64": Vetted(
        "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode "
        "b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode "
        "urlsafe_b64encode",
        "bytes; not encode and decode, which take files",
    ),
    "binascii": Vetted(
        "Error Incomplete a2b_base64 a2b_hex a2b_uu b2a_base64 b2a_hex b2a_uu crc32 crc_hqx hexlify unhexlify", "bytes"
    ),
    "hashlib": Vetted(
        "algorithms_available algorithms_guaranteed blake2b blake2s md5 new pbkdf2_hmac scrypt sha1 sha224 sha256 sha384 "
        "sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256",
        "bytes; not file_digest, which takes a file",
    ),
    "hmac": Vetted("HMAC compare_digest digest new", "bytes"),
    "html": Vetted("escape unescape", "text"),
    "urllib.parse": Vetted(
        "ParseResult SplitResult parse_qs parse_qsl quote quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes "
        "urldefrag urlencode urljoin urlparse urlsplit urlunparse urlunsplit",
        "text; nothing is fetched",
    ),
    "unicodedata": Vetted(
        "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup mirrored name "
        "normalize numeric unidata_version",
        "text",
    ),
    "difflib": Vetted(
        "Differ IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff get_close_matches ndiff restore "
        "unified_diff",
        "text",
    ),
    "zlib": Vetted(
        "Z_BEST_COMPRESSION Z_BEST_SPEED Z_DEFAULT_COMPRESSION adler32 compress compressobj crc32 decompress decompressobj "
        "error MAX_WBITS",
        "bytes; a bomb ends at the memory limit of the process",
    ),
    "graphlib": Vetted("CycleError TopologicalSorter", "graphs of the program"),
    "ipaddress": Vetted(
        "AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network NetmaskValueError "
        "collapse_addresses get_mixed_type_key ip_address ip_interface ip_network summarize_address_range v4_int_to_packed "
        "v6_int_to_packed",
        "addresses as data; nothing is looked up",
    ),
    "fnmatch": Vetted("filter fnmatch fnmatchcase translate", "text"),
    "email.utils": Vetted(
        "format_datetime formataddr getaddresses parseaddr parsedate parsedate_to_datetime parsedate_tz quote unquote",
        "text; not formatdate and make_msgid, which read clock and host name (formatdate is ours)",
    ),
    "xml.sax.saxutils": Vetted("escape quoteattr unescape", "text"),
    "keyword": Vetted("iskeyword issoftkeyword kwlist softkwlist", "text"),
    "colorsys": Vetted("hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb", "numbers"),
    "shlex": Vetted("join quote", "text; split is ours, since the library's class opens files"),
    "re": Vetted(
        "A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError RegexFlag S U UNICODE VERBOSE X "
        "compile error escape findall finditer fullmatch match purge search split sub subn",
        "text; a pattern that takes for ever is ended by the clock of the process",
    ),
    "json": Vetted(
        "JSONDecodeError JSONDecoder JSONEncoder dumps loads", "text; not load and dump of files (ours take StringIO)"
    ),
    "csv": Vetted(
        "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL QUOTE_STRINGS "
        "Sniffer excel excel_tab field_size_limit get_dialect list_dialects reader unix_dialect writer",
        "text; not register_dialect, whose table is shared",
    ),
    "io": Vetted("BytesIO SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase", "memory; not open, FileIO and the wrappers"),
    "copy": Vetted("Error copy deepcopy error replace", "tools and tables copy as themselves"),
    "html.parser": Vetted("HTMLParser", "text; programs inherit from it"),
    "collections": Vetted(
        "ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple",
        "containers; not UserString, whose format walks attributes",
    ),
    "collections.abc": Vetted(
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection Container Coroutine "
        "Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence "
        "MutableSet Reversible Sequence Set Sized ValuesView",
        "for isinstance and inheritance; register is guarded",
    ),
    "enum": Vetted(
        "CONFORM CONTINUE EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS ReprEnum STRICT StrEnum "
        "UNIQUE auto global_enum member nonmember property unique verify",
        "classes of the program",
    ),
    "calendar": Vetted(
        "APRIL AUGUST Calendar DECEMBER FEBRUARY FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError JANUARY JULY JUNE "
        "MARCH MAY MONDAY Month NOVEMBER OCTOBER SATURDAY SEPTEMBER SUNDAY THURSDAY TUESDAY TextCalendar WEDNESDAY Day "
        "calendar day_abbr day_name firstweekday isleap leapdays month month_abbr month_name monthcalendar monthrange timegm "
        "weekday weekheader",
        "dates; not setfirstweekday, which is shared, and the locale variants",
    ),
    "zoneinfo": Vetted("ZoneInfo ZoneInfoNotFoundError", "zones that were read before the walls went up"),
    "datetime": Vetted(
        "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
        "now, today and utcnow are guarded: they show the time of the execution",
    ),
    "functools": Vetted(
        "cache cached_property cmp_to_key lru_cache partial partialmethod reduce total_ordering",
        "functions of the program; wraps, update_wrapper and singledispatch are ours",
    ),
    "contextlib": Vetted(
        "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator ExitStack "
        "aclosing asynccontextmanager closing contextmanager nullcontext suppress",
        "context managers of the program; redirect_stdout is ours",
    ),
    "dataclasses": Vetted(
        "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass replace",
        "field names come from the source, which the policy has read; make_dataclass is ours",
    ),
    "abc": Vetted(
        "ABC abstractmethod abstractproperty abstractclassmethod abstractstaticmethod",
        "ABCMeta is a stand-in that is good for `metaclass=`",
    ),
    "pprint": Vetted(
        "PrettyPrinter isreadable isrecursive pformat saferepr", "text; pprint and pp print to the output"
    ),
}
