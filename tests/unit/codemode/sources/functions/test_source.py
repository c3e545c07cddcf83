"""Python functions, modules and classes become tools that programs call."""

from __future__ import annotations

import asyncio
import functools
import socket  # noqa: TC003 -- an annotation is read
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from codemode import CodeMode, ConfigurationError, SourceError, tool
from codemode.catalog import stubs
from codemode.catalog.tool import Effect
from codemode.errors import WrongArgument
from codemode.settings import Settings
from codemode.sources.functions.source import import_target, load_functions

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.catalog.tool import Tool


class Colour(Enum):
    """As data: its values."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    """A position of an order."""

    sku: str
    count: int = 1


@dataclass
class Reading:
    """A measured value."""

    value: float


class Order(BaseModel):
    """An order."""

    number: int
    items: list[Item]
    on: date
    note: str = ""


@tool(effect="read", tags=("orders",), examples=("shop.find_order(number=7)",))
def find_order(number: int, /, *, detailed: bool = False) -> Order:
    """Find an order by its number. Those of last year, too.

    Args:
        number: The order's number.
        detailed: With all positions.
    """
    return Order(number=number, items=[Item("a")] if detailed else [], on=date(2026, 1, 2))


async def place(
    items: list[Item],
    on: date,
    colour: Colour = Colour.RED,
    speed: Annotated[Literal["fast", "slow"], Field(description="How it is shipped.")] = "fast",
    *_: int,
    **__: int,
) -> Order:
    """Place an order."""
    await asyncio.sleep(0)
    kinds = ({type(item) for item in items}, type(on), type(colour))
    assert kinds == ({Item}, date, Colour)
    return Order(number=2, items=items, on=on, note=f"{colour.value} {speed}")


def out_of_stock() -> None:
    """Raise."""
    message = "none left"
    raise LookupError(message)


def of_a_type_that_is_no_data(connection: socket.socket) -> None:
    """Cannot be called from a program."""


class BasketService:
    """Baskets."""

    def __init__(self) -> None:
        self._items: list[str] = []

    def add(self, sku: str, count: int = 1) -> int:
        """Add to the basket.

        :param sku: What.
        """
        self._items += [sku] * count
        return len(self._items)

    @staticmethod
    def ping() -> str:
        """Answer."""
        return "pong"

    def _own(self) -> None: ...


def tools_of(target: object) -> dict[str, Tool]:
    return {found.id: found for found in load_functions(target, name="shop").tools}


async def run(code: str, tmp_path: Path, **functions: object) -> Any:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with CodeMode.from_settings(settings, functions=functions) as service:
        outcome = await service.execute(code)
        assert outcome.status == "completed", outcome.failure
        return outcome.value


def test_a_signature_becomes_a_signature() -> None:
    found = tools_of([find_order, place])
    signature, _, about = stubs.signature(found["shop.find_order"]).partition("  # ")
    assert about == "Find an order by its number"
    assert signature == "shop.find_order(*, number: int, detailed: bool = False) -> Order"
    assert "items: list[Item], on: str" in stubs.signature(found["shop.place"])
    assert 'colour: Literal["red", "blue"]' in stubs.signature(found["shop.place"])
    assert 'speed: Literal["fast", "slow"] = "fast"' in stubs.signature(found["shop.place"])


def test_a_docstring_describes_the_tool_and_its_parameters() -> None:
    found = tools_of([find_order, place, BasketService])
    order = found["shop.find_order"]
    assert order.summary == "Find an order by its number"
    assert {p.name: p.description for p in order.parameters} == {
        "number": "The order's number.",
        "detailed": "With all positions.",
    }
    speed = found["shop.place"].parameter("speed")
    sku = found["shop.basket_service.add"].parameter("sku")
    assert speed is not None and speed.description == "How it is shipped."
    assert sku is not None and sku.description == "What."


def test_words_of_a_function_say_that_it_destroys_where_its_author_says_no_effect() -> None:
    def purge_orders() -> None: ...

    def tidy() -> None:
        """Deletes every order of last year."""

    @tool(effect="write")
    def drop_table() -> None: ...

    @tool(tags=("orders",))
    def wipe() -> None: ...

    made = load_functions([purge_orders, tidy, drop_table, wipe], name="shop").tools

    assert {one.path: (str(one.effect), one.effect_word) for one in made} == {
        "purge_orders": ("destructive", "purge"),
        "tidy": ("destructive", "deletes"),
        "drop_table": ("write", ""),
        "wipe": ("destructive", "wipe"),
    }


def test_the_author_says_effect_tags_and_examples_and_what_is_not_said_may_write() -> None:
    found = tools_of([find_order, place])
    order = found["shop.find_order"]
    assert (order.effect, order.tags, order.examples) == (Effect.READ, ("orders",), ("shop.find_order(number=7)",))
    assert found["shop.place"].effect is Effect.WRITE
    with pytest.raises(WrongArgument, match="harmless"):
        tool(effect="harmless")


def test_what_cannot_be_called_with_data_is_left_out_with_a_warning() -> None:
    surface = load_functions([find_order, of_a_type_that_is_no_data, max, lambda: 1], name="shop")
    assert [found.id for found in surface.tools] == ["shop.find_order"]
    warning, of_a_builtin, of_a_lambda = surface.warnings
    assert (of_a_builtin.pointer, "no signature" in of_a_builtin.reason) == ("/max", True)
    assert "is not a valid Python name" in of_a_lambda.reason
    assert warning.pointer == "/of_a_type_that_is_no_data"
    assert "cannot be called with JSON data" in warning.reason
    with pytest.raises(SourceError, match="no callable functions"):
        load_functions([of_a_type_that_is_no_data], name="shop")


@pytest.mark.parametrize(
    ("target", "ids"),
    [
        (find_order, {"shop.find_order"}),
        (BasketService, {"shop.add", "shop.ping"}),
        (BasketService(), {"shop.add", "shop.ping"}),
        ([BasketService], {"shop.basket_service.add", "shop.basket_service.ping"}),
        ({"orders": {"find": find_order}}, {"shop.orders.find"}),
        (functools.partial(find_order, detailed=True), {"shop.find_order"}),
    ],
)
def test_functions_come_alone_in_classes_objects_lists_and_dicts(target: object, ids: set[str]) -> None:
    assert set(tools_of(target)) == ids


def test_a_file_gives_its_own_public_functions_and_classes(tmp_path: Path) -> None:
    file = tmp_path / "my_tools.py"
    file.write_text(
        "from os.path import join\n"
        "def double(n: int) -> int:\n    'Twice as much.'\n    return 2 * n\n"
        "def _own(): ...\n"
        "class Clock:\n    def now(self) -> str: return 'noon'\n"
        "class Broken(Exception): ...\n",
        encoding="utf-8",
    )
    assert set(tools_of(import_target(str(file)))) == {"shop.double", "shop.clock.now"}


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("python:no_such_package.tools", "No module named"),
        ("python:json:no_such_name", "no_such_name"),
        ("no_such_file.py", "no such file"),
    ],
)
def test_code_that_cannot_be_imported_is_named_with_the_reason(location: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        import_target(location)
    assert str(caught.value).startswith(location)


def test_code_that_leaves_while_it_is_imported_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("raise SystemExit(3)", encoding="utf-8")
    with pytest.raises(SourceError, match="cannot be imported: SystemExit: 3"):
        import_target(str(tmp_path / "script.py"))


async def test_programs_call_functions_with_data_and_get_data(tmp_path: Path) -> None:
    code = """
