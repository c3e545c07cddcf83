"""The report of a failure: type, message, place, the lines around it, the traceback, and a hint.

The worker makes it. `str(error)` may run code of the program, so it is called once, and its errors are part of the
report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from sandbox.guest.advice.errors import hint_for
from sandbox.guest.advice.situation import Situation, column_of, program_traces
from sandbox.guest.advice.syntax import hint_for_syntax
from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.base.values import ValueInvalid

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Roots
    from sandbox.guest.language.compilation import Program
    from sandbox.guest.language.source import SourceRefused
    from sandbox.outcome import Refusal

#: Lines shown around the one that failed.
AROUND = 2
LONGEST_MESSAGE = 4_000
LONGEST_LINE = 200
MOST_FRAMES = 20
#: Groups in groups whose members are named.
DEEPEST_GROUP = 3


# --- before it ran ---------------------------------------------------------------------------------------------------


def refused(program: Program) -> dict[str, Any]:
    """Report the refusals of the policy."""
    first = program.refusals[0]
    message = "; ".join(f"line {refusal.line}: {refusal.message}" for refusal in program.refusals)
    failure = _failure(
        "PolicyViolation",
        message,
        program.text,
        line=first.line,
        column=column_of(program.text, first.line, first.column),
        hint="\n".join(dict.fromkeys(refusal.hint for refusal in program.refusals if refusal.hint)),
    )
    return {**failure, "refusals": [_row(refusal) for refusal in program.refusals]}


def refusal_of_source(error: SourceRefused) -> dict[str, Any]:
    """Report a text that exceeds its budgets."""
    failure = _failure("PolicyViolation", error.message, "", hint=error.hint)
    return {**failure, "refusals": [["source", error.message, 1, 0, error.hint]]}


def syntax_failure(error: SyntaxError, code: str) -> dict[str, Any]:
    """Report a text that is not Python."""
    line = error.lineno or 1
    column = max(0, (error.offset or 1) - 1)
    message = error.msg or "invalid syntax"
    hint = hint_for_syntax(error, code)
    text = f"line {line}: {message}"
    failure = _failure(type(error).__name__, text, code, line=line, column=column, hint=hint)
    return {**failure, "refusals": [["syntax", message, line, column, hint]]}


def _row(refusal: Refusal) -> list[Any]:
    return [refusal.rule, refusal.message, refusal.line, refusal.column, refusal.hint]


# --- while it ran ----------------------------------------------------------------------------------------------------


class Reporter:
    """Reports errors of one program."""

    def __init__(self, program: Program, variables: dict[str, Any], roots: Roots) -> None:
        self._program = program
        self._variables = variables
        self._roots = roots

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return the report of an uncaught error, even if code of the program fails in it."""
        try:
            return self._report(error)
        except BaseException as second:  # noqa: BLE001  # code of the program, and errors nested without end
            message = f"the report of this error could not be made: {_kind(second)}"
            return _failure(_kind(error), message, self._program.text)

    def _report(self, error: BaseException) -> dict[str, Any]:
        kind = _kind(error)
        message = message_of(error)
        at = Situation(error, message, self._program.text, self._variables, self._roots)
        try:
            hint = hint_for(at)
        except Exception:  # noqa: BLE001  # a hint is a courtesy: data of the program may do anything
            hint = ""
        return _failure(
            kind,
            message,
            self._program.text,
            line=at.line,
            column=at.column,
            hint=hint,
            traceback=self._traceback(error, f"{kind}: {message}" if message else kind),
        )

    def _traceback(self, error: BaseException, last: str) -> str:
        lines = self._program.text.split("\n")
        parts = []
        for chained, remark in _chain(error):
            traces = program_traces(chained.__traceback__)
            frames = [(trace.tb_lineno, trace.tb_frame.f_code.co_name) for trace in traces]
            shown = frames if len(frames) <= MOST_FRAMES else [*frames[:5], *frames[5 - MOST_FRAMES :]]
            parts.append("Traceback (most recent call last):")
            for number, name in shown:
                text = lines[number - 1].strip()[:LONGEST_LINE] if 0 < number <= len(lines) else ""
                parts.append(f"  line {number}, in {name}\n    {text}")
            parts.append(last if chained is error else f"{_kind(chained)}: {message_of(chained)}")
            if remark:
                parts.append(f"\n{remark}\n")
        return "\n".join(parts)[:20_000]


