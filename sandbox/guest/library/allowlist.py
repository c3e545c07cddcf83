"""The table of all names that programs can import.

raw       Functions, constants and immutable C types, handed over as they are.
lent      Classes that the library writes in Python, handed over as they are. Programs cannot write to them, and each
          process runs one program.
facade    Replacements: where the library reads a clock, draws random numbers, opens files, runs text, or reads
          attributes by any name. They are in `facades`; copies of whole modules are in `copies`.

Names that this version of Python lacks are left out. A test compares the table with the library and the facades.
"""

from __future__ import annotations

from typing import NamedTuple

#: Module and reason, then the names of each kind.
_TABLE = """
abc: ABCMeta is good for `metaclass=` alone
    raw: abstractmethod
    lent: ABC abstractclassmethod abstractproperty abstractstaticmethod
    facade: ABCMeta
array: numbers of the program; fromfile and tofile need a file, and there is none
    raw: array typecodes
ast: data in the syntax of Python; nothing is run
    raw: literal_eval
asyncio: primitives on the one loop; the facades start things, also where the library takes only coroutines
    raw: ALL_COMPLETED FIRST_COMPLETED FIRST_EXCEPTION Future Task TimeoutError all_tasks current_task iscoroutine
        iscoroutinefunction isfuture sleep timeout timeout_at
    lent: AbstractEventLoop Barrier BoundedSemaphore BrokenBarrierError CancelledError Condition Event
        InvalidStateError LifoQueue Lock PriorityQueue Queue QueueEmpty QueueFull QueueShutDown Semaphore TaskGroup
        Timeout
    facade: as_completed create_task ensure_future gather get_event_loop get_running_loop new_event_loop run
        run_coroutine_threadsafe set_event_loop shield to_thread wait wait_for wrap_future
base64: bytes; not encode and decode, which take files
    raw: a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode
        b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode
        urlsafe_b64encode z85decode z85encode
binascii: bytes
    raw: a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx hexlify unhexlify
    lent: Error Incomplete
bisect: lists of the program
    raw: bisect bisect_left bisect_right insort insort_left insort_right
calendar: dates; not the locale variants
    raw: APRIL AUGUST DECEMBER FEBRUARY FRIDAY JANUARY JULY JUNE MARCH MAY MONDAY NOVEMBER OCTOBER SATURDAY
        SEPTEMBER SUNDAY THURSDAY TUESDAY WEDNESDAY calendar day_abbr day_name firstweekday isleap leapdays month
        month_abbr month_name monthcalendar monthrange prcal prmonth setfirstweekday timegm week weekday weekheader
    lent: Calendar Day HTMLCalendar IllegalMonthError IllegalWeekdayError Month TextCalendar
cmath: numbers in, numbers out
    raw: acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj
        phase pi polar rect sin sinh sqrt tan tanh tau
codecs: bytes and text; not open
    raw: BOM BOM32_BE BOM32_LE BOM64_BE BOM64_LE BOM_BE BOM_LE BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32
        BOM_UTF32_BE BOM_UTF32_LE BOM_UTF8 decode encode
collections: containers; not UserString, whose format walks attributes
    raw: OrderedDict defaultdict deque namedtuple
    lent: ChainMap Counter UserDict UserList
collections.abc: for isinstance and inheritance
    lent: AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection Container
        Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping
        MutableSequence MutableSet Reversible Sequence Set Sized ValuesView
colorsys: numbers
    raw: hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb
concurrent.futures: a copy of the library's module over jobs of the scheduler
    facade: ALL_COMPLETED BrokenExecutor BrokenThreadPool CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION
        Future InvalidStateError ThreadPoolExecutor TimeoutError as_completed wait
configparser: text; ConfigParser is a facade: no files
    lent: DuplicateOptionError DuplicateSectionError Error MissingSectionHeaderError NoOptionError NoSectionError
        ParsingError
    facade: ConfigParser
contextlib: context managers of the program; the standard streams are its own
    raw: asynccontextmanager contextmanager
    lent: AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator
        ExitStack aclosing closing nullcontext redirect_stderr redirect_stdout suppress
contextvars: variables of the program; a new context keeps the place of the scheduler
    raw: ContextVar Token copy_context
    facade: Context
copy: objects of the program
    raw: copy deepcopy replace
    lent: Error error
csv: text; not register_dialect, whose table is shared
    raw: QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL QUOTE_STRINGS field_size_limit
        get_dialect list_dialects reader writer
    lent: Dialect DictReader DictWriter Error Sniffer excel excel_tab unix_dialect
dataclasses: the facades check the names of fields, which the library writes into source text
    raw: KW_ONLY MISSING asdict astuple field fields is_dataclass replace
    lent: FrozenInstanceError InitVar
    facade: dataclass make_dataclass
datetime: now, today and utcnow show the time of the execution (`attributes.LOOKED_AT`)
    raw: MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo
decimal: numbers; the context belongs to the execution
    raw: Context Decimal MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP getcontext localcontext setcontext
    lent: Clamped ConversionSyntax DecimalException DecimalTuple DivisionByZero DivisionImpossible DivisionUndefined
        FloatOperation Inexact InvalidContext InvalidOperation Overflow Rounded Subnormal Underflow
difflib: text
    raw: IS_CHARACTER_JUNK IS_LINE_JUNK context_diff diff_bytes get_close_matches ndiff restore unified_diff
    lent: Differ Match SequenceMatcher
email.utils: text; what reads the clock is a facade
    raw: format_datetime formataddr getaddresses parseaddr parsedate parsedate_to_datetime parsedate_tz quote
        unquote
    facade: formatdate localtime
enum: classes of the program; EnumType is good for `metaclass=` alone
    raw: CONFORM CONTINUOUS EJECT KEEP NAMED_FLAGS STRICT UNIQUE show_flag_values unique
    lent: Enum EnumCheck Flag FlagBoundary IntEnum IntFlag ReprEnum StrEnum auto member nonmember property verify
    facade: EnumMeta EnumType
fnmatch: text
    raw: filter fnmatch fnmatchcase translate
fractions: numbers
    lent: Fraction
functools: functions of the program; the facades would read any attribute, or run text of annotations
    raw: WRAPPER_ASSIGNMENTS WRAPPER_UPDATES cache cmp_to_key lru_cache partial reduce total_ordering
    lent: cached_property partialmethod
    facade: singledispatch singledispatchmethod update_wrapper wraps
gc: memory of the program; nothing that lists objects
    raw: collect disable enable isenabled
graphlib: graphs of the program
    lent: CycleError TopologicalSorter
gzip: bytes; compress is a facade: its header has the time
    raw: decompress
    lent: BadGzipFile
    facade: compress
hashlib: bytes; not file_digest, which takes a file
    raw: algorithms_available algorithms_guaranteed blake2b blake2s md5 new pbkdf2_hmac scrypt sha1 sha224 sha256
        sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256
heapq: lists of the program
    raw: heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest
hmac: bytes
    raw: compare_digest digest new
    lent: HMAC
html: text
    raw: escape unescape
html.parser: text; programs inherit from it
    lent: HTMLParser
http: names of numbers; the modules below it, which open sockets, are others
    lent: HTTPMethod HTTPStatus
importlib: facade: import by name, from this table
    facade: import_module
inspect: what functions and classes say of themselves; the facades run no text, and show no private names
    raw: cleandoc getcoroutinestate getdoc getfullargspec getgeneratorstate getmro isabstract isasyncgen
        isasyncgenfunction isawaitable isbuiltin isclass iscoroutine iscoroutinefunction isdatadescriptor isfunction
        isgenerator isgeneratorfunction ismethod ismethoddescriptor isroutine unwrap
    lent: Parameter Signature
    facade: get_annotations getmembers getsource ismodule signature
io: memory; not open, FileIO and the wrappers
    raw: BytesIO DEFAULT_BUFFER_SIZE SEEK_CUR SEEK_END SEEK_SET StringIO
    lent: IOBase TextIOBase UnsupportedOperation
ipaddress: addresses as data; nothing is looked up
    raw: collapse_addresses get_mixed_type_key ip_address ip_interface ip_network summarize_address_range
        v4_int_to_packed v6_int_to_packed
    lent: AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network
        NetmaskValueError
itertools: iterators over what they are given; endless ones are ended by the clock of the process
    raw: accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
json: text; load and dump take the streams of `io`
    raw: dump dumps load loads
    lent: JSONDecodeError JSONDecoder JSONEncoder
keyword: text
    raw: iskeyword issoftkeyword kwlist softkwlist
logging: a copy of the library's module; records become notes
    facade: CRITICAL DEBUG ERROR FATAL Filter Formatter Handler INFO LogRecord Logger LoggerAdapter NOTSET NullHandler
        StreamHandler WARN WARNING addLevelName basicConfig critical debug disable error exception fatal getLevelName
        getLogger info log root warn warning
math: numbers in, numbers out
    raw: acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2
        expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm
        ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt
        sumprod tan tanh tau trunc ulp
numbers: for isinstance and inheritance
    lent: Complex Integral Number Rational Real
operator: operators; the facades read attributes as getattr does
    raw: abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv
        ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor
        le length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
    facade: attrgetter methodcaller
pprint: text
    raw: isreadable isrecursive pformat pp pprint saferepr
    lent: PrettyPrinter
queue: a copy of the library's module over locks of the scheduler
    facade: Empty Full LifoQueue PriorityQueue Queue ShutDown SimpleQueue
random: all facades: they draw from the seed of the execution
    facade: Random SystemRandom betavariate binomialvariate choice choices expovariate gammavariate gauss
        getrandbits getstate lognormvariate normalvariate paretovariate randbytes randint random randrange sample
        seed setstate shuffle triangular uniform vonmisesvariate weibullvariate
re: text; a pattern that takes for ever is ended by the clock of the process
    raw: A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern S U UNICODE VERBOSE X compile escape
        findall finditer fullmatch match purge search split sub subn
    lent: PatternError RegexFlag error
reprlib: text; the shared aRepr is left out
    raw: recursive_repr repr
    lent: Repr
secrets: a copy of the library's module, which draws from the seed of the execution
    raw: compare_digest
    facade: SystemRandom choice randbelow randbits token_bytes token_hex token_urlsafe
shlex: text; split is a facade, since the library's class opens files
    raw: join quote
    facade: split
statistics: numbers in, numbers out
    raw: correlation covariance fmean geometric_mean harmonic_mean kde linear_regression mean median median_grouped
        median_high median_low mode multimode pstdev pvariance quantiles stdev variance
    lent: NormalDist StatisticsError
string: text; Formatter is a facade, since the library's walks attributes
    raw: ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable punctuation
        whitespace
    lent: Template
    facade: Formatter
struct: bytes
    raw: Struct calcsize iter_unpack pack pack_into unpack unpack_from
    lent: error
sys: numbers; the facades tell of the program, and nothing of the process
    raw: byteorder exception float_info float_repr_style get_int_max_str_digits getdefaultencoding getrecursionlimit
        getrefcount hash_info hexversion int_info intern maxsize maxunicode set_int_max_str_digits version
        version_info
    facade: __stderr__ __stdout__ argv exc_info executable exit getsizeof implementation platform setrecursionlimit
        stdin
textwrap: text
    raw: dedent fill indent shorten wrap
    lent: TextWrapper
threading: a copy of the library's module over jobs of the scheduler
    facade: Barrier BoundedSemaphore BrokenBarrierError Condition Event Lock RLock Semaphore TIMEOUT_MAX Thread
        ThreadError Timer activeCount active_count currentThread current_thread enumerate get_ident get_native_id local
        main_thread
time: the facades show the time of the execution
    raw: strptime
    lent: struct_time
    facade: altzone asctime ctime daylight gmtime localtime mktime monotonic monotonic_ns perf_counter
        perf_counter_ns process_time process_time_ns sleep strftime thread_time thread_time_ns time time_ns timezone
        tzname
timeit: facades: text is never run
    facade: default_timer repeat timeit
tomllib: text; not load, which takes a file
    raw: loads
    lent: TOMLDecodeError
traceback: text; the facades show the frames of the program alone
    raw: format_list
    lent: FrameSummary
    facade: extract_tb format_exc format_exception format_exception_only format_tb print_exc print_exception
        print_tb
types: for isinstance; the facades stand for what would make code
    raw: AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CoroutineType EllipsisType GeneratorType
        GenericAlias MappingProxyType MethodType NoneType NotImplementedType SimpleNamespace TracebackType UnionType
    lent: DynamicClassAttribute
    facade: CodeType FunctionType LambdaType ModuleType
typing: words for annotations; get_type_hints is a facade: the library's runs text
    raw: AbstractSet Annotated AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable
        ByteString Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine Counter
        DefaultDict Deque Dict Final FrozenSet Generator Hashable ItemsView Iterable Iterator KeysView List Literal
        LiteralString Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NoDefault
        NoReturn NotRequired Optional OrderedDict Pattern ReadOnly Required Reversible Self Sequence Set Sized Text
        Tuple TypeAlias TypeAliasType TypeGuard TypeIs TypedDict Union Unpack ValuesView assert_never assert_type
        cast dataclass_transform final get_args get_origin get_protocol_members is_protocol is_typeddict
        no_type_check overload override reveal_type runtime_checkable
    lent: Any BinaryIO ForwardRef Generic IO NewType ParamSpec ParamSpecArgs ParamSpecKwargs Protocol SupportsAbs
        SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound TextIO TypeVar
        TypeVarTuple
    facade: TYPE_CHECKING Type get_type_hints
unicodedata: text
    raw: bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup mirrored
        name normalize numeric unidata_version
urllib.parse: text; nothing is fetched
    raw: parse_qs parse_qsl quote quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes urldefrag
        urlencode urljoin urlparse urlsplit urlunparse urlunsplit
    lent: ParseResult SplitResult
uuid: computed from text; uuid1 and uuid4 are facades: time and seed of the execution
    raw: NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 uuid3 uuid5
    lent: SafeUUID UUID
    facade: uuid1 uuid4
warnings: facades: warnings become notes
    facade: catch_warnings filterwarnings resetwarnings simplefilter warn
weakref: objects of the program
    raw: ProxyType ReferenceType proxy ref
    lent: WeakKeyDictionary WeakMethod WeakSet WeakValueDictionary finalize
xml.etree.ElementTree: trees; what parses is a facade: no entities, no files
    raw: Comment Element ProcessingInstruction SubElement dump indent iselement tostring tostringlist
    lent: ParseError QName
    facade: ElementTree XML fromstring fromstringlist parse
xml.sax.saxutils: facades: three functions over text; the library's module imports an HTTP client
    facade: escape quoteattr unescape
zlib: bytes; a bomb ends at the memory limit of the process
    raw: DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_BLOCK Z_DEFAULT_COMPRESSION
        Z_DEFAULT_STRATEGY Z_FILTERED Z_FINISH Z_FIXED Z_FULL_FLUSH Z_HUFFMAN_ONLY Z_NO_COMPRESSION Z_NO_FLUSH
        Z_PARTIAL_FLUSH Z_RLE Z_SYNC_FLUSH Z_TREES adler32 compress compressobj crc32 decompress decompressobj
    lent: error
zoneinfo: zones that were read before the walls went up
    raw: ZoneInfo available_timezones
    lent: ZoneInfoNotFoundError
"""


class Listed(NamedTuple):
    """The names of one module, and a reason."""

    why: str
    raw: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()
    facade: tuple[str, ...] = ()


def _read(text: str) -> dict[str, Listed]:
    """Parse the table. Lines without indent begin a module; `kind:` begins the names of a kind."""
    rows: dict[str, dict[str, list[str]]] = {}
    why: dict[str, str] = {}
    for line in text.strip().split("\n"):
        head, _, rest = line.partition(": ")
        if not line.startswith(" "):
            module, why[head] = head, rest
            rows[module] = {}
        elif rest:
            kind = head.strip()
            rows[module][kind] = rest.split()
        else:
            rows[module][kind] += line.split()
    return {
        module: Listed(why[module], **{kind: tuple(names) for kind, names in kinds.items()})
        for module, kinds in rows.items()
    }


MODULES = _read(_TABLE)
