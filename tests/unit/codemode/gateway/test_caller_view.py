"""What a role may not use does not exist for it: every face answers as if it had never been in the catalog."""

from __future__ import annotations

import json
import re
import types
from contextlib import AsyncExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from codemode.errors import ConfigurationError
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

NAMESPACES = ("shop", "mail", "stock")
NAMES = ("list_orders", "cancel_order", "get_customer", "send_letter", "find_parcel", "refund_payment")
ROLE = "clerk"
KEY = {"Authorization": "Bearer k"}


def function(name: str) -> Callable[..., str]:
    """A tool: its name says what it does."""

    def body(reference: str = "") -> str:
        return reference

    made = types.FunctionType(body.__code__, {}, name, body.__defaults__)
    made.__doc__ = f"{name.replace('_', ' ').capitalize()} of the company."
    made.__annotations__ = {"reference": str, "return": str}
    return made


def sources(tools: set[str]) -> dict[str, object]:
    return {
        namespace: [function(name) for name in NAMES if f"{namespace}.{name}" in tools]
        for namespace in NAMESPACES
        if any(tool.startswith(f"{namespace}.") for tool in tools)
    }


ALL = {f"{namespace}.{name}" for namespace in NAMESPACES for name in NAMES}

patterns = st.sampled_from([*sorted(ALL), *(f"{namespace}.*" for namespace in NAMESPACES), "*_order*", "*.get_*"])
rules = st.fixed_dictionaries(
    {
        "tools": st.lists(patterns, min_size=1, max_size=2),
        "decision": st.sampled_from(["allow", "deny", "deny", "ask"]),
    },
    optional={"roles": st.just([ROLE]), "where": st.just({"reference": "A*"})},
)


async def answers(service: CodeMode, asked: list[str], folder: Path) -> list[tuple[str, str]]:
    """What every face says to questions on these names: pairs of question and answer."""
    callers = Callers({"k": Caller("k", ROLE)}, KeyFile(folder / "keys.json"))
    transport = httpx2.ASGITransport(create_app(service, callers))
    questions: list[tuple[str, dict[str, Any] | None]] = [
        ("/healthz", None),
        ("/openapi.json", None),
        ("/v1/tools", None),
        ("/v1/tools?namespace=shop", None),
        ("/v1/execute", {"code": "dir(tools)"}),
    ]
    for name in asked:
        namespace, _, path = name.partition(".")
        queries = [name, path.replace("_", " ")[1:]]
        filters: list[dict[str, Any]] = [{}, {"detail": "full"}, {"namespace": namespace}, {"effect": "write"}]
        questions.append((f"/v1/tools/{name}", None))
        questions += [("/v1/search", {"queries": queries, "limit": 100, **one}) for one in filters]
        programs = (
            f"{name}(reference='A1')",
            f"tools.{name}s()",
            f"{name}.items()",
            f"getattr({namespace}, {path!r})()",
        )
        questions += [("/v1/execute", {"code": code}) for code in programs]
    told = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=KEY) as client:
        for path, body in questions:
            answer = await (client.get(path) if body is None else client.post(path, json=body))
            told.append((f"{path} {json.dumps(body)}", _comparable(answer.json())))
    return told


def _comparable(answer: Any) -> str:
    """An answer without what differs each time, and without the numbers of rules."""
    if "calls" in answer:
        calls = [
            {key: call[key] for key in ("tool", "arguments", "state", "decision", "error")} for call in answer["calls"]
        ]
        answer = {key: answer[key] for key in ("status", "value", "output", "failure", "notes")} | {"calls": calls}
    return re.sub(r"rule \d+", "rule", json.dumps(answer, sort_keys=True))


@settings(
    max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(rules, min_size=1, max_size=4))
async def test_every_answer_is_as_if_what_is_hidden_were_not_there(
    tmp_path: Path, chosen: list[dict[str, Any]]
) -> None:
    async with AsyncExitStack() as stack:
        one, other = (Path(stack.enter_context(TemporaryDirectory(dir=tmp_path))) for _ in range(2))  # a journal each
        whole = await stack.enter_async_context(service(one, chosen, ALL))
        visible = {tool.id for tool in (await whole.view(Caller("k", ROLE))).catalog}
        hidden = sorted(ALL - visible)[:2]
        asked = [*hidden, *sorted(visible)[:1]]
        told = await answers(whole, asked, one)
        for question, answer in told:
            for name in ALL - visible:
                assert name not in answer or name.partition(".")[2] in question
        if visible:
            less = await stack.enter_async_context(service(other, _beside(chosen, visible), visible))
            assert told == await answers(less, asked, other)


def service(folder: Path, rules: list[dict[str, Any]], tools: set[str]) -> CodeMode:
    made = Settings.model_validate(
        {
            "policy": {"roles": [ROLE], "rules": rules},
            "search": {"record_usage": False},
            "state_folder": str(folder / "state"),
            "cache_folder": str(folder / "cache"),
        }
    )
    return CodeMode.from_settings(made, functions=sources(tools))


def _beside(rules: list[dict[str, Any]], tools: set[str]) -> list[dict[str, Any]]:
    """The rules without patterns that fit none of the tools: these would be refused."""
    kept = [
        {**rule, "tools": [each for each in rule["tools"] if any(fnmatchcase(t, each) for t in tools)]}
        for rule in rules
    ]
    return [rule for rule in kept if rule["tools"]]


async def test_roles_that_may_use_the_same_share_a_view(tmp_path: Path) -> None:
    async with service(tmp_path, [{"tools": "shop.*", "roles": [ROLE], "decision": "deny"}], ALL) as made:
        whole, clerk = await made.view(Caller("a")), await made.view(Caller("b", ROLE))
        assert (len(whole.catalog), len(clerk.catalog)) == (18, 12)
        assert await made.view(Caller("c", ROLE)) is clerk
        assert whole.catalog is made.catalog


async def test_a_pattern_that_fits_no_tool_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"policy\.rules\.0\.tools\.0: no tool matches 'shop\.cancel_orders'; .*'shop\.cancel_order'",
    ):
        async with service(tmp_path, [{"tools": "shop.cancel_orders", "decision": "deny"}], ALL):
            pytest.fail("it was entered")
