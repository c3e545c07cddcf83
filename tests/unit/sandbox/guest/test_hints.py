"""A failure says where, and what to do about it."""

from __future__ import annotations

import sys
from unicodedata import east_asian_width

import pytest

from sandbox.errors import CallFailed
from sandbox.limits import Limits
from tests.unit.sandbox.guest.host_double import run_guest

ANSWER = {
    "items": [{"name": "a", "owner": None, "stargazers_count": 3}],
    "total": 1,
    "due": None,
    "text": "hello",
}
TOOLS = {
    "ns.list": lambda **_: ANSWER,
    "ns.rows": lambda: [{"id": 1}],
    "ns.json": lambda: '{"title": "a", "items": []}',
    "search": lambda **_: "ns.list(*, page: int) -> Page",
    "ns.gone": lambda: fails(CallFailed("it is gone", status=410)),
    "ns.wrong": lambda: fails(CallFailed("there is no parameter x", kind="arguments_invalid")),
}
NAMES = ("ns", "search(query, limit)")


def fails(error: Exception) -> None:
    raise error


HINTS = {
    "r = ns.list()\nr['stars']": ["items", "total"],
    "r = ns.list()['items'][0]\nr['stars']": ["stargazers_count"],
    "r = ns.list()\nr[0]": ["r['items'][0]"],
    "r = ns.list()\nr.data": ["r has the keys items, total", "its list is r['items']"],
    "r = ns.list()\nr.results[0]": ["its list is r['items']"],
    "r = dict(ns.list())\n[x for x in r.items]": ['r["items"]'],
    "r = ns.list()\nr.totl": ['r["total"]'],
    "r = ns.list()\nr['due']['start']": ["r['due'] is None", "or {}"],
    "r = ns.list()\n[i['owner']['login'] for i in r['items']]": ["i['owner'] is None"],
    "r = ns.rows()\nr['id']": ["r is a list of 1 items", "id"],
    "r = ns.rows()\nr.get('id')": ["r is a list"],
    "r = ns.list()\nr['text']['x']": ["r['text'] is text"],
    "r = ns.list\nr['x']": ["ns.list(...)"],
    "x = [1, 2]\nx.length": ["len(x)"],
    "x = []\nx.push(1)": ["x.append"],
    "r = ns.json()\nr['title']": [
        "r is JSON text: import json, then json.loads(r) is a dict with the keys title, items"
    ],
    "r = ns.json()\nr.titles": ["r is JSON text: import json", "json.loads(r) is a dict with the keys title, items"],
    "r = ns.json()\nr.items()": [
        "r is JSON text: import json, then json.loads(r) is a dict with the keys title, items"
    ],
    "r = ns.json()\nr.json()": ["r is JSON text"],
    "r = ns.json()\nr.title['x']": ["r is JSON text"],
    "r = ns.json()\n[x['title'] for x in r]": ["x is text, not a dict"],
    "r = '[1, 2]'\nr.rows": ["r is JSON text: import json, then json.loads(r) is a list of 2 items"],
    "r = ns.list()['text']\nr.titel": ["r is text, not a dict; did you mean title"],
    "r = '{no json}'\nr.rows": ["r is text, not a dict"],
    "x = true": ["True"],
    "total = 1\nprint(totl)": ["total"],
    "def f():\n    import json\nf()\njson.dumps(1)": ["import json"],
    "print(rows)": ["nothing here makes rows", "no program sees what one before it left"],
    "rows.sort()": ["nothing here makes rows", "The tools are bound as ns"],
    "print(total)\ntotal = 1": ["line 2 makes total, but has not done so before this"],
    "for x in []:\n    last = x\nprint(last)": ["line 2 makes last, but has not done so before this"],
    "def f():\n    global n\n    n = 1\nprint(n)": ["line 3 makes n, but has not done so before this"],
    "def f():\n    return g()\nf()\ndef g(): pass": ["line 4 makes g, but has not done so before this"],
    "def f():\n    def g(): return n\n    g()\n    n = 1\nf()": ["line 4 makes n, but has not done so before this"],
    "def f(rows):\n    found = rows\nf([])\nprint(found)": ["line 2 makes found, but has not done so before this"],
    "f = lambda row: row\nprint(row)": ["line 1 makes row, but has not done so before this"],
    "[row for row in []]\nprint(row)": ["line 1 makes row, but has not done so before this"],
    "[y for x in [] if (y := x)]\nprint(y)": ["line 1 makes y, but has not done so before this"],
    "class A:\n    rate = 2\n    def f(self): return rate\nA().f()": [
        "line 2 makes rate, but has not done so before this"
    ],
    "try:\n    1 / 0\nexcept Exception as e: pass\nprint(e)": ["line 3 makes e, but has not done so before this"],
    "x = print('a')\nx['k']": ["None"],
    "from datetime import datetime, timezone\ndatetime.now() < datetime.now(timezone.utc)": ["timezone.utc"],
    "import asyncio\nasync def f(): return {}\nx = f()\nx['k']": ["await"],
    "n = 0\ndef f():\n    n += 1\nf()": ["global n"],
    "x = []\nx[0]": ["x is empty"],
    "[1, 2][5]": ["shorter"],
    "1 / 0": ["divisor"],
    "max([])": ["default=0"],
    "import json\njson.dumps({1, 2})": ["default=str"],
    "{[1]: 2}": ["keys"],
    "x = None\nx + 1": ["None"],
    "'a' + 1": ["str("],
    "import json\njson.loads('<html>')": ["not JSON"],
    "from datetime import datetime\ndatetime.fromisoformat('tomorrow')": ["strptime"],
    "await ns.list()['total']": ["write (await ns.list(...))['total']"],
    "async def f(): return {}\nawait f()['k']": ["write (await f())['k']"],
    "import asyncio\nt = asyncio.create_task(ns.list())\nt['k']": ["write (await t)['k']"],
    "r = search('x')\nr[0]['name']": ["search gives text to read", "print(r)"],
    "import asyncio\nrs = asyncio.gather(ns.list())\n[r['k'] for r in rs]": ["write for r in await rs"],
    "import asyncio\nasync def f(): pass\nawait f()\nasyncio.run(f())": ["await main()"],
    "raise SystemExit(3)": ["exit() and SystemExit"],
    "from collections import Mapping": ["`from collections.abc import Mapping` instead"],
    "from math import OrderedDict": ["`from collections import OrderedDict` instead"],
    "ns['orders'].list(limit=1)": ["write ns.orders"],
    "def f(): return f()\nf()": ["calls itself"],
    "ns.list(1)": ["keyword arguments only"],
    "import datetime\nns.list(day=datetime.date(2024, 1, 1))": ["day", ".isoformat()"],
    "ns.list(data=b'ab')": ["data", "given a bytes; use .decode() for text, base64.b64encode(...).decode() for other"],
    "ns.list(data=[bytearray(2)])": ["data[0]", "given a bytearray; use .decode() for text"],
    "ns.list(ids={1})": ["ids", "list("],
    "for x in ns.list():\n    print(x['name'])": ["x is 'items'", "gives its keys", "r = ns.list()"],
    "r = ns.list()\nfor x in r:\n    print(x.get('name'))": ["a key of the dict r", 'r["items"]'],
    "[x.get('name') for x in ns.list()]": ["x is 'items'", "gives its keys"],
    "r = ns.list()\nr[:2]": ["r['items'][:2]"],
    "ns.list()[:2]": ["a dict"],
    "ns.list()['items'][0]['stars']": ["name, owner, stargazers_count", "nearest", "stargazers_count"],
    "def first():\n    return ns.list()\nfirst()['itms']": ["items, total", "first()['items']"],
    "from datetime import datetime\ndatetime.strptime('2025-01-02', '%d.%m.%Y')": ["fromisoformat"],
    "sorted(2 * ns.list()['items'])": ["key=lambda"],
    "from decimal import Decimal\nDecimal(1) * 1.5": ["Decimal(str(x))"],
    "tools['ns.list'](a=1)": ["tools.ns.list"],
    "ns['list'](a=1)": ["ns.list"],
    "nss.list()": ["did you mean ns?"],
    "execute_tool('ns.list')": ["bound as ns:", "ns.group.operation(name=value)"],
    "async def f(): return 'a'\n', '.join([f()])": ["not awaited"],
    "import asyncio\nasync with asyncio.TaskGroup() as g:\n    g.create_task(ns.gone())": ["return_exceptions=True"],
    "ns.wrong()": ["nothing was sent"],
    "r = ns.list()\nfor x in r.get('data'): print(x)": ["r has no 'data'", "items, total"],
    "r = ns.list()\nmax(x['n'] for x in r.get('item', []))": ["r has no 'item'", "r['items']"],
    "r = ns.list()\nsum(r.get('totl'))": ["r has no 'totl'", "r['total']"],
    "f'{ns.list()[\"due\"]:.2f}'": ["value is None here"],
    "r = ns.list()['due']\nfor x in r: pass": ["r is None"],
    "f\"{ns.list()['text']:.2f}\"": ["float(x)"],
    "from datetime import date\n'2025-01-01' < date(2025, 1, 1)": ["date.fromisoformat(text)"],
    "from datetime import date, datetime\ndatetime(2025, 1, 1) < date(2025, 1, 1)": ["x.date()"],
    "import datetime\ndatetime.now()": ["datetime.datetime.now"],
    "from datetime import datetime\ndatetime.timedelta(days=1)": ["from datetime import timedelta"],
    "from time import time\ntime.sleep(1)": ["from time import sleep"],
    "sleep(1)": ["from time import sleep"],
    "mean([1])": ["from statistics import mean"],
    "import math\nmath.max(1, 2)": ["max is there without an import"],
    "from math import abs\nabs(-1)": ["abs is there without an import"],
    "from collections import print": ["print is there without an import"],
    "del print\nprint(1)": ["leave out `del print`"],
    "def f():\n    max = max(1, 2)\nf()": ["give that variable another name"],
    "deepcopy([1])": ["from copy import deepcopy"],
    "import pprint\npprint([1])": ["from name import name"],
    "field(default=1)": ["from dataclasses import field"],
    "execute('1')": ["runs already"],
    "round('3.1')": ["round(float(x), 2)"],
    "float('12 EUR')": ["re.sub"],
    "int('3.0')": ["int(float(text))"],
    "class A:\n    def f(): pass\nA().f()": ["self"],
    "','.join([1])": ["str(x) for x in xs"],
    "len(ns.list()['due'])": ["len(x or [])"],
    "next(x for x in [])": ["next() takes a default"],
    "import re\nre.search('x', 'abc').group()": ["nothing matches", "if m:"],
    "print('a').upper()": ["print() gives nothing back"],
    "x = {}\nx['a']['b'] = 1": ["x is an empty dict", "setdefault"],
    "from datetime import datetime\ndatetime.now().strfime('%Y')": ["strftime"],
    "import statistics\nstatistics.mean([])": ["test its length"],
    "requests.get('https://a.b')": ["no requests here", "call the bound operations"],
    "os.getenv('KEY')": ["no os here", "credentials are added outside"],
    "import os\nos.environ['KEY']": ["credentials are added outside"],
    "import sqlite3": ["lists of dicts", "sorted"],
    "try: ns.gone()\nexcept HTTPError as e: pass": ["except ToolError as e"],
    "raise ShopError('no')": ["class ShopError(Exception): pass"],
    "int('x') if ValueEror else 1": ["did you mean ValueError"],
    "try: ns.gone()\nexcept ToolError as e: e.response.code": ["message, status, kind, body"],
    "import math\nmath.mean([1])": ["from statistics import mean"],
    "from math import mean": ["from statistics import mean"],
    "import json\njson.parse('{}')": ["json.loads"],
    "import json\njson.loads(\"{'a': 1}\")": ["ast.literal_eval"],
    "import re\nm = re.search('x', 'abc')\nm.group(1)": ["m is None: nothing matches", "if m:"],
    "x = [3, 1].sort()\nx[0]": ["x is None: it changes what it is called on"],
    "import re\nre.search('a', 'abc').group(1)": ["groups of the pattern"],
    "import random\nrandom.choice([])": ["it is empty"],
    "[].pop()": ["it is empty"],
    "a, b = None": ["value is None here"],
    "x = []\nx.add(1)": ["x.append(...)"],
    "x = {}\nx.add(1)": ["x[key] = value"],
    "x = set()\nx.append(1)": ["x.add(...)"],
    "x = (1,)\nx.append(1)": ["a tuple never changes"],
    "{1, 2}[0]": ["list(x)[0]"],
    "{'a': 1}.keys()[0]": ["list(x)[0]"],
    "map(str, [1])[0]": ["list(x)[0]"],
    "from datetime import timedelta\ntimedelta(months=1)": ["days=30", "calendar.monthrange"],
    "int(None)": ["int(x or 0)"],
    "class A:\n    def go(self): return 1\nA.go()": ["A().go()"],
    "class A:\n    @property\n    def x(self): return 1\nA().x()": ["leave () out"],
    "import hashlib\nhashlib.sha256('a')": [".encode()"],
    "import base64\nbase64.b64encode('a')": [".encode()"],
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
    "    f = pool.submit(ns.list(page=1))\nf.result()": ["submit(ns.list, ...)"],
    "list(map(ns.list, [1]))": ["lambda value: ns.list(name=value)"],
    "ns.list({'page': 1})": ["ns.list(page=1)"],
    "globals()['metric'] = 5\nmetric": ["globals() gives a copy", "metric = ..."],
    "default_api.ns.list()": ["leave default_api out"],
    "final_answer(1)": ["last expression"],
    "from IPython.display import display": ["last expression"],
    "import anyio": ["asyncio"],
    "ns.list().model_dump()": ["leave .model_dump out"],
    "r = ns.list()\nr.content": ["leave .content out"],
    "r = ns.list()\nr.raise_for_status()": ["a failed call raises ToolError"],
}


