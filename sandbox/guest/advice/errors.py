"""Hints for errors at run time: one function per kind of error, each with the values at hand."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches
from types import FunctionType
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.calls import by_position, not_called, tool_by_text, tool_used
from sandbox.guest.advice.idioms import ATTRIBUTES, OF_ANSWERS, OF_OTHERS
from sandbox.guest.advice.keys import missing_key, near_keys, sliced, wrong_member
from sandbox.guest.advice.message_texts import hint_for_text
from sandbox.guest.advice.missing_names import import_of, imported, module_or_class, undefined
from sandbox.guest.advice.values import UNKNOWN, copy_written, first_none, keys_of, parts, source
from sandbox.guest.library.tables import Table, explain_missing, table_name
from sandbox.guest.tools import PendingCall, Record, ToolError, ToolRejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.advice.situation import Situation

    #: What to do: a text, or what finds one, or nothing.
    _Rule = str | Callable[[Situation], str]


def hint_for(at: Situation) -> str:
    """Return what to do about an error, or an empty text."""
    rules = (rule for kind, rule in _RULES if isinstance(at.error, kind))
    return next(filter(None, (rule if isinstance(rule, str) else rule(at) for rule in rules)), "")


# --- attributes ----------------------------------------------------------------------------------------------------


def _attribute(at: Situation) -> str:
    name = getattr(at.error, "name", None) or _quoted(at.message)
    node = at.node
    owner = node.value if isinstance(node, ast.Attribute) else None
    value = at.value(owner)
    text = source(owner) if owner is not None else "x"
    if value is None or "'NoneType'" in at.message:
        return _is_none(at, text)
    if name is None:
        return ""
    if isinstance(value, dict) and name in value:
        return f'write {text}["{name}"]'
    if meant := module_or_class(at, name):
        return meant
    if isinstance(value, Table):
        return "; ".join(filter(None, (explain_missing(value, name), import_of(name, but=table_name(value)))))
    asked = getattr(at.error, "obj", None) if value is UNKNOWN else value
    if isinstance(asked, ToolError):
        return "a ToolError has message, status, kind, body and retry_after_s"
    if isinstance(asked, str) and hasattr(dict, name) and (hint := _key_of_loop(at, owner, asked)):
        return hint
    idiom = ATTRIBUTES.get(name)
    if idiom is not None:
        return idiom.replace("{x}", text)
    return _other_attribute(at, value, name, text)


def _other_attribute(at: Situation, value: Any, name: str, text: str) -> str:
    if meant := OF_OTHERS.get((type(value), name)):
        return meant.replace("{x}", text)
    if at.message.endswith("that can be set") and isinstance(at.value(at.node), dict):
        return f'write {source(at.node)}["{name}"] = ...'
    if name in OF_ANSWERS and (type(value) is Record or "the answer has no field" in at.message):
        has = f"; it has the keys {keys_of(value)}" if type(value) is Record else ""
        return OF_ANSWERS[name].replace("{name}", name) + has
    if isinstance(value, dict) or "'dict'" in at.message:
        return _no_field(value, name, text)
    if isinstance(value, list) or "'list'" in at.message:
        return _meant_of_list(value, name, text) or _is_list(value, text)
    if _is_unawaited(value):
        return f"{text} was not awaited: write `await` in front of the call"
    value = getattr(at.error, "obj", UNKNOWN) if value is UNKNOWN else value
    if value is UNKNOWN:
        return ""
    kind = value if isinstance(value, type) else type(value)
    copied = copy_written(at.tree) if kind is FunctionType else ""
    if copied.endswith(".__dict__"):
        return f"{copied} of a function is a copy here: write setattr({text}, name, value)"
    near = get_close_matches(name, [each for each in dir(kind) if not each.startswith("_")], n=3)
    return f"did you mean {', '.join(near)}?" if near else ""


def _no_field(value: Any, name: str, text: str) -> str:
    if hasattr(list, name) or hasattr(set, name):
        return f"{text} is a dict: write {text}[key] = value to add to it; a list begins as []"
    if not isinstance(value, dict):
        return f'a dict is read by key: {text}["{name}"]'
    if not value:
        return f"{text} is an empty dict"
    near = get_close_matches(name, [key for key in value if isinstance(key, str)], n=3)
    also = f'; nearest: {text}["{near[0]}"]' if near else ""
    return f"{text} has the keys {keys_of(value)}{also}"


def _meant_of_list(value: Any, name: str, text: str) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict) and name in value[0]:
        return ""
    near = get_close_matches(name, [*filter(str.isalpha, dir(list)), *ATTRIBUTES], n=1, cutoff=0.8)
    return ATTRIBUTES.get(near[0], f"write {{x}}.{near[0]}(...)").replace("{x}", text) if near else ""


def _is_list(value: Any, text: str) -> str:
    if isinstance(value, list):
        inside = f" of {len(value)} items" + (
            f", each with the keys {keys_of(value[0])}" if value and isinstance(value[0], dict) else ""
        )
        return f"{text} is a list{inside}: loop over it, or take one item with {text}[0]"
    return f"{text} is a list: loop over it, or take one item with {text}[0]"


def _is_none(at: Situation, text: str) -> str:
    none = first_none(at.node, at.variables)
    shown = source(none) if none is not None else text
    called = getattr(at.node, "value", None) if none is None else _assigned(at, none)
    why = _GIVE_NONE.get(source(called.func).rpartition(".")[2]) if isinstance(called, ast.Call) else None
    if why is not None:
        return f"{shown} is None: {why}"
    return (
        f"{shown} is None here (a field without a value is null): guard it, as in ({shown} or {{}}) "
        f"or `if {shown} is not None`"
    )


def _assigned(at: Situation, node: ast.AST) -> ast.AST:
    """Return what a name was given last, as the source has it; anything else as it is."""
    given = [
        each
        for each in parts(at.tree)
        if isinstance(each, ast.Assign) and source(each.targets[0]) == source(node) and each.lineno < (at.line or 0)
    ]
    return max(given, key=lambda each: each.lineno).value if given else node


_NO_MATCH = "nothing matches; keep it (m = ...), and test `if m:` first"
#: Functions that are often called for a value that they do not give.
_GIVE_NONE = {
    "print": "print() gives nothing back; keep the value in a variable, and print that",
    **dict.fromkeys(("search", "match", "fullmatch"), _NO_MATCH),
    **dict.fromkeys(("sort", "append", "extend", "reverse", "update"), "it changes what it is called on; use that"),
}


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
    return _not_got(at) or _is_none(at, source(inner) if is_named else "value")


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
    """`pods.items` where the field was meant: the methods of dict win over fields."""
    for node in parts(at.node):
        if isinstance(node, ast.Attribute):
            owner = at.value(node.value)
            if isinstance(owner, dict) and node.attr in owner:
                text = source(node.value)
                return f'{text}.{node.attr} is the method of dict, not the field: write {text}["{node.attr}"]'
    for name, value in at.variables.items():
        if type(value) is Record and "items" in value and isinstance(at.node, ast.AST):
            field, method = f'{name}["items"]', f"{name}.items()"
            return f"x.items is the method of dict: for the field write {field}; for the method write {method}"
    return 'a method was used without calling it: write () after it; a field named like a method of dict is x["name"]'


def _list_as_dict(at: Situation) -> str:
    node = at.node
    if not isinstance(node, ast.Subscript):
        return "a list is read by position; loop over it to reach the items"
    return _is_list(at.value(node.value), source(node.value))


def _number_as_dict(at: Situation) -> str:
    """`client["trainerId"]["name"]`, where the number of a record was taken for the record."""
    if not (isinstance(at.node, ast.Subscript) and isinstance(at.node.slice, ast.Constant)):
        return ""
    is_key = isinstance(at.node.slice.value, str)
    return f"{source(at.node.value)} is a number, not a record: an operation that takes it gives more" if is_key else ""


def _text_as_dict(at: Situation) -> str:
    node = at.node
    text = source(node.value) if isinstance(node, ast.Subscript) else "it"
    root = next((each for each in reversed(parts(node)) if isinstance(each, ast.Name)), None)
    asked = _assigned(at, root) if root is not None else None
    if isinstance(asked, ast.Call) and source(asked.func) in ("search", "describe") and "search" in at.names:
        return f"{source(asked.func)} gives text to read, and no data: write print({source(root)})"
    owner = _key_of_loop(at, node.value, at.value(node.value)) if isinstance(node, ast.Subscript) else None
    if owner is not None:
        return owner
    return (
        f"{text} is text, not a dict; if it holds JSON write json.loads({text}), "
        "if you loop over a dict use .items() or .values()"
    )


def _key_of_loop(at: Situation, node: ast.AST | None, key: Any) -> str | None:
    """`for x in r: x["id"]`, where r is a dict: x is one of its keys."""
    if not isinstance(key, str):
        return None
    for name, value in at.variables.items():
        if type(value) is Record and key in value:
            lists = [field for field, item in value.items() if isinstance(item, list)]
            inside = f'loop over {name}["{lists[0]}"]' if lists else f"loop over {name}.items() or {name}.values()"
            return f"{source(node)} is {key!r}, a key of the dict {name}: {inside}"
    for loop in ast.walk(at.tree) if at.tree is not None else ():
        if not isinstance(loop, ast.For | ast.comprehension) or source(loop.target) != source(node):
            continue
        if isinstance(loop.iter, ast.Call):
            return (
                f"{source(node)} is {key!r}: a loop over a dict gives its keys. Keep the answer "
                f"(r = {source(loop.iter)}), look at list(r), and loop over the list that it holds"
            )
    return None


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
    if "for ^" in at.message:
        return "^ is exclusive or, of whole numbers: a power is x ** y"
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
    (r"'int' object is not subscriptable", _number_as_dict),
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
    if "is not a valid" in at.message:
        return wrong_member(at)
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


def _assertion(at: Situation) -> str:
    """`assert total == 5`: what the names are that it compares."""
    names = {each.id: at.value(each) for each in parts(at.node) if isinstance(each, ast.Name)}
    told = ", ".join(f"{name} is {value!r}" for name, value in names.items() if _is_short(value))
    return told if not at.message and len(told) <= _LONGEST_TOLD else ""


#: How much of the values of an assertion is shown, in characters.
_LONGEST_TOLD = 200


def _is_short(value: object) -> bool:
    if type(value) is int:
        return value.bit_length() <= _LONGEST_TOLD
    return len(value) <= _LONGEST_TOLD if type(value) is str else type(value) in (bool, float, type(None))


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


def _other(at: Situation) -> str:
    if type(at.error).__name__ == "InvalidStateError":
        return "the task has not ended: `await` it, and use what that gives"
    return ""


def _is_unawaited(value: Any) -> bool:
    return value is not UNKNOWN and (isinstance(value, PendingCall) or hasattr(type(value), "__await__"))


def _quoted(message: str) -> str | None:
    found = re.search(r"attribute '(\w+)'", message)
    return found[1] if found else None


_RULES: list[tuple[type[BaseException], _Rule]] = [
    (
        ToolRejected,
        "a person did not allow the call: catch it with try/except ToolRejected as e where there is another way",
    ),
    (ToolError, _tool_error),
    (NameError, undefined),
    (ImportError, imported),
    (AttributeError, _attribute),
    (KeyError, missing_key),
    (IndexError, _index),
    (TypeError, _type),
    (RecursionError, "the function calls itself without end, or too deep: check where it stops, or use a loop"),
    (RuntimeError, _runtime),
    (ZeroDivisionError, "the divisor is 0 (an empty list has length 0): guard it with `if n else 0`"),
    (ValueError, _value),
    (AssertionError, _assertion),
    (SystemExit, "leave exit() and SystemExit out: raise an exception for a failure, or return a value"),
    (ExceptionGroup, _group),
    (StopIteration, "there was no next item: next() takes a default, as in next((x for x in xs if ...), None)"),
    (Exception, _other),
    (Exception, hint_for_text),
]
