# ruff: noqa: E501 - programs stand as they are sent; random numbers are seeded
"""What a program can reach by the names it may write is walked, not believed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import types
from collections import Counter, deque
from importlib import import_module
from inspect import signature
from itertools import compress, product
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from sandbox.guest.channel import Channel
from sandbox.guest.concurrency.clock import Clock
from sandbox.guest.concurrency.hub import Hub, Slot, fresh_context
from sandbox.guest.language.attributes import Decision, decide
from sandbox.guest.language.compilation import compile_program
from sandbox.guest.language.policy import READ_AS
from sandbox.guest.language.variables import is_dunder
from sandbox.guest.names.modules import OFFERED, Modules
from sandbox.guest.names.scene import Scene
from sandbox.guest.names.vetted import VETTED
from sandbox.guest.run import Run
from sandbox.guest.runtime.access import Access
from sandbox.guest.runtime.classes import BASES, Classes
from sandbox.guest.runtime.own import OwnClasses
from sandbox.guest.runtime.tables import Table
from sandbox.guest.tools import Record, ToolCalls
from sandbox.limits import Limits
from sandbox.protocol.host_messages import encode_program, encode_run
from tests.sandbox.guest.host_double import HostDouble

if TYPE_CHECKING:
    from collections.abc import Callable

#: Objects of every kind that a program can make or be given.
SAMPLES = """
import array, ast, asyncio, calendar, collections, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, email.utils
import enum, fractions, functools, graphlib, hashlib, hmac, html.parser, inspect, io, ipaddress, itertools, json, logging
import math, numbers, operator, pprint, queue, random, re, statistics, string, struct, sys, textwrap, threading, time
import traceback, types, typing, urllib.parse, uuid, warnings, weakref, xml.etree.ElementTree, zlib, zoneinfo, concurrent.futures, abc
samples = {}
def function(a, b=1): return a
def generator():
    yield 1
async def coroutine(): return 1
async def asyncgen():
    yield 1
class Own:
    x: int = 1
    def method(self): return self
    @property
    def prop(self): return 1
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Data:
    a: int = 1
class Tup(typing.NamedTuple):
    a: int
class Abstract(abc.ABC): pass
errors = []
for bad in (lambda: [].nothing, lambda: {}["k"], lambda: 1 / 0, lambda: int("x"), lambda: nothing, lambda: [][1],
            lambda: json.loads("{"), lambda: json.nothing, lambda: ns.fail(), lambda: "a".encode("ascii").decode("x"),
            lambda: math.nothing, lambda: sys.exit(), lambda: next(iter([])), lambda: re.compile("("),
            lambda: uuid.UUID("x"), lambda: zoneinfo.ZoneInfo("No/Zone")):
    try:
        bad()
    except BaseException as e:
        errors.append(e)
class Manager:
    def __enter__(self): return self
    def __exit__(self, *details):
        samples["exit"] = details
        return True
with Manager():
    1 / 0
class Decorator(contextlib.ContextDecorator): pass
def in_class(wrap):
    def place(kind):
        @dataclasses.dataclass
        class Holder:
            a: int = 1
            attrname = "__init__"
            held = wrap(kind)
        return Holder().held
    return place
wrappers = [
    contextlib.contextmanager, contextlib.asynccontextmanager, Decorator(), functools.cache, functools.partial, staticmethod,
    functools.cached_property, enum.property, enum.member, weakref.proxy, lambda kind: types.GenericAlias(kind, int),
    lambda kind: types.MethodType(kind, 1), in_class(functools.partialmethod), in_class(classmethod),
    lambda kind: in_class(functools.partialmethod)(types.GenericAlias(kind, int)),
    lambda kind: in_class(functools.singledispatchmethod)(kind)(1),
]
@functools.singledispatch
def dispatched(x): return x
@contextlib.contextmanager
def managed(): yield 1
class Seen(logging.Handler):
    records = []
    def emit(self, record): self.records.append(record)
