"""What people write who think of another language (or of a library), and what Python writes. Data only."""

from __future__ import annotations

#: Names that are not defined.
NAMES: dict[str, str] = {
    "true": "Python writes True",
    "false": "Python writes False",
    "null": "Python writes None",
    "nil": "Python writes None",
    "undefined": "Python writes None",
    "NaN": 'write float("nan")',
    "Infinity": 'write float("inf")',
    "console": "write print(...)",
    "JSON": "import json, then json.loads(...) and json.dumps(...)",
    "Math": "import math; round, min, max and abs are builtins",
    "Object": "x.keys(), x.values() and x.items() are methods of dict",
    "Array": "a list is written [...]; isinstance(x, list) tells one",
    "Promise": "import asyncio, then await asyncio.gather(...)",
    "Date": "from datetime import datetime, then datetime.now(timezone.utc)",
    "String": "write str(...)",
    "Number": "write int(...) or float(...)",
    "parseInt": "write int(...)",
    "parseFloat": "write float(...)",
    "require": "write import",
    "fetch": "there is no network: call the bound operations",
    "this": "write self, as the first parameter of a method",
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
    "In": "`In [1]:` is the prompt of a notebook: leave it out, and what it printed",
}

#: What answers of libraries for HTTP have, and those of tools have not.
OF_ANSWERS: dict[str, str] = {
    **dict.fromkeys(
        ("content", "body", "result", "results", "response", "payload", "dict", "to_dict", "model_dump", "headers"),
        "the answer is the data itself: leave .{name} out",
    ),
    **dict.fromkeys(("ok", "raise_for_status"), "a failed call raises ToolError: leave .{name} out"),
}

#: Attributes that are missing; {x} is what they were asked of.
ATTRIBUTES: dict[str, str] = {
    "length": "write len({x})",
    "size": "write len({x})",
    "push": "write {x}.append(...)",
    "map": "write [f(item) for item in {x}]",
    "filter": "write [item for item in {x} if ...]",
    "forEach": "write for item in {x}:",
    "reduce": "use sum(...), or functools.reduce",
    "find": "write next((item for item in {x} if ...), None)",
    "some": "write any(... for item in {x})",
    "every": "write all(... for item in {x})",
    "includes": "write item in {x}",
    "contains": "write item in {x}",
    "has": "write key in {x}",
    "indexOf": "write {x}.index(...)",
    "concat": "write {x} + other",
    "slice": "write {x}[start:end]",
    "toString": "write str({x})",
    "toLowerCase": "write {x}.lower()",
    "toUpperCase": "write {x}.upper()",
    "trim": "write {x}.strip()",
    "startsWith": "write {x}.startswith(...)",
    "endsWith": "write {x}.endswith(...)",
    "replaceAll": "write {x}.replace(old, new)",
    "has_key": "write key in {x}",
    "iteritems": "write {x}.items()",
    "toFixed": 'write f"{{x}:.2f}"',
    "getTime": "write {x}.timestamp()",
    "toISOString": "write {x}.isoformat()",
    "then": "write await in front of the call",
    "json": "the answer is data already: leave .json() out",
    "status_code": "the answer is the data itself; a failed call raises ToolError, which has .status",
    "text": "the answer is data already: leave .text out",
    "data": "the answer is the data itself: leave .data out",
}

#: Methods of another kind of container.
OF_OTHERS: dict[tuple[type, str], str] = {
    (list, "add"): "write {x}.append(...)",
    (list, "update"): "write {x}.extend(...)",
    (set, "append"): "write {x}.add(...)",
    (set, "extend"): "write {x}.update(...)",
    (tuple, "append"): "a tuple never changes: begin with [], or write {x} = (*{x}, item)",
    (str, "append"): "write {x} += ...",
}
