"""What each kind of target sends, without a network, and what a receiver's answer means."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from standardwebhooks import Webhook as Receiver

from codemode.errors import ConfigurationError
from codemode.executions.types.records import NewExecution, PendingCall, StoredExecution
from codemode.features.notify.chat import slack_body, teams_body
from codemode.features.notify.notice import NoticeWriter
from codemode.features.notify.targets import Mailbox, Poster, Undelivered, Webhook, signing_keys
from codemode.transports.mail import MailServer
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    import asyncio
    from email.message import EmailMessage

    from codemode.features.notify.notice import Notice

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD_SECRET = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()

ARGUMENTS = {"id": 173, "note": "x" * 81, "to": "a\u202eb", "lines": [1], "password": "[secret 0123]"}


def notice(
    tool: str = "bank.pay", *, show_arguments: bool = False, reason: str = "money", planned: Any = None
) -> Notice:
    given = NewExecution("ex_1", "key-1", "support", "1", b"", 0)
    stored = StoredExecution(given, "paused", "", 0, 0, updated_us=0, ended_us=0, expires_us=60_000_000)
    call = PendingCall("ap_1", "ex_1", "1", tool, ARGUMENTS, "d", reason, host="bank.example.com", planned=planned)
    writer = NoticeWriter("gym", "https://cm.example.com/", show_arguments)
    return writer.of_call("msg_1", "approval.asked", call, stored)


def test_a_notice_names_the_arguments_and_links_to_the_approval() -> None:
    assert notice().data() == {
        "tools": ["bank.pay"],
        "arguments": ["id", "note", "to", "lines", "password"],
        "execution": "ex_1",
        "approval": "ap_1",
        "reason": "money",
        "host": "bank.example.com",
        "requester": "key-1",
        "role": "support",
        "asked": "",
        "expires": "1970-01-01T00:01:00.000Z",
        "project": "gym",
        "link": "https://cm.example.com/console/approvals/ap_1",
    } | {"asked": notice().asked}


def test_the_values_of_a_plan_are_fields_of_their_own_and_shown_on_request_only() -> None:
    said = "Approved by the board. Please click approve."
    plain, shown = (notice(planned={"note": said}, show_arguments=show) for show in (False, True))
    assert said not in plain.text() + json.dumps([plain.data(), slack_body(plain), teams_body(plain)])
    assert (plain.data()["planned"], shown.data()["planned"]) == (["note"], {"note": said})
    assert f"In the plan: note='{said}'" in shown.text()


def test_values_are_shown_on_request_if_they_are_short() -> None:
    shown = {"id": 173, "note": "…", "to": "a\\u202eb", "lines": "…", "password": "[secret 0123]"}
    assert notice(show_arguments=True).arguments == shown


class Wire:
    """Answers each request with the next of some heads, and keeps what came."""

    def __init__(self, *heads: str) -> None:
        self.heads = [*heads]
        self.seen: list[tuple[dict[str, str], bytes]] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
        exact = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        self.seen.append(({name.lower(): value for name, value in exact.items()}, body))
        writer.write(f"HTTP/1.1 {self.heads.pop(0)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
async def test_a_receiver_verifies_the_signature_with_either_secret_of_a_rotation(secret: str) -> None:
    wire = Wire("204 No Content")
    async with listening(wire.answer) as port:
        poster = Poster(f"http://127.0.0.1:{port}/hook", None, 5)
        await Webhook(poster, signing_keys("ops", f"{SECRET} {OLD_SECRET}")).send(notice())
    ((headers, body),) = wire.seen
    verified: Any = Receiver(secret).verify(body, headers)
    assert (verified["type"], verified["data"]) == ("approval.asked", notice().data())
    assert headers["webhook-id"] == "msg_1"
    with pytest.raises(Exception, match="No matching signature found"):
        Receiver(secret).verify(body.replace(b"bank.pay", b"bank.play"), headers)


@pytest.mark.parametrize(
    ("head", "message", "retry_after_s", "is_gone"),
    [
        ("500 Broken", "the receiver answered 500", 0, False),
        ("503 Busy\r\nRetry-After: 120", "the receiver answered 503", 120, False),
        ("503 Busy\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT", "the receiver answered 503", 0, False),
        ("410 Gone", "the receiver answered 410", 0, True),
        (
            "302 Found\r\nLocation: http://169.254.169.254/",
            "the receiver answered 302, a redirect, which is not followed",
            0,
            False,
        ),
    ],
)
async def test_any_answer_but_success_is_undelivered(
    head: str, message: str, retry_after_s: float, *, is_gone: bool
) -> None:
    wire = Wire(head)
    async with listening(wire.answer) as port:
        with pytest.raises(Undelivered) as caught:
            await Poster(f"http://127.0.0.1:{port}/hook?token=hunter2", None, 5).post(b"{}", {})
    assert (str(caught.value), caught.value.retry_after_s, caught.value.is_gone) == (message, retry_after_s, is_gone)
    assert len(wire.seen) == 1


async def test_a_name_that_resolves_to_this_machine_is_not_called() -> None:
    with pytest.raises(Undelivered, match="a loopback address, which is not allowed; to allow it, write `address: "):
        await Poster("http://localhost:9/hook", None, 5).post(b"{}", {})


async def test_an_unreachable_receiver_is_named_without_the_path() -> None:
    with pytest.raises(Undelivered) as caught:
        await Poster("http://127.0.0.1:9/services/T00/secret", None, 5).post(b"{}", {})
    assert str(caught.value) == "127.0.0.1 cannot be reached (ConnectError)"


async def test_a_receiver_that_does_not_answer_is_given_up_after_the_time_limit() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as port:
        with pytest.raises(Undelivered, match=r"127\.0\.0\.1 did not answer within 0\.05 s"):
            await Poster(f"http://127.0.0.1:{port}/", None, 0.05).post(b"{}", {})


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!!", "whsec_" + base64.b64encode(b"short").decode()])
def test_a_malformed_signing_secret_is_rejected_without_being_shown(secret: str) -> None:
    with pytest.raises(ConfigurationError, match=r"notify\.targets\.ops\.secret is no signing secret") as caught:
        signing_keys("ops", secret)
    assert not secret or "short" not in str(caught.value)


HOSTILE = "<!channel> *pay* [click](https://evil.example) \u202e"


def test_texts_of_services_cannot_format_or_mention_in_chats() -> None:
    hostile = notice(HOSTILE, reason=HOSTILE)
    slack = slack_body(hostile)
    assert "<!channel>" not in slack["text"]
    assert {block["text"]["type"] for block in slack["blocks"][:2]} == {"plain_text"}
    assert slack["blocks"][2]["elements"][0]["url"] == "https://cm.example.com/console/approvals/ap_1"
    card = teams_body(hostile)["attachments"][0]["content"]
    assert r"\[click\]\(https://evil.example\)" in card["body"][0]["text"]
    assert "\u202e" not in json.dumps([slack, card], ensure_ascii=False)
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open", "url": "https://cm.example.com/console/approvals/ap_1"}
    ]


class Post(MailServer):
    """Keeps the mail."""

    async def send(self, mail: EmailMessage, *, timeout_s: float) -> None:
        sent.append(mail)


sent: list[EmailMessage] = []


async def test_a_tool_name_cannot_add_headers_to_a_mail() -> None:
    sent.clear()
    await Mailbox(Post("h", 25, "none"), "a@x.org", ("b@x.org", "c@x.org"), 5).send(notice("x\r\nBcc: evil@x.org"))
    (mail,) = sent
    assert "Bcc" not in mail
    assert (mail["To"], mail["Message-ID"]) == ("b@x.org, c@x.org", "<msg_1@codemode.invalid>")
    assert "https://cm.example.com/console/approvals/ap_1" in mail.get_content()


def test_a_message_about_a_login_leads_to_it() -> None:
    given = NewExecution("ex_1", "key-1", "support", "1", b"", 0)
    stored = StoredExecution(given, "paused", "", 0, 0, updated_us=0, ended_us=0)
    link = "https://cm.example.com/console/accounts/bank/mine"
    asks = {"mode": "url", "message": "log in", "url": link}
    call = PendingCall("ap_1", "ex_1", "1", "bank.pay", {}, "d", "log in", kind="login", asks=asks)
    sent = NoticeWriter("gym", "https://cm.example.com/").of_call("msg_1", "login.asked", call, stored)
    assert (sent.title, sent.link) == ("A call waits for a login: bank.pay", link)
