"""Messages of a running service to real receivers: HTTP and mail, with signatures, encryption and audit records."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import ssl
import sys
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from standardwebhooks import Webhook

from codemode import CodeMode
from codemode.errors import ConfigurationError, UpstreamUnreachable
from codemode.executions.types.records import Decision
from codemode.features.notify.notice import Notice
from codemode.features.notify.targets import Mailbox, Undelivered
from codemode.transports.mail import MailServer
from tests.command_line import script
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place
from tests.ports import free_port
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
        yield found


class Receiver:
    """Verifies what arrives. The first `failures` requests are answered with 500."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.verified: list[Any] = []
        self.came = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head.splitlines()[1:-1])}
        body = await reader.readexactly(int(headers["content-length"]))
        self.failures -= 1
        if self.failures < 0:
            self.verified.append(Webhook(SECRET).verify(body, headers))
            self.came.set()
        status = "500 Broken" if self.failures >= 0 else "204 No Content"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()

    def settings(self, folder: Path, port: int, **more: Any) -> dict[str, Any]:
        """Return the section `notify`."""
        secret = {"file": str(folder / "secret")}
        target = {"kind": "webhook", "url": f"http://127.0.0.1:{port}/hook", "secret": secret}
        return {"targets": {"ops": target}, **more}


async def test_a_paused_execution_is_told_and_recorded(here: Place) -> None:
    receiver, audit = Receiver(), here.folder / "audit.jsonl"
    async with listening(receiver.answer) as port:
        sections = {
            "notify": receiver.settings(here.folder, port, show_arguments=True),
            "observe": {"audit_file": str(audit)},
            "server": {"public_url": "https://cm.example.com"},
        }
        async with here.service(**sections) as cm:
            outcome = await cm.execute("up.x.secret(word='hunter2-and-more')", caller=OWNER)
            async with asyncio.timeout(200):
                await receiver.came.wait()
    (event,) = receiver.verified
    (call,) = outcome.pending
    assert event["type"] == "approval.asked"
    assert (event["data"]["approval"], event["data"]["requester"]) == (call.id, "key-1")
    assert event["data"]["link"] == f"https://cm.example.com/console/approvals/{call.id}"
    assert "hunter2" not in json.dumps(event)
    (line,) = [one for one in map(json.loads, audit.read_text().splitlines()) if one["event"] == "notified"]
    assert (line["about"], line["target"], line["approval"], line["result"], line["execution"]) == (
        "approval.asked",
        "ops",
        call.id,
        "delivered",
        outcome.id,
    )


async def test_a_pause_is_one_message_however_many_calls_wait(here: Place) -> None:
    receiver = Receiver()
    async with (
        listening(receiver.answer) as port,
        here.service(notify=receiver.settings(here.folder, port)) as service,
    ):
        code = """
import asyncio
await asyncio.gather(*(up.x.drop(n=n) for n in range(5)))
up.x.drop(n=9)
"""
        paused = await service.execute(code, caller=OWNER)
        await receiver.came.wait()
        receiver.came.clear()
        waiting = await service.executions.approvals(APPROVER, paused.id)
        decisions = [Decision(one.id, one.digest, "approved", "") for one in waiting]
        await service.executions.decide(decisions, APPROVER)
        await service.executions.resume(paused.id, OWNER, {})
        again = await service.executions.wait(paused.id, OWNER, 60)
        await receiver.came.wait()
    assert (len(waiting), again.status) == (5, "paused")
    first, second = receiver.verified
    assert first["data"]["also_waiting"] == ["up.x.drop"] * 4
    assert "also_waiting" not in second["data"]
    assert second["data"]["approval"] not in {one.id for one in waiting}


