"""Idioms of other languages and libraries, with the Python for each."""

from __future__ import annotations

#: Names that are not defined.
NAMES: dict[str, str] = {
    "true": "Python writes True",
    "false": "Python writes False",
    "null": "Python writes None",
    "undefined": "Python writes None",
    "console": "write print(...)",
    "JSON": "import json, then json.loads(...) and json.dumps(...)",
    "Math": "import math; round, min, max and abs are builtins",
    "Object": "x.keys(), x.values() and x.items() are methods of dict",
    "Array": "a list is written [...]; isinstance(x, list) tells one",
    "Promise": "import asyncio, then await asyncio.gather(...)",
    "Date": "from datetime import datetime, then datetime.now(timezone.utc)",
    "parseInt": "write int(...)",
    "parseFloat": "write float(...)",
    "require": "write import",
    "fetch": "there is no network: call the bound operations",
    "inputs": "each input is a variable under its own name: leave inputs out",
    "call_tool": "call the operation itself: namespace.group.operation(name=value)",
    "callTool": "call the operation itself: namespace.group.operation(name=value)",
    "execute": "the program runs already: write its statements",
    "pd": "there is no pandas: use lists of dicts, collections and statistics",
    "np": "there is no numpy: use math and statistics",
    **dict.fromkeys(
        ("default_api", "functions", "api"),
        "the tools are bound by their own names: leave {x} out, and the dot after it",
    ),
    **dict.fromkeys(
        ("final_answer", "display", "answer", "submit"),
        "the value of the last expression is the result: write the value alone",
    ),
}

#: Attributes that responses of HTTP libraries have.
OF_ANSWERS: dict[str, str] = {
    **dict.fromkeys(
        ("content", "body", "result", "response", "payload", "dict", "to_dict", "model_dump", "headers"),
        "the answer is the data itself: leave .{name} out",
    ),
    **dict.fromkeys(("ok", "raise_for_status"), "a failed call raises ToolError: leave .{name} out"),
}

#: Missing attributes; {x} is the object.
ATTRIBUTES: dict[str, str] = {
    "length": "write len({x})",
    "size": "write len({x})",
    "push": "write {x}.append(...)",
    "map": "write [f(item) for item in {x}]",
    "filter": "write [item for item in {x} if ...]",
    "forEach": "write for item in {x}:",
    "find": "write next((item for item in {x} if ...), None)",
    "includes": "write item in {x}",
    "contains": "write item in {x}",
    "indexOf": "write {x}.index(...)",
    "toString": "write str({x})",
    "toLowerCase": "write {x}.lower()",
    "toUpperCase": "write {x}.upper()",
    "trim": "write {x}.strip()",
    "startsWith": "write {x}.startswith(...)",
    "endsWith": "write {x}.endswith(...)",
    "then": "write await in front of the call",
    "json": "the answer is data already: leave .json() out",
    "status_code": "the answer is the data itself; a failed call raises ToolError, which has .status",
    "text": "the answer is data already: leave .text out",
}

#: Methods of another kind of container.
OF_OTHERS: dict[tuple[type, str], str] = {
    (list, "add"): "write {x}.append(...)",
    (list, "first"): "write {x}[0]",
    (list, "last"): "write {x}[-1]",
    (list, "join"): 'write ", ".join(map(str, {x}))',
    **{(list, name): f"write {name}({{x}})" for name in ("all", "any", "max", "min", "sorted", "sum")},
    **{(kind, "len"): "write len({x})" for kind in (list, str, dict, tuple, set)},
    **{(str, name): "write {x}[start:end]" for name in ("substring", "substr")},
    (str, "match"): "import re, then re.search(pattern, {x})",
    (str, "decode"): "{x} is text already: leave .decode() out",
    (set, "append"): "write {x}.add(...)",
    (tuple, "append"): "a tuple never changes: begin with [], or write {x} = (*{x}, item)",
}
