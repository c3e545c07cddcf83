"""Hints for errors at run time: one rule for each kind of error, and for each kind of TypeError."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.attributes import assigned, is_list, is_none, json_hint, key_of_loop, missing_attribute
from sandbox.guest.advice.calls import by_position, not_called, tool_by_text, tool_used
from sandbox.guest.advice.keys import missing_key, near_keys, sliced
from sandbox.guest.advice.message_texts import hint_for_text
from sandbox.guest.advice.missing_names import imported, undefined
from sandbox.guest.advice.values import UNKNOWN, keys_of, parts, source
from sandbox.guest.tools import ToolError, ToolRejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.advice.situation import Situation

    #: A hint, or a function that returns one or an empty text.
    _Rule = str | Callable[[Situation], str]


def hint_for(at: Situation) -> str:
    """Return what to do about an error, or an empty text."""
    rules = (rule for kind, rule in _RULES if isinstance(at.error, kind))
    return next(filter(None, (rule if isinstance(rule, str) else rule(at) for rule in rules)), "")


# --- items ---------------------------------------------------------------------------------------------------------


def _index(at: Situation) -> str:
    node = at.node
    value = at.value(node.value) if isinstance(node, ast.Subscript) else UNKNOWN
    if isinstance(node, ast.Subscript) and isinstance(value, list | tuple | str):
        text = source(node.value)
        if not value:
            return f"{text} is empty: nothing was found; check `if {text}:` first"
        return f"{text} has {len(value)} items: indexes go from 0 to {len(value) - 1}"
    return hint_for_text(at) or ("it is shorter than that; check its length first" if "range" in at.message else "")


# --- types ---------------------------------------------------------------------------------------------------------


def _type(at: Situation) -> str:
    rules = (rule for pattern, rule in _TYPE_RULES if re.search(pattern, at.message))
    found = (rule if isinstance(rule, str) else rule(at) for rule in rules)
    return next(filter(None, found), "") or hint_for_text(at)


def _none_used(at: Situation) -> str:
    node = at.node.iter if isinstance(at.node, ast.For) else at.node  # all that Python 3.11 tells of a loop
    inner = node.value if isinstance(node, ast.Subscript | ast.Attribute) else node
    is_named = isinstance(node, ast.Subscript | ast.Attribute) or at.value(node) is None
    return _not_got(at) or is_none(at, source(inner) if is_named else "value")


def _not_got(at: Situation) -> str:
    """`r.get("data")`, where r has other keys."""
    for node in parts(at.node):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"):
            continue
        owner, key = at.value(node.func.value), node.args[0] if node.args else None
        if isinstance(owner, dict) and isinstance(key, ast.Constant) and key.value not in owner:
            text = source(node.func.value)
            near = near_keys(key.value, owner)
            also = f"; nearest: {text}[{near[0]!r}]" if near else ""
            return f"{text} has no {key.value!r}: it has the keys {keys_of(owner)}{also}"
    return ""


def _method_used(at: Situation) -> str:
    """`for x in pods.items`, where pods is a dict of the program, or has no such field."""
    for node in parts(at.node):
        if isinstance(node, ast.Attribute):
            owner = at.value(node.value)
            if hint := json_hint(owner, source(node.value)):
                return hint
            if isinstance(owner, dict) and hasattr(dict, node.attr):
                text = f"{source(node.value)}.{node.attr}"
                if node.attr not in owner:
                    return f"{text} is a method of dict: write {text}()"
                return f'{text} is the method of dict, not the field: write {source(node.value)}["{node.attr}"]'
    return "a method was used without calling it: write () after it"


def _list_as_dict(at: Situation) -> str:
    node = at.node
    if not isinstance(node, ast.Subscript):
        return "a list is read by position; loop over it to reach the items"
    return is_list(at.value(node.value), source(node.value))


def _text_as_dict(at: Situation) -> str:
    node = at.node
    text = source(node.value) if isinstance(node, ast.Subscript) else "it"
    root = next((each for each in reversed(parts(node)) if isinstance(each, ast.Name)), None)
    asked = assigned(at, root) if root is not None else None
    if isinstance(asked, ast.Call) and source(asked.func) in ("search", "describe") and "search" in at.names:
        return f"{source(asked.func)} gives text to read, and no data: write print({source(root)})"
    if isinstance(node, ast.Subscript) and (owner := key_of_loop(at, node.value, at.value(node.value))):
        return owner
    value = at.value(node.value) if isinstance(node, ast.Subscript) else UNKNOWN
    return json_hint(value, text) or (
        f"{text} is text, not a dict; if it holds JSON write json.loads({text}), "
        "if you loop over a dict use .items() or .values()"
    )


def _unhashable(at: Situation) -> str:
    if isinstance(at.node, ast.Subscript) and "'slice'" in at.message:
        return sliced(at, at.node)
    return "dicts and lists cannot be keys or members of a set: use one of their fields, such as x['id'], or tuple(x)"


def _unawaited(at: Situation) -> str:
    """`await f()["x"]`, where the brackets are taken before the `await`; `t["x"]`, where t is a task."""
    if isinstance(at.node, ast.Subscript):
        owner = source(at.node.value)
        for loop in parts(at.tree):
            if isinstance(loop, ast.For | ast.comprehension) and source(loop.target) == owner:
                return f"{source(loop.iter)} was not awaited: write for {owner} in await {source(loop.iter)}"
        return f"it was not awaited: write (await {owner})[{source(at.node.slice)}]"
    return (
        "it was not awaited: write `await` in front of it, as in `results = await asyncio.gather(...)`; "
        "inside a function that needs `async def`"
    )


def _operands(at: Situation) -> str:
    if "'NoneType'" in at.message:
        return "one side is None (a field without a value is null): use (value or 0), or skip such items"
    if "str" in at.message and ("int" in at.message or "float" in at.message):
        return "one side is text: convert with int(...), float(...) or str(...)"
    if "Decimal'" in at.message and "'float'" in at.message:
        return "make both sides one kind: Decimal(str(x)), or float(x)"
    if "not supported between instances of 'dict'" in at.message or "of 'Record'" in at.message:
        return "dicts have no order: give a key, as in sorted(rows, key=lambda row: row['id'])"
    return ""


_TYPE_RULES: list[tuple[str, _Rule]] = [
    (r"the JSON object must be str", "it is data already (answers of tools are dicts and lists): leave json.loads out"),
    (r"unsupported format string passed to NoneType", _none_used),
    (r"^(call|call_tool|invoke|run|execute)\(\) takes keyword arguments only", tool_by_text),
    (r"takes keyword arguments only", by_position),
    (
        r"catching classes that do not inherit from BaseException",
        "a failed call raises ToolError: write `except ToolError as e`, and look at e.status",
    ),
    (
        r"Future'|coroutine'|'Task'|PendingCall'|async_generator'|object can't be used in 'await'|coroutine found",
        _unawaited,
    ),
    (r"'Tool'", tool_used),
    (
        r"offset-naive and offset-aware",
        (
            "one date has a timezone and the other has none (datetime.now() is naive): "
            "use datetime.now(timezone.utc), and .replace(tzinfo=timezone.utc) for text without an offset"
        ),
    ),
    (r"builtin_function_or_method'|'method'|'function' object", _method_used),
    (r"unsupported operand|not supported between|can only concatenate", _operands),
    (r"'NoneType' object|argument of type 'NoneType'|cannot unpack non-iterable NoneType", _none_used),
    (r"list indices must be|tuple indices must be", _list_as_dict),
    (r"string indices must be", _text_as_dict),
    (r"is not JSON serializable", "json.dumps(value, default=str) writes dates and the like as text"),
    (r"unhashable type", _unhashable),
    (r"object is not callable", not_called),
]


# --- others --------------------------------------------------------------------------------------------------------


def _runtime(at: Situation) -> str:
    if "asyncio.run()" in at.message:
        return "the program runs in a loop already: write `await main()` instead of asyncio.run(main())"
    if "changed size during iteration" in at.message or "changed during iteration" in at.message:
        return "loop over a copy: for key in list(x):"
    return ""


def _value(at: Situation) -> str:
    if "property name enclosed in double quotes" in at.message:
        return "the text is not JSON, which has double quotes: ast.literal_eval(text) reads text of Python"
    if type(at.error).__name__ == "JSONDecodeError":
        return "the text is not JSON: answers of tools are data already, without json.loads"
    if "isoformat string" in at.message:
        return (
            "datetime.fromisoformat takes 2026-01-31T12:00:00+00:00; for other forms use datetime.strptime(text, form)"
        )
    if "does not match format" in at.message:
        is_iso = re.search(r"time data '\d{4}-\d\d-\d\d", at.message) is not None
        return "the text has ISO form: use datetime.fromisoformat(text)" if is_iso else "write the form of that text"
    if "not enough values to unpack" in at.message or "too many values to unpack" in at.message:
        return "count the names on the left; a loop over a dict gives keys, over .items() pairs"
    if "empty" in at.message and ("max()" in at.message or "min()" in at.message):
        return _not_got(at) or "give a default: max(values, default=0)"
    return hint_for_text(at)


def _tool_error(at: Situation) -> str:
    error: Any = at.error
    if error.retry_after_s is not None:
        return f"the service asks to wait {error.retry_after_s} s before the call is made again"
    if error.kind in _NOT_SENT:
        return "nothing was sent: change the call as the message says"
    return "catch it with try/except ToolError as e where the program can go on (e.status, e.body)"


#: Kinds of errors that are the program's, and were found before the call left.
_NOT_SENT = frozenset({"arguments_invalid", "tool_not_found", "unknown_tool"})


def _group(at: Situation) -> str:
    group: Any = at.error
    if group.subgroup(ToolError) is None:
        return ""
    return (
        "one of the tasks failed and the others were cancelled: catch ToolError inside of each task, or use "
        "await asyncio.gather(*calls, return_exceptions=True); `except ExceptionGroup as g` has them in g.exceptions"
    )


_RULES: list[tuple[type[BaseException], _Rule]] = [
    (
        ToolRejected,
        "a person did not allow the call: catch it with try/except ToolRejected as e where there is another way",
    ),
    (ToolError, _tool_error),
    (NameError, undefined),
    (ImportError, imported),
    (AttributeError, missing_attribute),
    (KeyError, missing_key),
    (IndexError, _index),
    (TypeError, _type),
    (RecursionError, "the function calls itself without end, or too deep: check where it stops, or use a loop"),
    (RuntimeError, _runtime),
    (ZeroDivisionError, "the divisor is 0 (an empty list has length 0): guard it with `if n else 0`"),
    (ValueError, _value),
    (SystemExit, "leave exit() and SystemExit out: raise an exception for a failure, or return a value"),
    (ExceptionGroup, _group),
    (StopIteration, "there was no next item: next() takes a default, as in next((x for x in xs if ...), None)"),
    (Exception, hint_for_text),
]