def test_a_short_key_is_not_near_every_word_that_holds_its_letters() -> None:
    assert "nearest" not in run_guest("r = ns.rows()[0]\nr['paid']", TOOLS, names=NAMES).message
    assert "nearest: r['id']" in run_guest("r = ns.rows()[0]\nr['client_id']", TOOLS, names=NAMES).message


@pytest.mark.parametrize(("code", "says"), HINTS.items(), ids=HINTS.keys())
def test_a_mistake_is_answered_with_what_to_write(code: str, says: list[str]) -> None:
    ended = run_guest(code, TOOLS, names=NAMES)

    assert ended.status == "failed"
    assert ended.failure is not None
    assert ended.failure["line"] is not None or "exit" in code
    assert all(text in ended.message for text in says), ended.message


SYNTAX = {
    "// a comment\nconst x = 1;": ["line 1", "#", "not Python", "line 2"],
    "const f = x => x + 1": ["lambda"],
    "def f():\n    return await ns.list()": ["async def"],
    "if x === 1:\n    pass": ["=="],
    "print(\u201chello)": ["straight quotes"],
    "x =\u00a0(1": ["invisible", "plain space"],
    "x = [1, 2": ["close"],
    "if x\n    y = 1": ["colon"],
    ">>> x = (1\n>>> x": ["prompt"],
    "ns.list(from='a')": ["`from` is a word of Python", "from_", '**{"from": ...}'],
    "ns.list(\n    class='a',\n)": ["`class` is a word of Python"],
    "x = 1 > 0 ? 'a' : 'b'": ["`b if a else c`"],
    "import inspect\ndef f(): pass\nf.__signature__ = inspect.signature(f)": ["functools.wraps"],
    "def f(a): pass\nf.__annotations__ = {'a': int}": ["where it is defined"],
    "x = 1\nif !x: pass": ["`not x`"],
    "x = y ?? 5": ["is not None"],
    "x = 1 + \\ \n2": ["last character"],
    "if 1 &lt; 2:\n    pass": ["&lt;", "HTML"],
    "%%time\nx = 1": ["notebook"],
    'x = "C:\\new\\Users"': ['r"..."'],
    "def f():\n    return [await ns.list() for x in [1]]": ["async def"],
    "I will list the items, and sum them\nx = 1": ["line 1 is a sentence"],
    "for x in range(3):\n    yield x": ["append them to a list"],
}
if sys.version_info < (3, 14):  # where it catches both (PEP 758)
    SYNTAX["try:\n    x = 1\nexcept ValueError, e:\n    x = 2"] = ["except Kind as name:"]


