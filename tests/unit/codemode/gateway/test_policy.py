"""The policy at the door: what a rule sees is what would be sent."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Location, Parameter, Tool
from codemode.errors import AccessDenied, ApprovalRequired, ReadOnly, ToolNotFound
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.caller import Caller
from codemode.gateway.explanation import explain
from codemode.gateway.gateway import Gateway
from codemode.gateway.policy import AccessPolicy, AccessRequest, Decision, Tally
from codemode.settings import PolicySettings
from codemode.testing import RecordingTransport, make_tool


def field(name: str, schema: dict[str, Any], wire_name: str = "", *, required: bool = False) -> Parameter:
    return Parameter(name, wire_name or name, Location.BODY_FIELD, required, Schema.of(schema))


ANYTHING: dict[str, Any] = {}
SEND = Tool(
    "mail.send",
    source="mail",
    aliases=("sendMail",),
    effect=Effect.WRITE,
    details=lambda: Details(
        (
            field("to", ANYTHING),
            field("cc", ANYTHING),
            field("reply_to", {"type": "string"}, "replyTo"),
            field("message", {"type": ["object", "string"]}),
        ),
        body=Schema.of({"type": "object"}),
    ),
)
UPLOAD = Tool(
    "mail.upload",
    source="mail",
    details=lambda: Details((Parameter("body", "", Location.BODY, required=True, schema=Schema.of({})),)),
)
READ = make_tool("mail.read", {"id": {"type": "integer"}})
DELETE = make_tool("mail.delete", {"id": {"type": "integer"}}, effect=Effect.DESTRUCTIVE)
TOOLS = (SEND, UPLOAD, READ, DELETE)

INSIDE = [{"tools": "mail.send", "where": {"to": "*@own.org", "cc?": "*@own.org"}, "decision": "allow"}]
INSIDE += [{"tools": "mail.send", "decision": "deny", "reason": "mail stays inside"}]
NOT_EVIL = [{"tools": ["mail.send", "mail.upload"], "where": {"to": "*@evil.org"}, "decision": "deny"}]


def policy(*rules: dict[str, Any], **more: Any) -> AccessPolicy:
    return AccessPolicy(PolicySettings.model_validate({"rules": rules, "roles": ["support"], **more}))


def gateway(*rules: dict[str, Any], **more: Any) -> tuple[Gateway, RecordingTransport]:
    transport = RecordingTransport(lambda *_: "done")
    transports = {"mail": transport, "fake": transport}
    return Gateway(Catalog(TOOLS), transports, policy=policy(*rules, **more)), transport


def call(tool: str, arguments: dict[str, Any], role: str = "default", tally: Tally | None = None) -> ToolCall:
    return ToolCall("ex", "1", tool, arguments, caller=Caller("c", role), tally=tally or Tally())


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "ann@own.org"},
        {"to": ["ann@own.org", "bob@own.org"]},
        {"to": "ann@own.org", "cc": []},
        {"to": "ann@own.org", "cc": "bob@own.org"},
        {"body": {"to": "ann@own.org"}},
        {"body": {"to": ["ann@own.org"], "cc": ["bob@own.org"]}},
    ],
)
async def test_what_surely_stays_inside_is_sent(arguments: dict[str, Any]) -> None:
    door, transport = gateway(*INSIDE)
    assert (await door.call(call("mail.send", arguments))).state is CallState.COMMITTED
    assert transport.sent == [("mail.send", arguments)]


#: What a service that is not strict may take for `cc`.
NEARLY_CC = [" cc", "cc[]", "c\u200bc", "%63c", "\u0441c", "c-C", "cc\r\n"]
OUTSIDE: list[dict[str, Any]] = [
    {},
    {"cc": "ann@own.org"},
    {"to": []},
    {"to": None},
    {"to": [None, "ann@own.org"]},
    {"to": 7},
    {"to": {"address": "ann@own.org"}},
    {"to": "x@evil.org"},
    {"to": ["ann@own.org", "x@evil.org"]},
    {"to": [["ann@own.org"], ["x@evil.org"]]},
    {"to": "x@evil.org, ann@own.org"},
    {"to": "ann@own.org\nBcc: x@evil.org"},
    {"to": "Ann <x@evil.org>"},
    {"to": '["ann@own.org", "x@evil.org"]'},
    {"to": "ann@own.org", "cc": "x@evil.org"},
    {"to": "ann@own.org", "cc": ["bob@own.org", {"address": "x@evil.org"}]},
    {"body": {"to": "x@evil.org"}},
    {"body": {"to": "ann@own.org", "To": "x@evil.org"}},
    {"body": {"to": "ann@own.org", "CC": "x@evil.org"}},
    {"body": {"TO": "x@evil.org"}},
    {"body": {"to": "ann@own.org", "cc": [["x@evil.org"]]}},
    {"body": {"to": "ann@own.org", "t o\r\n": "x@evil.org"}},
    {"body": {}},
]


BY_NAME = [{"body": {"to": "ann@own.org", name: "x@evil.org"}} for name in NEARLY_CC]


@pytest.mark.parametrize("arguments", [*OUTSIDE, *BY_NAME], ids=repr)
async def test_nothing_that_may_leave_is_sent(arguments: dict[str, Any]) -> None:
    door, transport = gateway(*INSIDE)
    for name in ("mail.send", "mail.sendMail"):
        outcome = await door.call(call(name, arguments))
        assert (outcome.tool, outcome.state) == ("mail.send", CallState.DENIED)
        assert isinstance(outcome.error, AccessDenied)
        assert "mail stays inside" in str(outcome.error)
    assert transport.sent == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *[
            ("mail.send", arguments)
            for arguments in OUTSIDE
            if "evil" in repr(arguments) and "'cc'" not in repr(arguments).lower()
        ],
        ("mail.upload", {"body": {"to": "x@evil.org"}}),
        ("mail.upload", {"body": '{"to": "x@evil.org"}'}),
        ("mail.upload", {"body": {"To": ["ann@own.org", "X@EVIL.ORG"]}}),
    ],
    ids=repr,
)
async def test_a_prohibition_holds_however_the_value_comes(tool: str, arguments: dict[str, Any]) -> None:
    door, transport = gateway(*NOT_EVIL)
    assert (await door.call(call(tool, arguments))).state is CallState.DENIED
    assert transport.sent == []


@pytest.mark.parametrize(
    "body",
    [
        [{"to": "ann@own.org"}, {"to": "x@evil.org"}],
        [{"to": "ann@own.org"}, {"cc": "x@evil.org"}],
        '{"to": "x@evil.org", "to": "ann@own.org"}',
        '[{"to": "x@evil.org"}]',
        "to=ann@own.org&to=x@evil.org",
        "<to>x@evil.org</to>",
    ],
    ids=repr,
)
async def test_a_body_in_any_form_is_looked_into(body: object) -> None:
    both = {"to": "*@own.org", "cc?": "*@own.org"}
    wishes: list[list[dict[str, Any]]] = [
        [{"where": both, "decision": "allow"}, {"decision": "deny"}],
        [{"where": {"to": "*@evil.org"}, "decision": "deny"}, {"where": {"cc": "*@evil.org"}, "decision": "deny"}],
    ]
    for rules in wishes:
        door, transport = gateway(*rules)
        assert (await door.call(call("mail.upload", {"body": body}))).state is CallState.DENIED
        assert transport.sent == []


async def test_a_condition_that_may_be_absent_does_not_hold_for_a_body_that_cannot_be_read() -> None:
    rules: list[dict[str, Any]] = [{"where": {"cc?": "*@own.org"}, "decision": "allow"}, {"decision": "deny"}]
    for body, state in (({"text": "hi"}, CallState.COMMITTED), ("cc=x@evil.org", CallState.DENIED)):
        door, _ = gateway(*rules)
        assert (await door.call(call("mail.upload", {"body": body}))).state is state


async def test_a_prohibition_on_a_field_that_is_not_declared_holds_in_a_whole_body() -> None:
    door, transport = gateway({"tools": "mail.send", "where": {"bcc": "*@evil.org"}, "decision": "deny"})
    assert (await door.call(call("mail.send", {"body": {"Bcc": "x@evil.org"}}))).state is CallState.DENIED
    assert transport.sent == []


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("reply_to", {"reply_to": "x@evil.org"}),
        ("replyTo", {"reply_to": "x@evil.org"}),
        ("replyTo", {"body": {"replyTo": "x@evil.org"}}),
        ("reply_to", {"replyTo": "x@evil.org"}),
        ("body.replyTo", {"reply_to": "x@evil.org"}),
        ("message.to", {"message": {"to": "x@evil.org"}}),
        ("message.to", {"message": '{"to": "x@evil.org"}'}),
        ("message.to", {"message": "to x@evil.org"}),
        ("message.to.*.address", {"message": {"to": {"first": {"address": "x@evil.org"}}}}),
        ("message.to.address", {"message": {"to": [{"address": "a@own.org"}, {"address": "x@evil.org"}]}}),
        ("message", {"message": {"deep": [{"er": "x@evil.org"}]}}),
        ("message", {"message": {"x@evil.org": "a name of a field"}}),
    ],
)
def test_a_path_finds_values_by_any_name_and_in_any_form(path: str, arguments: dict[str, Any]) -> None:
    rules = policy({"where": {path: "*@evil.org"}, "decision": "deny"})
    assert Gateway(Catalog(TOOLS), {}, policy=rules).judge(call("mail.send", arguments)).state is CallState.DENIED
    strict = policy({"where": {path: "*@own.org"}, "decision": "allow"}, {"decision": "deny"})
    assert Gateway(Catalog(TOOLS), {}, policy=strict).judge(call("mail.send", arguments)).state is CallState.DENIED


def decide(rules: AccessPolicy, tool: Tool, role: str = "default", **arguments: Any) -> Decision:
    return rules.decide(AccessRequest(tool, arguments, role))


def test_the_first_rule_that_fits_decides_then_the_default_by_effect() -> None:
    rules = policy(
        {"tools": "mail.read", "roles": "support", "decision": "deny"},
        {"effects": "read", "decision": "ask"},
        {"tools": "mail.read", "decision": "allow"},
    )
    assert decide(rules, READ, "support") is Decision.DENY
    assert decide(rules, READ) is Decision.ASK
    assert (decide(rules, SEND), decide(rules, DELETE)) == (Decision.ALLOW, Decision.ASK)
    assert rules.ruling(AccessRequest(DELETE, {})).rule == "default for destructive"


def test_sources_and_tiers_and_defaults_count() -> None:
    core = make_tool("mail.core", source="mail").changed(tier="core")
    rules = policy(
        {"tiers": "core", "decision": "deny"},
        {"sources": "mail", "decision": "ask"},
        default={"read": "deny", "write": "allow"},
    )
    assert decide(rules, core) is Decision.DENY
    assert (decide(rules, SEND), decide(rules, READ), decide(rules, DELETE)) == (
        Decision.ASK,
        Decision.DENY,
        Decision.ASK,
    )


def test_what_is_denied_whatever_the_arguments_does_not_exist_and_what_may_be_allowed_does() -> None:
    rules = policy(
        {"tools": "mail.send", "where": {"to": "*@own.org"}, "decision": "allow"},
        {"tools": "mail.delete", "where": {"id": 1}, "decision": "deny"},
        {"tools": "mail.delete", "roles": "support", "decision": "ask"},
        {"tools": "mail.read", "where": {"no_such_argument": "*"}, "decision": "allow"},
        {"decision": "deny"},
    )
    assert [rules.may_use(tool, "support") for tool in TOOLS] == [True, False, False, True]
    assert [rules.may_use(tool, "default") for tool in TOOLS] == [True, False, False, False]


async def test_what_a_person_must_allow_is_pending_and_nothing_is_sent() -> None:
    door, transport = gateway()
    outcome = await door.call(call("mail.delete", {"id": 1}))
    assert outcome.state is CallState.PENDING
    assert isinstance(outcome.error, ApprovalRequired)
    assert transport.sent == []


async def test_a_quota_counts_the_calls_of_one_execution() -> None:
    door, transport = gateway(quotas=[{"tools": ["mail.read", "mail.send"], "calls": 2}])
    tally = Tally()
    states = [(await door.call(call(name, {}, tally=tally))).state for name in ("mail.read", "mail.send", "mail.read")]
    assert states == [CallState.READ, CallState.COMMITTED, CallState.DENIED]
    assert (await door.call(call("mail.read", {}))).state is CallState.READ
    assert len(transport.sent) == 3


async def test_a_near_name_is_never_taken_for_the_tool() -> None:
    door, transport = gateway()
    for name in ("mail.Send", "MAIL.SEND", "mail.send ", "mail.\u0455end", "mail..send", "mail.send.items", "send"):
        outcome = await door.call(call(name, {"to": "x@evil.org"}))
        assert isinstance(outcome.error, ToolNotFound), name
    assert transport.sent == []


def test_a_tool_is_decided_for_each_role_and_each_call_of_its_own() -> None:
    rules = policy(
        {"tools": "mail.send", "roles": ["support"], "decision": "deny"},
        {"tools": "mail.send", "where": {"to": "*@own.org"}, "decision": "allow"},
        default={"write": "ask"},
    )
    asked = [("support", "a@own.org"), ("default", "a@own.org"), ("default", "a@evil.org"), ("support", "a@evil.org")]
    decisions = [rules.decide(AccessRequest(SEND, {"to": to}, role)) for role, to in asked * 2]
    assert decisions == [Decision.DENY, Decision.ALLOW, Decision.ASK, Decision.DENY] * 2


@pytest.mark.parametrize(
    ("caller", "more"),
    [(Caller("ann", read_only=True), {}), (Caller("ann"), {"read_only": True})],
    ids=["key", "server"],
)
async def test_read_only_denies_everything_but_reads_before_the_rules(caller: Caller, more: dict[str, Any]) -> None:
    door, transport = gateway({"tools": "*", "decision": "allow"}, **more)
    for tool, arguments in (("mail.send", {"to": "a@own.org"}), ("mail.delete", {"id": 1})):
        refused = await door.call(ToolCall("ex_1", "1", tool, arguments, caller=caller))
        assert refused.state is CallState.DENIED
        assert isinstance(refused.error, ReadOnly)
        assert f"{tool} is not a read, and only reads are allowed here (read_only)" in str(refused.error)
    assert (await door.call(ToolCall("ex_1", "2", "mail.read", {"id": 1}, caller=caller))).value == "done"
    assert transport.sent == [("mail.read", {"id": 1})]


def test_an_explanation_names_read_only_and_no_rule() -> None:
    found = explain(policy({"tools": "*", "decision": "allow"}), SEND, "default", None, read_only=True)
    assert (found.decision, found.rule, found.reason) == ("deny", "read_only", "only reads are allowed here")
    assert [(step.rule, step.verdict) for step in found.steps] == [("read_only", "decides")]
    assert found.exists
    assert explain(policy(), READ, "default", None, read_only=True).decision == "allow"