seen = Seen()
logging.getLogger("y").addHandler(seen)
logging.getLogger("y").error("bad", exc_info=errors[0])
pending = coroutine()
task = asyncio.create_task(asyncio.sleep(0))
samples.update(
    errors=errors, function=function, generator=generator(), pending=pending, asyncgen=asyncgen(), own=Own(), Own=Own,
    bound=Own().method, color=Color.RED, Color=Color, data=Data(), fields=dataclasses.fields(Data), tup=Tup(1), Tup=Tup,
    Abstract=Abstract, builtin=len, lru=functools.lru_cache(function), partial=functools.partial(function, 1),
    prop=Own.prop, date=datetime.datetime.now(), delta=datetime.timedelta(1), zone=zoneinfo.ZoneInfo("UTC"),
    decimal=decimal.Decimal(1), context=decimal.getcontext(), fraction=fractions.Fraction(1, 2), match=re.match("a", "a"),
    pattern=re.compile("a"), counter=collections.Counter("a"), deque=collections.deque([1]), chain=collections.ChainMap(),
    text=io.StringIO(), raw=io.BytesIO(), reader=csv.reader([]), writer=csv.writer(io.StringIO()),
    dict_reader=csv.DictReader(io.StringIO("a")), sha=hashlib.sha256(), mac=hmac.new(b"k", b"m", "sha256"), uuid=uuid.uuid4(),
    net=ipaddress.ip_network("10.0.0.0/30"), element=xml.etree.ElementTree.fromstring("<a/>"), url=urllib.parse.urlparse("http://a/"),
    logger=logging.getLogger("x"), handler=logging.StreamHandler(), form=logging.Formatter(), records=seen.records,
    adapter=logging.LoggerAdapter(logging.getLogger("x")), told=traceback.TracebackException.from_exception(errors[0]),
    syntax=ast.parse("def f(a: int = 1): return [a, 'b']"), nodes=list(ast.walk(ast.parse("a + 1"))), fields_of=ast.iter_fields(ast.Pass()),
    visitor=ast.NodeVisitor(), frames=traceback.extract_tb(errors[0].__traceback__), catching=warnings.catch_warnings(record=True), thread=threading.Thread(target=function), lock=threading.Lock(), local=threading.local(),
    queue=queue.Queue(), pool=concurrent.futures.ThreadPoolExecutor(2), job=concurrent.futures.ThreadPoolExecutor(1).submit(function, 1),
    loop=asyncio.get_event_loop(), task=task, future=asyncio.get_event_loop().create_future(), alock=asyncio.Lock(),
    aqueue=asyncio.Queue(), sem=asyncio.Semaphore(1), event=asyncio.Event(), group=asyncio.TaskGroup(), cond=asyncio.Condition(),
    timeout=asyncio.timeout(1), gathered=asyncio.gather(asyncio.sleep(0)), handle=asyncio.get_event_loop().call_soon(function, 1),
    random=random.Random(1), template=string.Template("$a"), formatter=string.Formatter(), dispatched=dispatched,
    managed=managed(), stack=contextlib.ExitStack(), space=types.SimpleNamespace(a=1), proxy=types.MappingProxyType({}),
    topo=graphlib.TopologicalSorter(), seq=difflib.SequenceMatcher(None, "a", "b"), wrapper=textwrap.TextWrapper(),
    signature=inspect.signature(function), normal=statistics.NormalDist(), compressed=zlib.compressobj(), struct=struct.Struct("I"),
    array=array.array("i"), calendar=calendar.TextCalendar(), printer=pprint.PrettyPrinter(), stdout=sys.stdout,
    tool=ns.op, namespace=ns, answer=ns.op(), tools=tools, parser=html.parser.HTMLParser(), alias=list[int],
    union=int | str, var=typing.TypeVar("T"), generic=typing.List[int], getter=operator.itemgetter(1), attr=operator.attrgetter("a"),
    trace=errors[0].__traceback__, kind=type(1), kind_of_kind=type(int), sup=super(Own, Own()), map=map(str, []),
    zip=zip(), enumerate=enumerate([]), range=range(3), slice=slice(1), view={}.keys(), iterator=iter([]), globals=globals(),
    cycle=itertools.cycle([1]), tee=itertools.tee([1]), encoder=json.JSONEncoder(), decoder=json.JSONDecoder(), now=time.gmtime(),
    excinfo=sys.exc_info(), version=sys.version_info, cached=functools.cached_property(function), static=staticmethod(function), of_class=classmethod(function),
    later=concurrent.futures.Future(), code=function.__name__, meta=abc.ABCMeta, kinds=types.FunctionType, method=types.MethodType,
)
pending.close()
"""

_DATA = (str, int, float, complex, bytes, bool, type(None), range, slice)
_FORBIDDEN = (
    *(types.ModuleType, types.FrameType, types.CodeType, types.CellType),
    *(
        Access,
        Channel,
        Classes,
        Clock,
        Hub,
        Modules,
        OwnClasses,
        Run,
        Scene,
        Slot,
        ToolCalls,
    ),  # ours: how a program is run
)
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


#: Objects of one class are alike: so many of each are looked into. Containers and classes are looked into without limit.
OF_ONE_CLASS = 12
_UNLIMITED = (dict, list, tuple, set, frozenset, type, Table)


class Reached(Exception):
    """Something that must be out of reach is not."""


@pytest.fixture(scope="module")
def execution() -> Run:
    """An execution that has ended, with its names and its samples."""
    host = HostDouble({"ns.op": lambda: {"a": {"b": [1]}}, "ns.fail": lambda: 1 / 0})
    code = SAMPLES
    start = encode_run(encode_program(code, ["ns"]), seed=b"\1" * 32, now=10**15, limits=Limits(), inputs={})
    message = {**json.loads(start[4:]), "inputs": {}}
    program = compile_program(code, names=["ns"], limit_bytes=100_000, limit_depth=160)
    assert program.refusals == ()

    def run() -> Run:
        made = Run(Channel(host, Record))
        made.begin(message, program)
        ended = made.execute()
        assert ended.status == "completed", ended.failure
        return made

    return fresh_context().run(run)


def visible_builtins(run: Run) -> dict[str, Any]:
    """The builtins that a program can spell: not the guards, and not what C code imports with."""
    names = run._variables["__builtins__"]
    seen = {name: value for name, value in names.items() if not name.startswith((".", "__"))}
    return seen | {name: names[guard] for name, guard in READ_AS.items()}


def samples_of(run: Run) -> dict[str, Any]:
    """What the program made, under names that no module has."""
    return {f"samples.{name}": value for name, value in run._variables["samples"].items()}


def roots(run: Run) -> dict[str, Any]:
    tables = {name: run._modules.table(name) for name in sorted(OFFERED)}
    return {**visible_builtins(run), **tables, **samples_of(run)}


def check(value: Any, path: str) -> None:
    if isinstance(value, _FORBIDDEN):
        message = f"{path} is a {type(value).__name__}"
        raise Reached(message)
    if isinstance(value, types.MethodType) and isinstance(value.__self__, _FORBIDDEN):
        message = f"{path} is a method of a {type(value.__self__).__name__}"  # which is handed over with its function
        raise Reached(message)
    if isinstance(value, type) and issubclass(value, type):
        message = f"{path} is a metaclass"
        raise Reached(message)
    if value is asyncio.Future or value is asyncio.Task:
        message = f"{path} makes futures of any loop, which is handed the context of the scheduler"
        raise Reached(message)
    if isinstance(value, _DESCRIPTORS) and decide(value.__name__) is Decision.REFUSED:
        message = f"{path} is a descriptor of {value.__name__}"
        raise Reached(message)


def readable(run: Run, value: Any, *, private: bool = False) -> list[tuple[str, Any]]:
    """What the names that may be written read on an object, as compiled code and the guards read it."""
    found = []
    access = run._scene.access
    for name in dir(value):
        decision = decide(name)
        try:
            if decision is Decision.PLAIN or (private and decision is Decision.PRIVATE):
                found.append((name, getattr(value, name)))
            elif decision in (Decision.GUARDED, Decision.DUNDER, Decision.PRIVATE):
                found.append((name, access.get(value, name)))
        except Exception:  # noqa: BLE001, S112 - what raises is out of reach
            continue
    return found


def walk(
    run: Run, starts: dict[str, Any], *, private: bool = False, note: Callable[[Any], None] = lambda value: None
) -> int:
    return fresh_context().run(_walk, run, starts, private, note)


def _walk(run: Run, starts: dict[str, Any], private: bool, note: Callable[[Any], None]) -> int:
    pending = deque((name, value, 0) for name, value in starts.items())
    seen: set[int] = set()
    counts: Counter[type] = Counter()
    kept: list[Any] = []
    while pending:
        path, value, depth = pending.popleft()
        check(value, path)
        note(value)
        if isinstance(value, _DATA) or id(value) in seen:
            continue
        counts[type(value)] += 1
        if counts[type(value)] > OF_ONE_CLASS and not isinstance(value, _UNLIMITED):
            continue
        seen.add(id(value))
        kept.append(value)
        if depth >= 6:
            continue
        for name, inner in readable(run, value, private=private and depth == 0):
            pending.append((f"{path}.{name}", inner, depth + 1))
        if isinstance(value, dict | types.MappingProxyType):
            pending.extend((f"{path}[{key!r}]", inner, depth + 1) for key, inner in list(value.items())[:200])
        elif isinstance(value, list | tuple | set | frozenset):
            pending.extend((f"{path}[]", inner, depth + 1) for inner in list(value)[:200])
    return len(seen)


def test_no_module_frame_code_metaclass_or_raw_descriptor_is_in_reach(execution: Run) -> None:
    assert walk(execution, roots(execution)) > 1_000


def test_private_names_of_inheritable_classes_reach_none_either(execution: Run) -> None:
    bases = {f"{base.__module__}.{base.__qualname__}": base for base in BASES if isinstance(base, type)}

    assert walk(execution, bases, private=True) > 100


def test_tables_hold_no_container_that_one_program_could_change_for_another(execution: Run) -> None:
    shared = []
    for name in VETTED:
        real = import_module(name)
        for key, value in readable(execution, execution._modules.table(name)):
            if isinstance(value, list | dict | set | bytearray) and value is getattr(real, key, None):
                shared.append(f"{name}.{key}")

    assert shared == []


class Stranger:
    """Notes that it was asked for anything."""

    asked: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> Any:
        Stranger.asked.append(name)
        raise AttributeError(name)


def functions_in_reach(run: Run, *, of_ours: bool) -> list[Any]:
    """Return the functions, of the sandbox or of others, that classes show under plain names."""
    kinds: dict[int, type] = {}

    def note(value: Any) -> None:
        kind = value if isinstance(value, type) else type(value)
        kinds.update((id(each), each) for each in type.__getattribute__(kind, "__mro__"))

    walk(run, roots(run), note=note)
    plain = [found for kind in kinds.values() for name, found in vars(kind).items() if decide(name) is Decision.PLAIN]
    functions = [getattr(found, "fget", getattr(found, "__func__", found)) for found in plain]
    wanted = [
        isinstance(each, types.FunctionType) and str(each.__module__).startswith("sandbox.") is of_ours
        for each in functions
    ]
    return list(compress(functions, wanted))


def test_methods_of_the_library_give_no_class_of_the_classes_that_they_are_called_on(execution: Run) -> None:
    functions = functions_in_reach(execution, of_ours=False)
    assert len(functions) > 300

    for function, others in product(functions, [(), ((),), (None,), (1, 2)]):
        given = []
        with contextlib.suppress(Exception):
            given.append(function(int, *others))
        for each in given:
            check(each, f"{function.__qualname__}(int, *{others})")
            if isinstance(each, types.CoroutineType):
                each.close()


def test_methods_of_ours_take_no_other_objects(execution: Run) -> None:
    functions = functions_in_reach(execution, of_ours=True)
    assert len(functions) > 100

    for function in functions:
        needed = [each for each in signature(function).parameters.values() if each.default is each.empty]
        given = [None for each in needed[1:] if each.kind is each.POSITIONAL_OR_KEYWORD]
        with contextlib.suppress(Exception):
            function(Stranger(), *given)
        assert set(Stranger.asked) <= {"__class__"}, f"{function.__module__}.{function.__qualname__}"


def functions_shown(run: Run) -> list[str]:
    """Tell which functions with names between underscores, neither the program's nor ours, stand in what wraps a class."""
    named = [value for root in roots(run).values() for _, value in readable(run, root)]
    kinds = {id(value): value for value in named if isinstance(value, type)}
    shown = []
    for kind, wrap in product(kinds.values(), run._variables["wrappers"]):
        with contextlib.suppress(Exception):
            made = wrap(kind)
            for name, found in [("", made), *readable(run, made)]:
                is_one = type(found) is types.FunctionType and is_dunder(found.__name__)
                if (
                    is_one
                    and not run._scene.own.is_function(found)
                    and not str(found.__module__).startswith("sandbox.")
                ):
                    shown.append(f"{kind.__qualname__}: {name} is {found.__qualname__}")
    return shown


def test_what_wraps_a_class_shows_none_of_its_functions_before_they_are_bound(execution: Run) -> None:
    assert fresh_context().run(functions_shown, execution) == []


def test_the_walk_finds_what_it_looks_for(execution: Run) -> None:
    for planted in (types, (lambda: 0).__code__, type(type), asyncio.Future):
        with pytest.raises(Reached):
            walk(execution, {"planted": {"deep": [planted]}})