@pytest.mark.parametrize(("code", "says"), SYNTAX.items(), ids=SYNTAX.keys())
def test_text_that_is_not_python_says_what_python_writes(code: str, says: list[str]) -> None:
    ended = run_guest(code, TOOLS)

    assert ended.status == "refused"
    assert all(text in ended.message for text in says), ended.message


def test_a_line_that_is_python_is_not_taken_for_another_language() -> None:
    ended = run_guest("n = 0\nwhile n < 3: n += 1\nif n: m = 2\nx = [(yield v) for v in ()]", TOOLS)

    assert "inside list comprehension" in ended.message
    assert "not Python" not in ended.message


def test_a_failure_shows_the_way_there_in_lines_of_the_program_only() -> None:
    ended = run_guest("def f(x):\n    return 1 / x\n\n\nf(0)")

    assert ended.failure is not None
    assert ended.failure["traceback"] == (
        "Traceback (most recent call last):\n  line 5, in <module>\n    f(0)\n  line 2, in f\n    return 1 / x\n"
        "ZeroDivisionError: division by zero"
    )
    assert ended.failure["excerpt"].split("\n")[1] == ">    2 |     return 1 / x"


def test_an_error_whose_text_is_code_of_the_program_cannot_break_the_report() -> None:
    ended = run_guest("class E(Exception):\n    def __str__(self):\n        raise SystemExit(3)\nraise E()")

    assert ended.failure is not None
    assert ended.failure["type"] == "E"
    assert "could not be made" in ended.failure["message"]


