"""`doctest`: runs the examples that stand in the docstrings of a program, which were compiled with it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.guest.language.examples import SHOW, docstring_key
from sandbox.guest.language.variables import is_dunder
from sandbox.guest.names.traceback_names import format_exception_only
from sandbox.guest.runtime.bare import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized

    from sandbox.guest.language.examples import Example
    from sandbox.guest.names.scene import Scene

#: The library's flags, with its values.
FLAGS = {
    name: 1 << position
    for position, name in enumerate(
        (
            "DONT_ACCEPT_TRUE_FOR_1",
            "DONT_ACCEPT_BLANKLINE",
            "NORMALIZE_WHITESPACE",
            "ELLIPSIS",
            "SKIP",
            "IGNORE_EXCEPTION_DETAIL",
            "REPORT_UDIFF",
            "REPORT_CDIFF",
            "REPORT_NDIFF",
            "REPORT_ONLY_FIRST_FAILURE",
            "FAIL_FAST",
        )
    )
}
_LINE = "*" * 70
_TRACEBACK = re.compile(r"\ATraceback \((?:most recent call last|innermost last)\):")


class TestResults(NamedTuple):
    """What `testmod` gives."""

    failed: int
    attempted: int


def _doctest(scene: Scene) -> dict[str, Any]:
    def testmod(  # the library's signature
        m: Any = None,
        name: str | None = None,
        globs: Any = None,
        verbose: bool | None = None,  # noqa: FBT001
        report: bool = True,  # noqa: FBT001, FBT002
        optionflags: int = 0,
        extraglobs: Any = None,
        raise_on_error: bool = False,  # noqa: FBT001, FBT002
        exclude_empty: bool = False,  # noqa: FBT001, FBT002
    ) -> TestResults:
        session = _Session(scene, optionflags, verbose=bool(verbose))
        for place, text in _docstrings(scene, name or "__main__"):
            session.run(place, text, {**(globs or {}), **(extraglobs or {})})
        if report:
            session.report()
        return session.results()

    def run_docstring_examples(  # the library's signature
        f: Any,
        globs: Any = None,
        verbose: bool = False,  # noqa: FBT001, FBT002
        name: str = "NoName",
        compileflags: Any = None,
        optionflags: int = 0,
    ) -> None:
        text = f if isinstance(f, str) else scene.access.get(f, "__doc__", None)
        if isinstance(text, str):
            _Session(scene, optionflags, verbose=verbose).run(name, text, globs or {})

    return {**FLAGS, "testmod": testmod, "run_docstring_examples": run_docstring_examples, "TestResults": TestResults}


def _docstrings(scene: Scene, root: str) -> Iterator[tuple[str, str]]:
    """Return places and docstrings of the program itself, its functions, classes and methods, by name."""
    found = {root: scene.program_globals.get("__doc__")}
    for name, value in scene.program_globals.items():
        if getattr(value, "__module__", None) == "__main__":
            found |= _documented(scene, f"{root}.{name}", value)
    return ((place, text if isinstance(text, str) else "") for place, text in sorted(found.items()))


def _documented(scene: Scene, place: str, value: Any) -> dict[str, Any]:
    if scene.own.is_function(value):
        return {place: value.__doc__}
    if not scene.own.is_class(value):
        return {}
    found = {place: value.__doc__}
    for name, item in names_of(value).items():
        inner: Any = item.__func__ if isinstance(item, staticmethod | classmethod) else item
        inner = inner.fget if isinstance(inner, property) else inner
        if scene.own.is_function(inner) or (scene.own.is_class(inner) and inner.__qualname__.endswith(f".{name}")):
            found |= _documented(scene, f"{place}.{name}", inner)
    return found


def _is_plain(name: Any) -> bool:
    """Tell whether a name may be bound for examples.

    Names that no program could write are those of guards, which would answer in their place; and the policy takes
    `super` for the builtin where the program does not bind it.
    """
    return type(name) is str and name.isidentifier() and not is_dunder(name) and name != "super"


class _Session:
    """Runs examples and counts."""

    def __init__(self, scene: Scene, flags: int, *, verbose: bool) -> None:
        self._scene = scene
        self._flags = flags
        self._verbose = verbose
        self._counts: dict[str, tuple[int, int]] = {}

    def run(self, place: str, text: str, more: dict[str, Any]) -> None:
        """Run the examples of one docstring, with the variables of the program as they are now."""
        examples = self._scene.examples.get(docstring_key(text), ())
        if not examples:  # the policy believes that nothing else binds variables
            self._counts[place] = (0, 0)
            return
        variables = self._scene.program_globals
        before = dict(variables)
        variables.update({name: value for name, value in more.items() if _is_plain(name)})
        tried = failed = 0
        try:
            for example in examples:
                flags = self._flags_of(example)
                if not flags & FLAGS["SKIP"]:
                    tried += 1
                    failed += not self._passes(place, example, flags)
        finally:
            for name in variables.keys() - before.keys():  # never cleared: what goes may run code that needs the rest
                variables.pop(name, None)
            variables.update(before)
        self._counts[place] = (failed, tried)

    def results(self) -> TestResults:
        """Return how many examples failed, of how many."""
        return TestResults(*(sum(count[part] for count in self._counts.values()) for part in (0, 1)))

    def _flags_of(self, example: Example) -> int:
        flags = self._flags
        for option in example.options:
            value = FLAGS.get(option[1:], 0)
            flags = flags | value if option.startswith("+") else flags & ~value
        return flags

    def _passes(self, place: str, example: Example, flags: int) -> bool:
        if self._verbose:
            expecting = f"Expecting:\n{_indented(example.want)}" if example.want else "Expecting nothing\n"
            self._print(f"Trying:\n{_indented(example.source)}{expecting}")
        got, error = self._run(example)
        if _is_as_wanted(example.want, got, error, flags):
            if self._verbose:
                self._print("ok\n")
            return True
        self._print(_failure(place, example, got, error))
        return False

    def _run(self, example: Example) -> tuple[str, BaseException | None]:
        if example.code is None:
            return "", SyntaxError(example.problem)
        printed: list[str] = []
        output = self._scene.output
        write, output.write = output.write, printed.append  # type: ignore[method-assign, assignment]
        variables = self._scene.program_globals

        def show(value: Any) -> None:
            if value is not None:
                variables["_"] = value
                printed.append(f"{value!r}\n")

        variables[SHOW] = show
        try:
            exec(example.code, variables)  # noqa: S102  # compiled with the program, by the policy
        except Exception as error:  # noqa: BLE001  # an example may be about its error
            return "".join(printed), error
        finally:
            output.write = write  # type: ignore[method-assign]
        return "".join(printed), None

    def report(self) -> None:
        """Print the summary: of failures, and all of it where the program wants to see more."""
        failed = {place: count for place, count in self._counts.items() if count[0]}
        if self._verbose:
            self._print_passed()
        if failed:
            lines = "".join(f" {bad:3d} of {count:3d} in {place}\n" for place, (bad, count) in failed.items())
            self._print(f"{_LINE}\n{_number(failed, 'item')} had failures:\n{lines}")
        total = self.results()
        if self._verbose:
            failures = f" and {total.failed} failed" if total.failed or sys.version_info < (3, 13) else ""
            self._print(
                f"{_number(total.attempted, 'test')} in {_number(self._counts, 'item')}.\n"
                f"{total.attempted - total.failed} passed{failures}.\n"
            )
        if total.failed:
            self._print(f"***Test Failed*** {_number(total.failed, 'failure')}.\n")
        elif self._verbose:
            self._print("Test passed.\n")

    def _print_passed(self) -> None:
        empty = [place for place, count in self._counts.items() if not count[1]]
        passed = {place: count for place, count in self._counts.items() if count[1] and not count[0]}
        if empty:
            self._print(f"{_number(empty, 'item')} had no tests:\n" + "".join(f"    {place}\n" for place in empty))
        if passed:
            lines = "".join(f" {_number(count, 'test', 3)} in {place}\n" for place, (_, count) in passed.items())
            self._print(f"{_number(passed, 'item')} passed all tests:\n{lines}")

    def _print(self, text: str) -> None:
        self._scene.output.write(text)


def _number(count: int | Sized, what: str, width: int = 0) -> str:
    """Count things as the library of this Python does: the newer ones know a singular."""
    number = count if isinstance(count, int) else len(count)
    return f"{number:{width}d} {what}{'' if number == 1 and sys.version_info >= (3, 13) else 's'}"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


def _failure(place: str, example: Example, got: str, error: BaseException | None) -> str:
    head = f'{_LINE}\nFile "__main__", line {example.line}, in {place}\n'
    head += f"Failed example:\n{_indented(example.source)}"
    if error is not None:
        return f"{head}Exception raised:\n    Traceback (most recent call last):\n    {_last_line(error)}\n"
    expected = f"Expected:\n{_indented(example.want)}" if example.want else "Expected nothing\n"
    shown = f"Got:\n{_indented(got.removesuffix(chr(10)))}" if got else "Got nothing\n"
    return head + expected + shown


def _last_line(error: BaseException) -> str:
    return format_exception_only(error)[-1 if isinstance(error, SyntaxError) else 0].rstrip("\n")


def _is_as_wanted(want: str, got: str, error: BaseException | None, flags: int) -> bool:
    if error is None:
        return _is_same(want, got.removesuffix("\n"), flags)
    if not _TRACEBACK.match(want):
        return False
    last = next((line for line in want.split("\n")[1:] if line[:1].isidentifier()), "")
    wanted = want[want.index(last) :] if last else ""
    if flags & FLAGS["IGNORE_EXCEPTION_DETAIL"]:
        return wanted.partition(":")[0].rpartition(".")[2] == type(error).__name__
    return _is_same(wanted, _last_line(error), flags)


def _is_same(want: str, got: str, flags: int) -> bool:
    if want == got or (not flags & FLAGS["DONT_ACCEPT_TRUE_FOR_1"] and {want, got} in ({"True", "1"}, {"False", "0"})):
        return True
    if not flags & FLAGS["DONT_ACCEPT_BLANKLINE"]:
        want = re.sub(r"(?m)^<BLANKLINE>\s*?$", "", want)
        got = re.sub(r"(?m)^[^\S\n]+$", "", got)
    if flags & FLAGS["NORMALIZE_WHITESPACE"]:
        want, got = " ".join(want.split()), " ".join(got.split())
    if flags & FLAGS["ELLIPSIS"] and "..." in want:
        return _matches(want.split("..."), got)
    return want == got


def _matches(parts: list[str], got: str) -> bool:
    """Tell whether a text is made of these parts, in their order, with anything between them."""
    first, *middle, last = parts
    if not got.startswith(first) or not got.endswith(last) or len(first) + len(last) > len(got):
        return False
    place, end = len(first), len(got) - len(last)
    for part in middle:
        place = got.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {"doctest": _doctest}
