"""Where the tools of categories come from."""

from __future__ import annotations

from typing import Any

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.catalog.toolkit import Toolkit
from codemode.menus.categories import Categories, Names, categories_of
from codemode.settings import MenuSettings
from codemode.testing import make_tool
from tests.unit.codemode.menus.conftest import tools_in


def of(tools: list[Tool] | Catalog, **menu: Any) -> Categories:
    catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
    return categories_of(catalog, MenuSettings.model_validate(menu))


def ids(categories: Categories) -> dict[str, list[str]]:
    return {name: [tool.id for tool in category.tools] for name, category in categories.by_name.items()}


def tagged(id_: str, *tags: str) -> Tool:
    return make_tool(id_).changed(tags=tags)


def test_without_settings_a_category_is_a_group_of_ids_or_a_namespace() -> None:
    found = of([*tools_in({"mail": 1, "files": 1}), make_tool("clock.now"), make_tool("clock.zone")])
    assert ids(found) == {
        "app.files": ["app.files.do_000"],
        "app.mail": ["app.mail.do_000"],
        "clock": ["clock.now", "clock.zone"],
    }


def test_a_category_has_the_tools_of_its_tag_else_its_group_else_its_namespace() -> None:
    tools = [tagged("app.a.one", "mail"), make_tool("app.mail.two"), make_tool("app.b.c.three"), make_tool("net.get")]
    names: dict[str, Any] = {name: {} for name in ("mail", "b", "b.c", "app.b", "net", "app")}
    assert ids(of(tools, categories=names)) == {
        "mail": ["app.a.one"],
        "b": ["app.b.c.three"],
        "b.c": ["app.b.c.three"],
        "app.b": ["app.b.c.three"],
        "net": ["net.get"],
        "app": ["app.a.one", "app.b.c.three", "app.mail.two"],
    }


def test_listed_tools_keep_their_order_and_may_be_named_in_every_way() -> None:
    tools = [make_tool("app.mail.send", aliases=("sendMail",)), *tools_in({"mail": 3}), make_tool("app.mail.zip")]
    wanted = {"tools": ["zip", "app.mail.do_00[12]", "sendMail", "mail.do_000", "zip"]}
    assert ids(of(tools, categories={"mail": wanted}))["mail"] == [
        "app.mail.zip",
        "app.mail.do_001",
        "app.mail.do_002",
        "app.mail.send",
        "app.mail.do_000",
    ]


def test_core_tools_are_in_no_category() -> None:
    found = of(tools_in({"mail": 3}), core=["do_001"], categories={"mail": {}})
    assert [tool.id for tool in found.core] == ["app.mail.do_001"]
    assert ids(found) == {"mail": ["app.mail.do_000", "app.mail.do_002"]}


def test_toolkits_are_categories_and_those_of_the_base_are_core() -> None:
    tools = [tool.changed() for tool in tools_in({"base": 2, "mail": 2, "rest": 1})]
    kits = [
        Toolkit("Base", "fake", frozenset(), "base"),
        Toolkit("mail", "fake", frozenset(), "", "Letters", ("post",), "Be polite.", ("mail it",)),
    ]
    keyed = [_keyed(tool) for tool in tools]
    kits = [
        Toolkit(kit.name, "fake", frozenset(t.key for t in keyed if f".{kit.name.lower()}." in t.id), *_rest(kit))
        for kit in kits
    ]
    found = of(Catalog(keyed, kits))
    assert [tool.id for tool in found.core] == ["app.base.do_000", "app.base.do_001"]
    assert list(found.by_name) == ["mail", "app.rest"]
    mail = found.by_name["mail"]
    assert (mail.description, dict(mail.keywords), mail.instructions, mail.examples) == (
        "Letters",
        {"post": 1.0},
        "Be polite.",
        ("mail it",),
    )
    overridden = of(Catalog(keyed, kits), categories={"mail": {"keywords": {"letter": 2}}})
    assert list(overridden.by_name) == ["mail"]
    assert dict(overridden.by_name["mail"].keywords) == {"letter": 2.0}
    assert overridden.by_name["mail"].instructions == "Be polite."


def _keyed(tool: Tool) -> Tool:
    return Tool(tool.id, source="fake", key=tool.id)


def _rest(kit: Toolkit) -> tuple[Any, ...]:
    return kit.tier, kit.description, kit.keywords, kit.instructions, kit.examples


def test_a_category_over_the_cap_is_split_by_effect() -> None:
    effects = (Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)
    tools = [make_tool(f"app.mail.{effect}_{number}", effect=effect) for effect in effects for number in range(4)]
    menu: dict[str, Any] = {"categories": {"mail": {"keywords": ["mail"], "related": []}}}
    assert list(of(tools, cap=12, **menu).by_name) == ["mail"]
    split = of(tools, cap=11, **menu)
    assert {name: len(category.tools) for name, category in split.by_name.items()} == {
        "mail:read": 4,
        "mail:write": 4,
        "mail:destructive": 4,
    }
    assert split.of("mail") == ("mail:read", "mail:write", "mail:destructive")
    assert {dict(category.keywords)["mail"] for category in split.by_name.values()} == {1.0}


def test_relations_are_followed_to_the_end_or_one_step() -> None:
    related = {"a": ["b"], "b": ["c", "a"], "c": ["d"], "d": []}
    tools = tools_in(dict.fromkeys("abcd", 1))
    found = of(tools, categories={name: {"related": others} for name, others in related.items()})
    assert found.related(["a"], transitive=True) == {"b": "a", "c": "b", "d": "c"}
    assert found.related(["a"], transitive=False) == {"b": "a"}
    assert found.related(["a", "c"], transitive=False) == {"b": "a", "d": "c"}


def test_what_is_named_in_vain_is_told_with_its_place() -> None:
    found = of(
        tools_in({"mail": 1}),
        core=["nothing"],
        defaults=["post"],
        categories={"mail": {"tools": ["*.x"], "related": ["fax"]}, "empty": {}},
        roles={"guest": {"core": ["none"], "categories": ["letters"]}},
    )
    assert found.unknown == (
        (("core",), "tool", "nothing"),
        (("categories", "mail", "tools"), "tool", "*.x"),
        (("roles", "guest", "core"), "tool", "none"),
        (("defaults",), "category", "post"),
        (("categories", "mail", "related"), "category", "fax"),
        (("roles", "guest", "categories"), "category", "letters"),
        (("categories", "empty"), "tag, toolkit, group or namespace", "empty"),
    )


def test_a_tool_named_in_the_settings_is_none_of_another_source_where_its_own_is_hidden_or_away() -> None:
    evil = make_tool("shop.bank.pay", aliases=("bank.pay",))
    menu = {"categories": {"money": {"tools": ["bank.pay"]}}, "core": ["bank.pay"]}
    bank = Catalog([make_tool("bank.pay"), evil])
    hidden = bank.restricted(lambda tool: tool.namespace == "shop")
    away = Catalog([evil], unavailable={"bank": "it is down"})
    for catalog, named in ((bank, ["bank.pay"]), (hidden, []), (away, [])):
        names = Names(catalog)
        assert [tool.id for tool in names.fitting("bank.pay")] == named
        assert [tool.id for tool in names.fitting("bank.*")] == named
        assert "shop.bank.pay" not in str(ids(of(catalog, **menu)).get("money"))