def test_the_same_call_for_ever_is_named_where_the_limit_of_calls_ends_it() -> None:
    code = "page = 1\nwhile True:\n    if not ns.list(page=page):\n        break"
    ended = run_guest(code, TOOLS, limits=Limits(calls=300))

    assert "the last 301 in a row were ns.list()" in ended.message
    assert '"page":1' in ended.message
    assert len(ended.calls) == 300


def test_a_loop_of_equal_calls_goes_on_and_is_remarked_upon() -> None:
    ended = run_guest("for _ in range(300):\n    ns.list(page=1)\n'done'", TOOLS)

    assert ended.value == "done"
    assert len(ended.calls) == 300
    assert len(ended.notes) == 1
    assert ended.notes[0].startswith('the last 250 in a row were ns.list() with {"page":1}')


def test_a_program_that_lists_a_namespace_is_told_why_it_sees_nothing() -> None:
    ended = run_guest("import inspect\n[dir(ns), dir(ns.list), inspect.getmembers(tools), [*ns.__dir__()]]", TOOLS)

    assert ended.value == [[], [], [], []]
    assert ended.notes == ["dir(ns) is empty: only the host knows what ns has; search for operations by name"]


def test_arguments_by_position_get_the_names_that_the_host_gave() -> None:
    names = ("search(query, limit)", "ns")
    tools = {"search": lambda **given: given}

    assert run_guest("search('a', limit=2)", tools, names=names).value == {"query": "a", "limit": 2}
    assert run_guest("search('a', 2)", tools, names=names).value == {"query": "a", "limit": 2}
    assert (
        "search(query, limit) takes 2 positional arguments, 3 given"
        in run_guest("search('a', 2, 3)", tools, names=names).message
    )
    assert "ns() takes keyword arguments only" in run_guest("ns(1)", tools, names=names).message