async def test_what_one_service_could_not_deliver_the_next_one_does(here: Place) -> None:
    receiver = Receiver(failures=1)
    async with listening(receiver.answer) as port:
        sections = {"notify": receiver.settings(here.folder, port)}
        async with here.service(**sections) as cm:
            await cm.execute("up.x.drop(n=1)", caller=OWNER)
        assert receiver.verified == []
        async with here.service(**sections) as cm, asyncio.timeout(200):
            await cm.executions.open()
            await receiver.came.wait()
    assert len(receiver.verified) == 1


PAUSES = """
import asyncio, json, sys
from codemode import Caller, CodeMode, Settings

async def main():
    async with CodeMode.from_settings(Settings.model_validate(json.loads(sys.argv[1]))) as cm:
        await cm.execute("up.x.drop(n=1)", caller=Caller("key-1"))
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_message_outlives_a_server_that_is_killed_while_it_sends(here: Place) -> None:
    receiver, held = Receiver(), asyncio.Event()
    ids: list[str] = []

    async def hold(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        ids.extend(line.split(": ")[1] for line in head.splitlines() if line.startswith("webhook-id"))
        held.set()
        await reader.read()

    port = free_port()
    settings = here.settings(name="gym", notify=receiver.settings(here.folder, port))
    given = json.dumps(settings.model_dump(mode="json", exclude_unset=True))
    async with listening(hold, port=port):
        server = await asyncio.create_subprocess_exec(sys.executable, "-c", PAUSES, given)
        async with asyncio.timeout(200):
            await held.wait()
        server.kill()
        await server.wait()
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as journal, journal:
        journal.execute("UPDATE outbox SET due_us = 0")  # as if the claim of the dead server had run out
    async with listening(receiver.answer, port=port), CodeMode.from_settings(settings) as cm, asyncio.timeout(200):
        await cm.executions.open()
        await receiver.came.wait()
        (message,) = await cm.executions._journal.outbox.list()
    assert [message.id] == ids
    assert len(receiver.verified) == 1


async def test_without_a_journal_targets_are_rejected(here: Place) -> None:
    settings = Receiver().settings(here.folder, 9)
    with pytest.raises(ConfigurationError, match=r"notify\.targets needs recorded executions"):
        async with here.service(notify=settings, journal={"enabled": False}):
            pass


async def test_the_command_sends_a_test_message_and_lists_messages(here: Place) -> None:
    receiver = Receiver()
    async with listening(receiver.answer) as port:
        settings = here.settings(name="gym", notify=receiver.settings(here.folder, port))
        file = here.folder / "codemode.yaml"
        file.write_text(json.dumps(settings.model_dump(mode="json", exclude_unset=True)), encoding="utf-8")
        delivered = await asyncio.to_thread(script, "notify", "test", "-c", str(file))
        assert (delivered.returncode, delivered.stdout) == (0, "ops: delivered\n")
        assert receiver.verified[0]["type"] == "test"
        wrong = await asyncio.to_thread(script, "notify", "test", "opps", "-c", str(file))
        assert wrong.returncode == 2
        assert "there is no target 'opps' in notify.targets; valid: ops; did you mean 'ops'?" in wrong.stderr
        async with here.service(name="gym", notify=receiver.settings(here.folder, port)) as cm:
            outcome = await cm.execute("up.x.drop(n=1)", caller=OWNER)
    listed = await asyncio.to_thread(script, "notify", "list", "-c", str(file))
    assert f"approval.asked {outcome.pending[0].id} to ops: delivered" in listed.stdout
    failed = await asyncio.to_thread(script, "notify", "test", "--json", "-c", str(file))
    assert failed.returncode == 1
    assert json.loads(failed.stdout) == [
        {"target": "ops", "delivered": False, "error": "127.0.0.1 cannot be reached (ConnectError)"}
    ]
    found = await asyncio.to_thread(script, "doctor", "-c", str(file))
    assert "1 target" in found.stdout


class Inbox:
    """Keeps each mail with its envelope. `handle_DATA` is aiosmtpd's name."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], str, bool]] = []

    async def handle_DATA(self, _: Any, session: Any, envelope: Any) -> str:
        self.mails.append((envelope.rcpt_tos, envelope.content.decode(), session.ssl is not None))
        return "250 taken"


