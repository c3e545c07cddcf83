"""GraphQL services as sources, over real sockets."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from graphql import introspection_from_schema, parse, validate
from typer.testing import CliRunner

from codemode import CodeMode, ConfigurationError, SourceError
from codemode.catalog import stubs
from codemode.errors import UpstreamError
from codemode.serving.cli.doctor import examine
from codemode.serving.cli.sources import app
from codemode.settings import Settings, load_settings
from codemode.sources.graphql.source import _build, _surface
from codemode.sources.graphql.types import MOST_FIELDS, Selection
from codemode.transports.auth.requirements import Authentication
from codemode.transports.base import CallContext
from codemode.transports.graphql import GraphqlTransport
from codemode.transports.http.deferred import DeferredTransport
from codemode.transports.http.transport import HttpTransport, Reach
from tests.integration.codemode.sources.graphql_service import SCHEMA, SDL, service
from tests.unit.codemode.sources.served import served
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome
    from tests.unit.codemode.transports.recorder import Recorder

TOKEN = "a-secret-token"


@pytest.fixture
async def sent() -> list[dict[str, Any]]:
    """What the service was asked."""
    return []


@pytest.fixture
async def url(sent: list[dict[str, Any]]) -> AsyncIterator[str]:
    """The address of the service."""
    async with served(service(token=TOKEN, sent=sent)) as base:
        yield f"{base}/api/graphql"


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    (tmp_path / "token").write_text(TOKEN)
    credentials = [{"kind": "bearer", "token": {"file": str(tmp_path / "token")}}]

    def made(**source: Any) -> Settings:
        folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
        shop = {"credentials": credentials, **source}
        policy = {"default": {"destructive": "allow"}}
        return Settings.model_validate({"sources": {"shop": shop}, "policy": policy, **folders})

    return made


@pytest.fixture
async def shop(url: str, settings: Callable[..., Settings]) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(settings(kind="graphql", location=url)) as service:
        yield service


def message(outcome: ExecutionOutcome) -> str:
    assert outcome.failure is not None
    return outcome.failure.message


async def test_queries_read_and_mutations_write_with_typed_arguments(shop: CodeMode) -> None:
    signatures = {one.path: stubs.signature(one).partition(" -> ")[0] for one in shop.catalog}
    assert signatures["queries.orders"] == (
        "shop.queries.orders(*, first: int | None = None, after: str | None = None,"
        ' status: Literal["OPEN", "DONE"] | None = None, fields: str | None = None)'
    )
    assert signatures["queries.version"] == "shop.queries.version()"
    assert signatures["mutations.order_delete"] == "shop.mutations.order_delete(*, id: str)"
    assert "LineInput" in stubs.full(shop.catalog.find("createOrder"), budget_tokens=500)
    assert {one.path: str(one.effect) for one in shop.catalog if one.effect != "read"} == {
        "mutations.create_order": "write",
        "mutations.order_delete": "destructive",
    }
    (warned,) = shop.sources["shop"].warnings
    assert warned.reason == "1 subscriptions are left out: they are not calls"


async def test_the_plain_fields_are_asked_for_to_a_bounded_depth(shop: CodeMode) -> None:
    outcome = await shop.execute("shop.queries.order(id='3')")
    assert outcome.value == {
        "id": "3",
        "total": 4.5,
        "status": "OPEN",
        "placed": "2026-01-02T03:04:05Z",
        "buyer": {"id": "1", "name": "user 1", "friends": []},
        "lines": [{"sku": "tea", "count": 1}],
    }
    everything = await shop.execute("shop.queries.version(), shop.queries.search(text='a'), shop.queries.node(id='4')")
    assert everything.value == [
        "1.2",
        [
            {"__typename": "User", "id": "1", "name": "user 1"},
            {"__typename": "Order", "id": "2", "total": 3.0, "status": "OPEN", "placed": "2026-01-02T03:04:05Z"},
        ],
        {"__typename": "User", "id": "4"},
    ]


async def test_a_mutation_sends_its_input_as_variables(shop: CodeMode, sent: list[dict[str, Any]]) -> None:
    wanted = {"buyer": '3"}) { id } }', "lines": [{"sku": "a", "count": 2}], "status": "DONE"}
    made = await shop.execute(f"shop.mutations.create_order(input={wanted!r}, fields='status lines {{ sku count }}')")
    assert message(made).startswith("shop: createOrder: ")  # the buyer is no number: it came as it was written
    assert sent[-1]["variables"] == {"input": wanted}
    assert sent[-1]["query"].startswith("mutation ($input: OrderInput!) { createOrder(input: $input) { status lines")
    code = "shop.mutations.create_order(input={'buyer': '3', 'lines': [{'sku': 'a'}]}, fields='buyer { name }')"
    assert (await shop.execute(code)).value == {"buyer": {"name": "user 3"}}
    wrong = await shop.execute("shop.mutations.create_order(input={'buyer': '3', 'lines': [{'sku': 1}]})")
    assert "input['lines'][0]['sku']: 1 is not of type 'string'" in message(wrong)


async def test_a_connection_is_walked_to_its_end(shop: CodeMode, sent: list[dict[str, Any]]) -> None:
    code = "[order['id'] for order in shop.queries.orders.items(first=3, status='DONE')]"
    assert (await shop.execute(code)).value == ["1", "2", "3", "4", "5", "6", "7"]
    assert [one["variables"] for one in sent[-3:]] == [
        {"first": 3, "status": "DONE"},
        {"first": 3, "status": "DONE", "after": "3"},
        {"first": 3, "status": "DONE", "after": "6"},
    ]
    code = "[order['id'] for order in shop.queries.orders.items(fields='edges { node { id } }')]"
    assert (await shop.execute(code)).value == ["1", "2", "3", "4", "5", "6", "7"]
    assert sent[-1]["variables"] == {"first": 50}
    code = "[user['id'] for page in shop.queries.page.pages() for user in page]"
    assert (await shop.execute(code)).value == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("id x", "Cannot query field 'x' on type 'Order'"),
        ("id } version { x", "Syntax Error"),
        ("id } query b { version", "write exactly one selection"),
        ("id } } { version } { x { y", "Syntax Error"),
        ("id } fragment F on Order { id", "write exactly one selection"),
        ("id #", "Syntax Error"),
        ("", "must have a selection of subfields"),
        ("id " * 2000, "Syntax Error: Document contains more than 1000 tokens"),
        ("buyer { friends { " * 2000, "nested too deeply"),
    ],
)
async def test_a_selection_asks_for_fields_of_the_value_and_nothing_else(
    shop: CodeMode, sent: list[dict[str, Any]], fields: str, said: str
) -> None:
    before = len(sent)
    refused = await shop.execute(f"shop.queries.order(id='3', fields={fields!r})")
    assert said in message(refused)
    assert len(sent) == before


async def test_an_argument_called_fields_keeps_its_name(shop: CodeMode) -> None:
    assert (await shop.execute("shop.queries.fields(fields='abc', selection_fields='id')")).value == {"id": "3"}


async def test_errors_are_exceptions_with_the_data_that_there_are(shop: CodeMode) -> None:
    assert message(await shop.execute("shop.queries.order(id='13')")) == "shop: order: the order is locked"
    code = """