def test_operations_may_be_given_arguments_by_position_where_the_host_says_their_names() -> None:
    names = ("shop.price(fruit, count)", "shop", "bank.pay(amount)")
    tools = {"shop.price": lambda **given: given, "bank.pay": lambda **given: given, "shop.buy": lambda **given: given}

    assert run_guest("shop.price('apple', count=2)", tools, names=names).value == {"fruit": "apple", "count": 2}
    assert run_guest("list(map(bank.pay, [1, 2]))", tools, names=names).value == [{"amount": 1}, {"amount": 2}]
    assert "shop.buy() takes keyword arguments only" in run_guest("shop.buy('apple')", tools, names=names).message


def test_a_library_of_the_name_of_a_namespace_is_refused_before_anything_runs() -> None:
    ended = run_guest("import ns\nclient = ns.Client()\nclient.list()", TOOLS)

    assert ended.status == "refused"
    assert "remove the import" in ended.message


@pytest.mark.parametrize("module", ["ns", "ns.errors", "tools", "tools.ns"])
def test_errors_that_are_imported_from_a_namespace_are_those_that_calls_raise(module: str) -> None:
    code = f"from {module} import ToolError as Failed\ntry: ns.gone()\nexcept Failed as e: print(e.status)"
    assert run_guest(code, TOOLS, names=NAMES).output == "410\n"

    ended = run_guest(f"from {module} import NotFoundError\n1", TOOLS, names=NAMES)
    assert "`except ToolError as e`" in ended.message