def out_of_memory() -> dict[str, Any]:
    """Report that the program asked for more memory than there is."""
    message = "the program needs more memory than it may have"
    return _failure("MemoryError", message, "", hint="keep less at one time")


def out_of_time(text: str, line: int | None, waits: str) -> dict[str, Any]:
    """Report the line that ran when time was up, or the calls that the program waited for."""
    shown = f"it waited for {waits[:LONGEST_LINE]}" if waits else f"line {line} was running" if line else ""
    return _failure("TimeUp", shown, text, line=line)


def _chain(error: BaseException) -> list[tuple[BaseException, str]]:
    """Return the errors that led to this one, first to last, each with the sentence between it and the next."""
    chain: list[tuple[BaseException, str]] = [(error, "")]
    seen = {id(error)}
    while len(chain) < 4:
        current = chain[0][0]
        if current.__cause__ is not None:
            earlier, remark = current.__cause__, "The above was the direct cause of the following:"
        elif current.__context__ is not None and not current.__suppress_context__:
            earlier, remark = current.__context__, "While handling the above, another error came up:"
        else:
            break
        if id(earlier) in seen or not program_traces(earlier.__traceback__):
            break
        seen.add(id(earlier))
        chain.insert(0, (earlier, remark))
    return chain


def message_of(error: BaseException, depth: int = DEEPEST_GROUP) -> str:
    """Return `str(error)`, which may run code of the program."""
    try:
        text = str.__str__(str(error))
    except BaseException as second:  # noqa: BLE001  # whatever that code does
        text = f"(its message could not be made: {type(second).__name__})"
    if isinstance(error, BaseExceptionGroup) and depth:
        inner = "; ".join(f"{_kind(each)}: {message_of(each, depth - 1)}" for each in error.exceptions[:5])
        text = f"{text}: {inner}"
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " …"


def _kind(error: BaseException) -> str:
    if isinstance(error, ValueInvalid):
        return "ResultError"
    return str.__str__(type(error).__name__)  # which may be of a class of the program's


def _failure(
    kind: str,
    message: str,
    text: str,
    *,
    line: int | None = None,
    column: int | None = None,
    hint: str = "",
    traceback: str = "",
) -> dict[str, Any]:
    return {
        "type": clean(kind)[:200],
        "message": clean(message),
        "line": line,
        "column": column,
        "excerpt": clean(_excerpt(text, line, column)),
        "hint": clean(hint),
        "traceback": clean(traceback),
        "refusals": [],
    }


def _excerpt(text: str, line: int | None, column: int | None) -> str:
    lines = text.split("\n")
    if line is None or not 0 < line <= len(lines):
        return ""
    begin = max(0, (column or 0) - LONGEST_LINE // 2) if len(lines[line - 1]) > LONGEST_LINE else 0
    shown = []
    for number in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        marker = ">" if number == line else " "
        shown.append(f"{marker} {number:>4} | {_cut(lines[number - 1], begin if number == line else 0)}".rstrip())
        if number == line and column is not None:
            shown.append(f"{'':9}{_blank(_cut(lines[number - 1], begin)[: column - begin])}^")
    return "\n".join(shown)


def _cut(line: str, begin: int) -> str:
    """Return a part of a line, with `…` for the rest."""
    part = line[begin : begin + LONGEST_LINE]
    return f"{'…' if begin else ''}{part[bool(begin) :]}{'…' if len(line) > begin + LONGEST_LINE else ''}"


def _blank(text: str) -> str:
    """Return white space as wide as a text; wide characters take two columns."""
    return "".join(each if each == "\t" else " " * (1 + (east_asian_width(each) in "WF")) for each in text)


def clean(text: str) -> str:
    """Return a text that can be sent, without addresses."""
    return IDENTITIES.steady(text.encode("utf-8", "replace").decode())
