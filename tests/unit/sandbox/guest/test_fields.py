"""Fields of an answer that are named like methods of dict: read, they are fields; called, they are the methods."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

PAGE = {"items": [{"id": 1}, {"id": 2}], "keys": "k", "copy": 3, "update": None, "total": 2}
TOOLS = {"ns.page": lambda **_: PAGE, "ns.row": lambda **_: {"id": 7}}


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("[x.id for x in r.items]", [1, 2]),
        ("len(r.items)", 2),
        ("r.items[0]['id']", 1),
        ("r.items.append(5)\nr['items'][-1]", 5),
        ("sum(x.id for x in r.items if r.total)", 3),
        ("[r.keys, r.copy, r.update]", ["k", 3, None]),
        ("f'{r.items[0].id} {r.keys}'", "1 k"),
        ("'{0.keys} {r.keys}'.format(r, r=r)", "k k"),
        ("getattr(r, 'items', [])[1].id", 2),
        ("name = 'items'\ngetattr(r, name)[1].id", 2),
        ("import operator\noperator.attrgetter('keys')(r)", "k"),
        ("r.items = [9]\nr.items", [9]),
        ("def f(r):\n    return r.items\nlen(f(r))", 2),
    ],
)
def test_a_field_named_like_a_method_of_dict_is_read(code: str, value: object) -> None:
    ended = run_guest(f"r = ns.page()\n{code}", TOOLS)

    assert ended.value == value, ended.failure


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("list(r.items())[2:4]", [["copy", 3], ["update", None]]),
        ("list(r.keys())", list(PAGE)),
        ("c = r.copy()\nc.update(keys=1)\n[c['keys'], r['keys']]", [1, "k"]),
        ("r.get('total')", 2),
        ("r.pop('total')", 2),
        ("dict(r) == {**r} == r", True),
        ("import copy, json\njson.loads(json.dumps(copy.deepcopy(r))) == r", True),
        ("import operator\nlen(operator.methodcaller('items')(r))", 5),
        ("import collections\ncollections.ChainMap({}, r)['keys']", "k"),
        ("q = ns.row()\nlist(map(q.get, ['id', 'x']))", [7, None]),
        ("q = ns.row()\ng = q.items\nlist(g())", [["id", 7]]),
        ("d = {'a': 2, 'b': 1}\nsorted(d, key=d.get)", ["b", "a"]),
    ],
)
def test_a_method_of_dict_is_called(code: str, value: object) -> None:
    ended = run_guest(f"r = ns.page()\n{code}", TOOLS)

    assert ended.value == value, ended.failure


def test_objects_of_the_program_have_attributes_of_these_names() -> None:
    ended = run_guest(
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Cart:\n    items: list\n    def count(self): return len(self.items)\n"
        "class Own(dict):\n    keys = 'own'\n"
        "match Cart([1]):\n    case Cart(items=[one]): pass\n"
        "[Cart([1, 2]).count(), Cart([3]).items, Own(keys=1).keys, one]"
    )

    assert ended.value == [2, [3], "own", 1], ended.failure