def test_importing_a_namespace_gives_the_namespace() -> None:
    assert (
        run_guest("import ns\nfrom tools import ns as other\nns.list()['total'] + other.list()['total']", TOOLS).value
        == 2
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import json\njson.loads(ns.list(page=1))", "leave json.loads out"),
        ("r = ns.list(page=1)\nfor x in r:\n    x['id']", "a key of the dict r"),
        ("x = {}\nx.append(1)", "write x[key] = value"),
        ("try:\n    1 / 0\nexcept 5:\n    pass", "except ToolError as e"),
        ("await tools.call('ns.list', {})", "tools are called by their names, as in ns.operation"),
        ("x = ns?.list", "`?.` is JavaScript"),
        ("if x = 5:\n    pass", "compare with =="),
        ("import asyncio\nawait asyncio.gather([ns.list(page=1)])", "write asyncio.gather(*calls)"),
        ("x = [1]\nx.lenght", "write len(x)"),
        ("x = [1]\nx.apend(2)", "write x.append(...)"),
        ("x = [1]\nx.sum()", "write sum(x)"),
        ("x = [{'hash': 1}]\nx.hash", "each with the keys hash"),
        ("x = 'a'\nx.substring(0, 1)", "write x[start:end]"),
        ("x = {}\nx.name", "x is an empty dict"),
        ("import maths", "no module maths here: did you mean math, cmath?"),
        ("import numpyy", "no module numpyy here, and no numpy: there are no third-party modules; use statistics"),
        ("from email.mime.text import MIMEText", "write the message as text: f'To: {to}\\r\\nSubject"),
        ("import email.parser", "no module email.parser here; of email there is email.utils"),
        ("import json.tool", "of json there is json.decoder, json.encoder"),
        ("import math.special", "of math there is nothing below"),
        ("import mimetypes", "no module mimetypes here: write the type, such as 'application/pdf'"),
    ],
)
def test_a_slip_of_a_model_is_answered_with_what_to_write(code: str, says: str) -> None:
    assert says in run_guest(code, TOOLS).message


def test_calls_that_should_have_run_in_parallel_and_did_not_are_remarked_upon() -> None:
    code = (
        "import asyncio\nclass Kept:\n    def __init__(self):\n"
        "        self.calls = [ns.list(page=n) for n in range(3)]\n"
        "len(await asyncio.gather(*Kept().calls))"
    )

    ended = run_guest(code, TOOLS)

    assert ended.value == 3
    assert ended.notes == [
        "3 calls that asyncio.gather was given had run before, one after another: call them inside of gather, in a "
        "list of their own, or in `async def` functions that await them"
    ]


@pytest.mark.parametrize(
    ("code", "call"),
    {"def main():\n    return 1": "main()", "async def go():\n    return await go()": "await go()"}.items(),
)
def test_a_program_that_ends_with_a_function_that_nobody_calls_is_told_so(code: str, call: str) -> None:
    ended = run_guest(code, TOOLS)

    assert ended.status == "completed"
    assert [f"write {call} below it" in note for note in ended.notes] == [True]