try:
    shop.queries.order(id='14', fields='id buyer { name }')
except ToolError as error:
    print(error.body["errors"][0]["path"], error.body["data"])
"""
    told = await shop.execute(code)
    assert told.output == "['order', 'buyer'] {'order': None}\n", told


async def test_credentials_go_with_the_introspection_and_are_in_no_error(
    url: str, settings: Callable[..., Settings]
) -> None:
    with pytest.raises(SourceError, match=r"introspection failed: .*401") as caught:
        await CodeMode.from_settings(settings(kind="graphql", location=url, credentials=[]), strict=True).__aenter__()
    assert TOKEN not in str(caught.value)


async def test_doctor_asks_a_service_with_its_credentials(url: str, settings: Callable[..., Settings]) -> None:
    findings = await examine(lambda: settings(kind="graphql", location=url))
    found = [(finding.subject, str(finding.state)) for finding in findings if finding.area == "sources"]
    assert found == [("shop", "ok")]


async def test_a_service_that_tells_no_schema_is_read_from_a_file(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "shop.graphql").write_text(SDL)
    (tmp_path / "shop.json").write_text(json.dumps({"data": introspection_from_schema(SCHEMA)}))
    async with served(service(token=TOKEN, tells_schema=False)) as base:
        url = f"{base}/api/graphql"
        with pytest.raises(SourceError, match=r"introspection is disabled; save the schema in a file"):
            await CodeMode.from_settings(settings(kind="graphql", location=url), strict=True).__aenter__()
        for file in ("shop.graphql", "shop.json"):
            async with CodeMode.from_settings(settings(location=str(tmp_path / file), base_url=url)) as service_:
                assert (await service_.execute("shop.queries.version()")).value == "1.2"
                assert len(service_.catalog) == 9


def test_an_answer_that_is_broken_anywhere_is_no_error_of_ours() -> None:
    """Every place of an introspection in turn is something else: it is read, or it is said to be no schema."""
    whole = json.loads(json.dumps(introspection_from_schema(SCHEMA)))
    places = [
        (holder, key)
        for holder in _holders(whole)
        for key in (holder if isinstance(holder, dict) else range(len(holder)))
    ]
    for number, (holder, key) in enumerate(places[::7]):
        before, holder[key] = holder[key], (None, 3, "x", [], {})[number % 5]
        try:
            surface = _surface("shop", _build(json.dumps(whole), "", []), "", {})
            assert all(stubs.signature(tool) for tool in surface.tools)
        except SourceError:
            pass
        holder[key] = before


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


async def test_a_file_needs_the_address_and_has_to_be_a_schema(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "shop.graphql").write_text(SDL)
    (tmp_path / "broken.graphql").write_text("type Query {\n  a: Int\n  b(: Int\n}")
    (tmp_path / "twice.graphql").write_text("type Query {\n  a: Int\n  a: Int\n}")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"sources\.shop\.base_url: set the URL of the service"):
        await CodeMode.from_settings(settings(location=str(tmp_path / "shop.graphql")), strict=True).__aenter__()
    reach = {"kind": "graphql", "base_url": "http://127.0.0.1:1/graphql"}
    with pytest.raises(SourceError, match=r"broken\.graphql line 3: is not a GraphQL schema: Syntax Error"):
        broken = settings(location=str(tmp_path / "broken.graphql"), **reach)
        await CodeMode.from_settings(broken, strict=True).__aenter__()
    with pytest.raises(SourceError, match="it has no __schema"):
        await CodeMode.from_settings(settings(location=str(tmp_path / "other.json"), **reach), strict=True).__aenter__()
    async with CodeMode.from_settings(settings(location=str(tmp_path / "twice.graphql"), **reach)) as service_:
        (warned,) = service_.sources["shop"].warnings
        assert warned.pointer.endswith("twice.graphql line 2")
        assert "can only be defined once" in warned.reason


def test_every_selection_is_one_that_the_schema_has() -> None:
    assert SCHEMA.query_type is not None
    for name, field in SCHEMA.query_type.fields.items():
        text = Selection(field).text
        arguments = ", ".join(f"{key}: ${key}" for key in field.args)
        declared = ", ".join(f"${key}: {one.type}" for key, one in field.args.items())
        called = f"{name}({arguments})" if arguments else name
        document = f"query q{f'({declared})' if declared else ''} {{ {called} {f'{{ {text} }}' if text else ''} }}"
        assert not validate(SCHEMA, parse(document)), document


def test_a_wide_type_is_asked_for_less_deeply() -> None:
    from graphql import build_schema

    wide = " ".join(f"f{number}: Int" for number in range(60))
    schema = build_schema(f"type Query {{ a: A }} type A {{ {wide} b: B }} type B {{ {wide} }}")
    assert schema.query_type is not None
    selection = Selection(schema.query_type.fields["a"])
    assert (selection.text.count("f"), "b {" in selection.text) == (60, False)
    assert 60 < MOST_FIELDS < 120


async def test_who_has_no_graphql_core_is_told_the_extra(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphql", None)
    for module in ("codemode.sources.graphql.source", "codemode.sources.graphql.types", "codemode.transports.graphql"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ConfigurationError, match=r"kind: graphql cannot be used: .*pip install 'codemode\[graphql\]'"):
        await CodeMode.from_settings(settings(kind="graphql", location="http://127.0.0.1:1"), strict=True).__aenter__()


async def test_sources_add_asks_a_url_for_its_schema(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    config = tmp_path / "codemode.yaml"
    arguments = ["add", "shop", url, "--bearer-env", "SHOP_TOKEN", "--config", str(config)]
    added = await asyncio.to_thread(CliRunner().invoke, app, arguments)
    assert added.exit_code == 0, added.output
    assert load_settings(config).sources["shop"].kind == "graphql"


def test_sources_add_reads_a_file_of_the_schema_language(tmp_path: Path) -> None:
    (tmp_path / "shop.graphql").write_text(SDL)
    config = tmp_path / "codemode.yaml"
    arguments = ["add", "shop", str(tmp_path / "shop.graphql"), "--base-url", "http://127.0.0.1:1/graphql"]
    added = CliRunner().invoke(app, [*arguments, "--config", str(config)])
    assert added.exit_code == 0, added.output
    assert "9 operations (7 read, 1 write, 1 destructive), 2 groups, 2 paginated" in added.output
    assert load_settings(config).sources["shop"].base_url == "http://127.0.0.1:1/graphql"


def deferred(url: str) -> DeferredTransport:
    reach = Reach("shop", url)
    credentials = Authentication("shop")
    return DeferredTransport("shop", lambda: credentials, lambda used: HttpTransport(reach, authentication=used))


@pytest.mark.parametrize("path", ["5", "true", "{}", '"user"', "null"])
async def test_an_error_with_a_path_that_is_none_is_said_without_it(recorder: Recorder, path: str) -> None:
    body = f'{{"errors":[{{"message":"locked","path":{path}}}]}}'.encode()
    recorder.answer = lambda _: Answered(200, {"Content-Type": "application/json"}, body)
    transport = GraphqlTransport("shop", deferred(recorder.url), "/graphql")
    with pytest.raises(UpstreamError, match=r"^shop: locked$"):
        await transport.ask("{ order }", CallContext())
    await transport.aclose()