order = shop.find_order(number=3, detailed=True)
placed = await shop.place(items=[{"sku": "x", "count": 3}], on="2026-02-03", colour="blue")
counts = [shop.basket_service.add(sku="q"), shop.basket_service.add(sku="z", count=2)]
[order["items"], placed["on"], placed["note"], *counts]
"""
    assert await run(code, tmp_path, shop=[find_order, place, BasketService]) == [
        [{"sku": "a", "count": 1}], "2026-02-03", "blue fast", 1, 3,
    ]  # fmt: skip


async def test_what_a_function_raises_reaches_the_program(tmp_path: Path) -> None:
    code = """
said = []
for attempt in (lambda: shop.out_of_stock(), lambda: shop.place(items=[], on="2026-02-33")):
    try:
        attempt()
    except Exception as error:
        said.append(str(error))
said
"""
    raised, invalid = await run(code, tmp_path, shop=[out_of_stock, place])
    assert raised == "shop.out_of_stock raised LookupError: none left"
    assert "shop.place: on: " in invalid


#: Each way in which a function may end, with the text that its call carries.
ENDINGS: list[tuple[BaseException, str]] = [
    (SystemExit("convert: cannot open x"), "SystemExit: convert: cannot open x"),
    (SystemExit(2), "SystemExit: 2"),
    (KeyboardInterrupt(), "KeyboardInterrupt()"),
    (asyncio.CancelledError("the group was closed"), "CancelledError: the group was closed"),
    (GeneratorExit(), "GeneratorExit()"),
    (BaseException("anything"), "BaseException: anything"),
    (TimeoutError("door is held open"), "TimeoutError: door is held open"),
    (StopIteration("no more"), "StopIteration: no more"),
]


def _forms(error: BaseException) -> dict[str, object]:
    """Return functions of each form that end with an error."""

    def plain() -> str:
        """End."""
        raise error

    async def later() -> str:
        """End."""
        await asyncio.sleep(0)
        raise error

    def generator() -> Any:
        """End."""
        yield 1
        raise error

    async def generator_later() -> Any:
        """End."""
        yield 1
        raise error

    async def in_a_thread() -> None:
        """End."""
        await asyncio.to_thread(plain)

    async def in_tasks() -> None:
        """End."""
        await asyncio.gather(later(), later())

    # coroutines and futures cannot hold a StopIteration
    forms: list[Any] = (
        [plain] if isinstance(error, StopIteration) else [plain, later, generator, generator_later, in_tasks]
    )
    if not isinstance(error, (StopIteration, GeneratorExit)):
        forms.append(in_a_thread)
    return {form.__name__: tool(effect="write")(form) for form in forms}


@pytest.mark.parametrize(("error", "text"), ENDINGS, ids=[text for _, text in ENDINGS])
async def test_whatever_a_function_raises_is_the_failure_of_its_call(
    error: BaseException, text: str, tmp_path: Path
) -> None:
    forms = _forms(error)
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with CodeMode.from_settings(settings, functions={"desk": list(forms.values())}) as service:
        for name in forms:
            code = f"try:\n    desk.{name}()\nexcept ToolError as error:\n    said = str(error)\nsaid"
            outcome = await service.execute(code)
            assert outcome.status == "completed", (name, outcome.failure)
            assert text in str(outcome.value), name
            assert [call.state for call in outcome.calls] == ["failed"], name
        assert (await service.execute("1 + 1")).value == 2


async def test_a_cancelled_execution_cancels_its_function(tmp_path: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with CodeMode.from_settings(settings, functions={"desk": wait}) as service:
        execution = asyncio.create_task(service.execute("desk.wait()"))
        await began.wait()
        execution.cancel()
        with pytest.raises(asyncio.CancelledError):
            await execution
        await ended.wait()


async def test_generators_give_the_list_of_their_values(tmp_path: Path) -> None:
    def numbers(count: int) -> Any:
        """Count."""
        yield from range(count)

    async def letters(text: str) -> Any:
        """Spell."""
        for letter in text:
            yield letter

    assert await run("[desk.numbers(count=3), desk.letters(text='ab')]", tmp_path, desk=[numbers, letters]) == [
        [0, 1, 2],
        ["a", "b"],
    ]


async def test_numbers_that_json_lacks_are_their_names(tmp_path: Path) -> None:
    def declared() -> float:
        """Measure."""
        return float("nan")

    def listed() -> dict[str, list[float]]:
        """Measure."""
        return {"a": [float("inf"), 1.5, -float("inf")]}

    def undeclared() -> Any:
        """Measure."""
        return {"a": (float("nan"), 1), "b": Reading(float("inf"))}

    tools = [declared, listed, undeclared]
    assert await run("[desk.declared(), desk.listed(), desk.undeclared()]", tmp_path, desk=tools) == [
        "NaN",
        {"a": ["Infinity", 1.5, "-Infinity"]},
        {"a": ["NaN", 1], "b": {"value": "Infinity"}},
    ]


async def test_functions_stand_in_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text("def double(n: int) -> int: return 2 * n\n", encoding="utf-8")
    config = tmp_path / "codemode.yaml"
    config.write_text(
        "sources:\n  mine: {location: my_tools.py, effect: {double: read}}\nstate_folder: state\ncache_folder: cache\n",
        encoding="utf-8",
    )
    async with CodeMode.from_config(config) as service:
        assert service.catalog.get("mine.double").effect is Effect.READ
        assert (await service.execute("mine.double(n=21)")).value == 42


@pytest.mark.parametrize("name", ["", "Shop", "my.shop", "9lives"])
async def test_a_namespace_that_programs_cannot_write_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="namespace"):
        async with CodeMode.from_settings(Settings(), functions={name: find_order}):
            pass


async def test_no_sources_at_all_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no sources"):
        async with CodeMode.from_settings(Settings()):
            pass


# --- two functions of one name -------------------------------------------------------------------------------------


def _named(name: str, answer: str) -> Any:
    def function() -> str:
        return answer

    function.__name__ = name
    return function


class HTTPClient:
    def send(self) -> str:
        return "first"


class HttpClient:
    def send(self) -> str:
        return "second"


@pytest.mark.parametrize(
    "target",
    [
        [_named("pay", "first"), _named("pay", "second")],
        [HTTPClient, type("HttpClient", (), {"send": lambda self: "second"}), HttpClient],
        {"\N{LATIN SMALL LIGATURE FI}nd": _named("a", "first"), "find": _named("b", "second")},
    ],
    ids=["list", "classes", "normal form"],
)
def test_two_functions_of_one_name_are_refused_and_neither_stands_for_the_other(target: object) -> None:
    with pytest.raises(SourceError, match=r"two functions have the id shop\..*: .* and .*; pass them in a dict under"):
        tools_of(target)


def test_the_same_function_twice_is_one_tool() -> None:
    basket = BasketService()
    assert set(tools_of([find_order, find_order])) == {"shop.find_order"}
    assert set(tools_of({"a": [basket.add, basket.add]})) == {"shop.a.add"}


def test_a_name_is_the_one_that_python_reads() -> None:
    assert set(tools_of({"\N{LATIN SMALL LIGATURE FI}nd": _named("a", "first")})) == {"shop.find"}


async def test_functions_never_take_the_namespace_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text("def pay() -> str:\n    'Pay.'\n    return 'the bank'\n", encoding="utf-8")
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({"sources": {"bank": {"location": f"python:{tmp_path / 'bank.py'}"}}, **folders})
    service = CodeMode.from_settings(settings, functions={"bank": [_named("pay", "another")]})
    with pytest.raises(ConfigurationError, match="'bank' is the name of functions and of a source"):
        async with service:
            pass