def test_a_function_at_the_end_that_is_called_is_nothing_to_tell() -> None:
    code = "def f():\n    return 1\nx = f()\ndef g():\n    return f()\nprint({'g': g})"

    assert run_guest(code).notes == []


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("answer = ns.add(n=1)", {"n": 1}),
        ("answer: dict = ns.add(n=1)", {"n": 1}),
        ("answer = await ns.add(n=1)", {"n": 1}),
        ("answer = []\nanswer += [ns.add(n=1)]", [{"n": 1}]),
        ("answer = []\nfor n in (1, 2): answer.append(ns.add(n=n))", [{"n": 1}, {"n": 2}]),
        ("x = ns.add(n=1)\nanswer = x['n']", 1),
    ],
)
def test_what_a_program_with_calls_assigns_last_is_its_result(code: str, value: object) -> None:
    ended = run_guest(code, {"ns.add": lambda n: {"n": n}})

    assert (ended.status, ended.value, ended.notes) == ("completed", value, [])


@pytest.mark.parametrize(
    "code", ["answer = ns.add(n=1)\nprint(answer)\nrest = 5", "x = ns.add(n=1)\nanswer = len", "ns.add(n=1)\nns = 5"]
)
def test_what_was_printed_or_is_no_data_is_not_a_result(code: str) -> None:
    ended = run_guest(code, {"ns.add": lambda n: {"n": n}})

    assert (ended.status, ended.value) == ("completed", None)


@pytest.mark.parametrize(
    "last",
    [
        "answer = 2 + 2",
        "answer: int = 4",
        "answer += [1]",
        "answer[0] = 1",
        "for n in range(3): answer += [n]",
        "for n in range(3):\n    if n % 2:\n        answer.append(n)",
        "answer = {}\nwhile len(answer) < 2:\n    try: answer[len(answer)] = 1\n    except OSError: pass",
    ],
)
def test_a_program_that_ends_with_an_assignment_is_told_how_to_give_it_back(last: str) -> None:
    ended = run_guest(f"answer = [3]\n{last}", TOOLS)

    assert ended.value is None
    assert ended.notes == [
        "nothing was given back or printed: write answer alone in the last line to see what it holds"
    ]


@pytest.mark.parametrize(
    "code",
    [
        "answer = 3\nprint(answer)\nrest = 4",
        "result = 3",
        "",
        "answer: int",
        "for n in range(3): tools.ns.add(n=n)",
        "for n in range(3): ns.add(n=n)",
        "class A: pass\na = A()\nif a: a.b = 1",
        "for answer in range(3): pass",
        "if not 1: answer = 2",
    ],
)
def test_a_program_that_prints_or_assigns_to_no_variable_at_its_end_is_told_nothing(code: str) -> None:
    ended = run_guest(code, {**TOOLS, "ns.add": lambda n: n})

    assert (ended.status, ended.notes) == ("completed", [])


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("async def main(): return 1\nprint(str(main())[:10])", ["main"]),
        ("import asyncio\nasync def f(x): return x\nfor x in range(3): y = [f(x)]\ny = asyncio.sleep(1)\n1", ["f"]),
        ("import asyncio\nasync def f(x): return x\nasyncio.run(f(1)), await_it if (await_it := 2) else f(3)", []),
    ],
)
def test_a_coroutine_that_nobody_awaits_is_remarked_upon_once(code: str, names: list[str]) -> None:
    notes = run_guest(code).notes

    assert notes == [f"{name}() was not awaited, and did nothing: write await {name}(...)" for name in names]


def test_a_walk_over_a_list_is_no_attribute_of_one_answer() -> None:
    ended = run_guest("await ns.rows().items(limit=3)", TOOLS, names=NAMES)
    text = "write (await ns.rows(...)).items, or await ns.rows.items(...) for a whole list"
    assert text in ended.message


_LONG = "x = {" + "'a': 1, " * 60 + "}; x['b']; " + "x['a'], " * 60 + "0"