@asynccontextmanager
async def mailing(inbox: Inbox, **options: Any) -> AsyncIterator[int]:
    """Serve an inbox and yield its port."""
    controller = Controller(inbox, hostname="127.0.0.1", port=free_port(), **options)
    await asyncio.to_thread(controller.start)
    try:
        yield controller.port
    finally:
        await asyncio.to_thread(controller.stop)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a PEM file with a certificate for 127.0.0.1 and its key."""
    import ipaddress

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file = tmp_path_factory.mktemp("tls") / "mail.pem"
    pem = serialization.Encoding.PEM
    file.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, *form))
    return file


NOTICE = Notice("msg_1", "approval.asked", "gym", "ex_1", approval="ap_1", tools=("bank.pay",))


async def test_mail_is_sent_after_starttls_and_a_login(certificate: Path) -> None:
    inbox, tls = Inbox(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    logins: list[Any] = []

    def login(*arguments: Any) -> AuthResult:
        logins.append(arguments[-1])
        return AuthResult(success=True)

    options = {"tls_context": tls, "require_starttls": True, "authenticator": login, "auth_required": True}
    async with mailing(inbox, **options) as port:
        trusted = ssl.create_default_context(cafile=str(certificate))
        server = MailServer("127.0.0.1", port, "starttls", "ann", "hunter2", trusted)
        await Mailbox(server, "cm@example.com", ("a@example.com", "b@example.com"), 10).send(NOTICE)
    ((recipients, text, is_encrypted),) = inbox.mails
    assert (recipients, is_encrypted) == (["a@example.com", "b@example.com"], True)
    assert "Subject: [gym] A call waits for approval: bank.pay" in text
    assert (logins[0].login, logins[0].password) == (b"ann", b"hunter2")


async def test_an_untrusted_certificate_ends_the_delivery_before_the_login(certificate: Path) -> None:
    inbox, tls = Inbox(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    async with mailing(inbox, tls_context=tls) as port:
        server = MailServer("127.0.0.1", port, "starttls", "ann", "hunter2")
        with pytest.raises(Undelivered, match=r"cannot be reached \(SSLCertVerificationError\)"):
            await Mailbox(server, "cm@example.com", ("a@example.com",), 10).send(NOTICE)
    assert inbox.mails == []


async def test_a_server_without_starttls_gets_nothing() -> None:
    inbox = Inbox()
    async with mailing(inbox) as port:
        server = MailServer("127.0.0.1", port, "starttls")
        with pytest.raises(Undelivered, match=r"does not take the mail \(SMTPNotSupportedError\)"):
            await Mailbox(server, "cm@example.com", ("a@example.com",), 10).send(NOTICE)
        await Mailbox(MailServer("127.0.0.1", port, "none"), "cm@example.com", ("a@example.com",), 10).send(NOTICE)
    assert len(inbox.mails) == 1


async def test_a_refused_recipient_is_a_failure() -> None:
    class Picky(Inbox):
        async def handle_RCPT(self, _: Any, __: Any, envelope: Any, address: str, ___: Any) -> str:
            if address.startswith("no"):
                return "550 hunter2 has no such box"
            envelope.rcpt_tos.append(address)
            return "250 fine"

    async with mailing(Picky()) as port:
        server = MailServer("127.0.0.1", port, "none")
        with pytest.raises(Undelivered, match=f"the mail server 127.0.0.1:{port} refused 1 recipients"):
            await Mailbox(server, "cm@example.com", ("no@example.com", "yes@example.com"), 10).send(NOTICE)


async def test_a_mail_server_that_is_away_is_named() -> None:
    from email.message import EmailMessage

    with pytest.raises(UpstreamUnreachable, match=r"the mail server 127\.0\.0\.1:9 cannot be reached"):
        await MailServer("127.0.0.1", 9, "none").send(EmailMessage(), timeout_s=2)
