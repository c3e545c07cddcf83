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
        names=(
            "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc "
            "exp exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf "
            "isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians "
            "remainder sin sinh sqrt sumprod tan tanh tau trunc ulp"
        ),
        why=("numbers in, numbers out"),
    ),
    "cmath": Vetted(
        names=(
            "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 "
            "nan nanj phase pi polar rect sin sinh sqrt tan tanh tau"
        ),
        why=("numbers in, numbers out"),
    ),
    "itertools": Vetted(
        names=(
            "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile "
            "filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest"
        ),
        why=("iterators over what they are given; endless ones are ended by the clock of the process"),
    ),
    "heapq": Vetted(
        names=("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
        why=("lists of the program"),
    ),
    "bisect": Vetted(
        names=("bisect bisect_left bisect_right insort insort_left insort_right"),
        why=("lists of the program"),
    ),
    "statistics": Vetted(
        names=(
            "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde "
            "linear_regression mean median median_grouped median_high median_low mode multimode pstdev "
            "pvariance quantiles stdev variance"
        ),
        why=("numbers in, numbers out"),
    ),
    "string": Vetted(
        names=(
            "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits "
            "printable punctuation whitespace"
        ),
        why=("text; Formatter is one of our own, since the library's walks attributes"),
    ),
    "textwrap": Vetted(
        names=("TextWrapper dedent fill indent shorten wrap"),
        why=("text"),
    ),
    "decimal": Vetted(
        names=(
            "Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DivisionByZero "
            "DivisionImpossible DivisionUndefined FloatOperation Inexact InvalidContext InvalidOperation "
            "MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR "
            "ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext "
            "localcontext setcontext"
        ),
        why=(
            "the context belongs to the execution: it runs in a contextvars context of its own. Not the three "
            "shared contexts (DefaultContext …), which outlive it"
        ),
    ),
    "fractions": Vetted(
        names=("Fraction"),
        why=("numbers"),
    ),
    "numbers": Vetted(
        names=("Complex Integral Number Rational Real"),
        why=("for isinstance; register is guarded"),
    ),
    "array": Vetted(
        names=("array typecodes"),
        why=("numbers of the program; fromfile and tofile need a file, and there is none"),
    ),
    "struct": Vetted(
        names=("Struct calcsize error iter_unpack pack pack_into unpack unpack_from"),
        why=("bytes"),
    ),
    "base64": Vetted(
        names=(
            "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode "
            "b64encode b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode "
            "urlsafe_b64decode urlsafe_b64encode z85decode z85encode"
        ),
        why=("bytes; not encode and decode, which take files"),
    ),
    "binascii": Vetted(
        names=(
            "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx hexlify "
            "unhexlify"
        ),
        why=("bytes"),
    ),
    "hashlib": Vetted(
        names=(
            "algorithms_available algorithms_guaranteed blake2b blake2s md5 new pbkdf2_hmac scrypt sha1 sha224 "
            "sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256"
        ),
        why=("bytes; not file_digest, which takes a file"),
    ),
    "hmac": Vetted(
        names=("HMAC compare_digest digest new"),
        why=("bytes"),
    ),
    "html": Vetted(
        names=("escape unescape"),
        why=("text"),
    ),
    "urllib.parse": Vetted(
        names=(
            "ParseResult SplitResult parse_qs parse_qsl quote quote_from_bytes quote_plus unquote unquote_plus "
            "unquote_to_bytes urldefrag urlencode urljoin urlparse urlsplit urlunparse urlunsplit"
        ),
        why=("text; nothing is fetched"),
    ),
    "unicodedata": Vetted(
        names=(
            "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup "
            "mirrored name normalize numeric unidata_version"
        ),
        why=("text"),
    ),
    "difflib": Vetted(
        names=(
            "Differ IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes "
            "get_close_matches ndiff restore unified_diff"
        ),
        why=("text"),
    ),
    "zlib": Vetted(
        names=(
            "DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_BLOCK "
            "Z_DEFAULT_COMPRESSION Z_DEFAULT_STRATEGY Z_FILTERED Z_FINISH Z_FIXED Z_FULL_FLUSH Z_HUFFMAN_ONLY "
            "Z_NO_COMPRESSION Z_NO_FLUSH Z_PARTIAL_FLUSH Z_RLE Z_SYNC_FLUSH Z_TREES adler32 compress compressobj "
            "crc32 decompress decompressobj error"
        ),
        why=("bytes; a bomb ends at the memory limit of the process"),
    ),
    "weakref": Vetted(
        names=("ReferenceType ProxyType WeakKeyDictionary WeakMethod WeakSet WeakValueDictionary proxy ref"),
        why=("objects of the program; finalize is ours, since the library keeps all in one registry"),
    ),
    "reprlib": Vetted(
        names=("Repr recursive_repr repr"),
        why=("text; the shared aRepr is left out"),
    ),
    "contextvars": Vetted(
        names=("ContextVar Token"),
        why=("variables of the program; not copy_context, which shows the scheduler's"),
    ),
    "graphlib": Vetted(
        names=("CycleError TopologicalSorter"),
        why=("graphs of the program"),
    ),
    "ipaddress": Vetted(
        names=(
            "AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network "
            "NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network "
            "summarize_address_range v4_int_to_packed v6_int_to_packed"
        ),
        why=("addresses as data; nothing is looked up"),
    ),
    "fnmatch": Vetted(
        names=("filter fnmatch fnmatchcase translate"),
        why=("text"),
    ),
    "email.utils": Vetted(
        names=(
            "format_datetime formataddr getaddresses parseaddr parsedate parsedate_to_datetime parsedate_tz "
            "quote unquote"
        ),
        why=("text; not formatdate and make_msgid, which read clock and host name (formatdate is ours)"),
    ),
    "keyword": Vetted(
        names=("iskeyword issoftkeyword kwlist softkwlist"),
        why=("text"),
    ),
    "colorsys": Vetted(
        names=("hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb"),
        why=("numbers"),
    ),
    "shlex": Vetted(
        names=("join quote"),
        why=("text; split is ours, since the library's class opens files"),
    ),
    "re": Vetted(
        names=(
            "A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError RegexFlag S U "
            "UNICODE VERBOSE X compile error escape findall finditer fullmatch match purge search split sub "
            "subn"
        ),
        why=("text; a pattern that takes for ever is ended by the clock of the process"),
    ),
    "json": Vetted(
        names=("JSONDecodeError JSONDecoder JSONEncoder dumps loads"),
        why=("text; not load and dump of files (ours take StringIO)"),
    ),
    "csv": Vetted(
        names=(
            "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC "
            "QUOTE_NOTNULL QUOTE_STRINGS Sniffer excel excel_tab field_size_limit get_dialect list_dialects "
            "reader unix_dialect writer"
        ),
        why=("text; not register_dialect, whose table is shared"),
    ),
    "io": Vetted(
        names=(
            "BytesIO DEFAULT_BUFFER_SIZE IOBase SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase UnsupportedOperation"
        ),
        why=("memory; not open, FileIO and the wrappers"),
    ),
    "copy": Vetted(
        names=("Error copy deepcopy error replace"),
        why=("tools and tables copy as themselves"),
    ),
    "http": Vetted(
        names=("HTTPMethod HTTPStatus"),
        why=("names of numbers; the modules below it, which open sockets, are others"),
    ),
    "html.parser": Vetted(
        names=("HTMLParser"),
        why=("text; programs inherit from it"),
    ),
    "collections": Vetted(
        names=("ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple"),
        why=("containers; not UserString, whose format walks attributes"),
    ),
    "collections.abc": Vetted(
        names=(
            "AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection "
            "Container Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView "
            "MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
        ),
        why=("for isinstance and inheritance; register is guarded"),
    ),
    "enum": Vetted(
        names=(
            "CONFORM CONTINUOUS EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS ReprEnum "
            "STRICT StrEnum UNIQUE auto member nonmember property show_flag_values unique verify"
        ),
        why=("classes of the program"),
    ),
    "calendar": Vetted(
        names=(
            "APRIL AUGUST Calendar DECEMBER FEBRUARY FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError "
            "JANUARY JULY JUNE MARCH MAY MONDAY Month NOVEMBER OCTOBER SATURDAY SEPTEMBER SUNDAY THURSDAY "
            "TUESDAY TextCalendar WEDNESDAY Day calendar day_abbr day_name firstweekday isleap leapdays month "
            "month_abbr month_name monthcalendar monthrange timegm weekday weekheader"
        ),
        why=("dates; not setfirstweekday, which is shared, and the locale variants"),
    ),
    "zoneinfo": Vetted(
        names=("ZoneInfo ZoneInfoNotFoundError"),
        why=("zones that were read before the walls went up"),
    ),
    "datetime": Vetted(
        names=("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
        why=("now, today and utcnow are guarded: they show the time of the execution"),
    ),
    "functools": Vetted(
        names=("cache cached_property cmp_to_key lru_cache partial partialmethod reduce"),
        why=("functions of the program; wraps, update_wrapper and singledispatch are ours"),
    ),
    "contextlib": Vetted(
        names=(
            "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack "
            "ContextDecorator ExitStack aclosing asynccontextmanager closing contextmanager nullcontext "
            "suppress"
        ),
        why=("context managers of the program; redirect_stdout is ours"),
    ),
    "dataclasses": Vetted(
        names=("FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple field fields is_dataclass replace"),
        why=("field names come from the source, which the policy has read; make_dataclass is ours"),
    ),
    "abc": Vetted(
        names=("ABC"),
        why=("ABCMeta is a stand-in that is good for `metaclass=`"),
    ),
    "pprint": Vetted(
        names=("PrettyPrinter isreadable isrecursive pformat saferepr"),
        why=("text; pprint and pp print to the output"),
    ),
}