@pytest.mark.parametrize(
    ("code", "under"),
    [
        ("t = 'éééé'; {}['b']", "{}['b']"),
        ("t = '日本語'; {}['b']", "{}['b']"),
        ("t = 'é'; eval('1')", "eval"),
        ("\tx = 1\n".strip() + "\nif x:\n\tx['b']", "x['b']"),
        (_LONG, "x['b']"),
    ],
    ids=["accents", "wide", "refused", "tab", "long"],
)
def test_the_caret_stands_under_what_failed(code: str, under: str) -> None:
    ended = run_guest(code)

    assert ended.failure is not None
    lines = ended.failure["excerpt"].split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith(">"))
    caret = lines[at + 1].index("^")
    wide = sum(east_asian_width(each) in "WF" for each in lines[at])
    assert lines[at][caret - wide :].startswith(under), ended.failure["excerpt"]
    assert len(lines[at]) < 220
    assert lines[at + 1][: caret - wide].replace(" ", "") == "\t" * lines[at].count("\t")


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("from functions import ns\nns.rows()", "ns is bound already: leave the import out"),
        ("from my.functions import ns as tool\ntool.rows()", "ns is bound already: leave the import out"),
        ("from api.ns import rows\nrows()", "ns is bound already: write ns.rows without an import"),
    ],
)
def test_a_namespace_that_is_imported_from_an_invented_module_is_bound(code: str, note: str) -> None:
    ended = run_guest(code, TOOLS)

    assert (ended.value, ended.notes) == ([{"id": 1}], [note])


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("member_list = [1]\nlen(members_list)", "did you mean member_list?"),
        ("len(row)", "did you mean rows?"),
        ("Counter(rows)", "write `from collections import Counter` first"),
        ("counter = 1\nCounter(rows)", "write `from collections import Counter` first"),
        ("mean(rows)", "write `from statistics import mean` first"),
        ("Conuter(rows)", "did you mean Counter? write `from collections import Counter` first"),
        ("jsn.dumps(rows)", "did you mean json? write `import json` first"),
        ("dates = [1]\nlen(date)", "did you mean dates?"),
        ("dates = [1]\ndate.today()", "write `from datetime import date` first"),
        ("answers = [1]\nlen(answer)", "did you mean answers?"),
        ("tree = 1\nx = true", "Python writes True"),
        ("len(inputs['rows'])", "each input is a variable under its own name: leave inputs out"),
        ("nss.rows()", "did you mean ns?"),
        ("p = ns.rows()[0]\nfor x in p.items: pass", "p.items is a method of dict: write p.items()"),
        ("p = {'items': [1]}\np.items[0]", 'p.items is the method of dict, not the field: write p["items"]'),
        ("p = {'data': {'x': 1}}\nfor x in p['data'].items: pass", "p['data'].items is a method of dict"),
    ],
)
def test_a_hint_names_one_cause(code: str, hint: str) -> None:
    ended = run_guest(code, TOOLS, inputs={"rows": [1]})

    assert ended.failure is not None
    assert ended.failure["hint"].startswith(hint)
    assert "The tools are bound as" not in ended.failure["hint"]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ('f"{r["id"]} of {len(rows)}"', "1 of 1"),
        ("f'{r['id']:>3}'", "  1"),
        ('f"{r.get("id")}"', "1"),
        ('f"{"-".join(["a", "b"])}"', "a-b"),
        ('f"{f"{r.id}"}"', "1"),
    ],
)
def test_nested_quotes_of_an_f_string_are_named_where_python_cannot_read_them(code: str, value: str) -> None:
    ended = run_guest(f"r = ns.rows()[0]\n{code}", TOOLS, inputs={"rows": [1]})

    if sys.version_info >= (3, 12):
        assert ended.value == value
    else:
        assert ended.failure is not None
        assert ended.failure["hint"].startswith("nested quotes: in Python 3.11 the f-string ends at the "), code


@pytest.mark.parametrize("code", ['f"{1"', "x = f'{'", 'f"{{"1'])
def test_other_mistakes_in_f_strings_are_no_nested_quotes(code: str) -> None:
    ended = run_guest(code, TOOLS)

    assert ended.failure is not None
    assert "nested quotes" not in ended.failure["hint"]
