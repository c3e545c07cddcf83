"""Who is let in: keys, tokens, and nobody else."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from codemode.executions.types.records import NewExecution
from codemode.gateway.caller import Caller
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.auth.tokens import TokenCheck
from codemode.settings import Settings, TokenSettings
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwks(**keys: Any) -> bytes:
    makers: dict[str, tuple[Any, str]] = {"rsa": (RSAAlgorithm, "RS256"), "ec": (ECAlgorithm, "ES256")}
    made = []
    for name, key in keys.items():
        algorithm, alg = makers[name.partition("_")[0]]
        made.append({**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, "alg": alg, "use": "sig"})
    return json.dumps({"keys": made}).encode()


class Issuer:
    """An issuer's key set over HTTP; `asked` counts the questions."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.asked = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(self.body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + self.body)


@asynccontextmanager
async def issuer(folder: Path, **settings: Any) -> AsyncIterator[tuple[Callers, Issuer]]:
    serving = Issuer(jwks(rsa=RSA_KEY, ec=EC_KEY))
    async with listening(serving.answer) as port:
        url = f"http://127.0.0.1:{port}/keys"
        given = {"issuer": "https://issuer", "audience": "codemode", "jwks_url": url, "roles": {"staff": "support"}}
        check = TokenCheck(TokenSettings.model_validate({**given, **settings}))
        yield Callers({}, KeyFile(folder / "keys.json"), tokens=check, roles=("default", "support")), serving


def token(key: Any = RSA_KEY, kid: str = "rsa", algorithm: str = "RS256", **claims: Any) -> str:
    now = time.time()
    usual = {"iss": "https://issuer", "aud": "codemode", "sub": "ann", "exp": now + 3600, "iat": now, "role": "staff"}
    whole = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    return "Bearer " + jwt.encode(whole, key, algorithm=algorithm, headers={"kid": kid})


async def test_a_token_of_the_issuer_gives_its_bearer_a_role(tmp_path: Path) -> None:
    async with issuer(tmp_path) as (callers, _):
        assert not callers.is_open
        for presented in (token(), token(EC_KEY, "ec", "ES256"), token(role=["guest", "staff"])):
            found = await callers.identify(presented)
            assert found is not None
            assert (found.id, found.role) == ("token:https://issuer#ann", "support")
            assert found.secrets == (presented.removeprefix("Bearer "),)


FORGED = {
    "expired": token(exp=time.time() - 100),
    "not yet": token(nbf=time.time() + 1_000_000, exp=time.time() + 2_000_000),  # also after a long run of tests
    "another audience": token(aud="others"),
    "another issuer": token(iss="https://evil"),
    "no subject": token(sub=None),
    "no end": token(exp=None),
    "no role": token(role="guest"),
    "a stranger's key": token(STRANGER),
    "a stranger's key under another name": token(STRANGER, "stranger"),
    "an algorithm that is not allowed": token(algorithm="RS512"),
    "the public key as a secret": token("x" * 64, algorithm="HS256"),
    "a key of another kind": token(EC_KEY, "rsa", "ES256"),
    "the wrong algorithm for the key": token(RSA_KEY, "ec", "RS256"),
    "no algorithm": "Bearer " + jwt.encode({"sub": "ann", "iss": "https://issuer", "aud": "codemode"}, "", "none"),
    "no token": "Bearer a.b.c",
    "too long": "Bearer " + "a" * 20_000 + ".b.c",
    "another scheme": token().replace("Bearer", "Basic"),
}


@pytest.mark.parametrize("presented", FORGED.values(), ids=FORGED)
async def test_a_token_that_is_wrong_in_any_way_opens_nothing(tmp_path: Path, presented: str) -> None:
    async with issuer(tmp_path) as (callers, _):
        assert await callers.identify(presented) is None


async def test_a_token_that_is_authorized_by_its_leeway_is_good_for_as_long(tmp_path: Path) -> None:
    async with issuer(tmp_path, leeway_s=300) as (callers, _):
        found = await callers.identify(token(exp=time.time() - 100))
        assert found is not None
        assert found.is_still_good()
        assert callers.role_of(started_by(found.id, found.role, good_until=found.good_until)) == "support"


async def test_a_signature_that_was_changed_opens_nothing(tmp_path: Path) -> None:
    async with issuer(tmp_path) as (callers, _):
        head, body, signature = token().split(".")
        assert await callers.identify(f"{head}.{body}.{signature[:-4]}AAAA") is None


async def test_keys_are_asked_for_once_and_not_for_every_unknown_name(tmp_path: Path) -> None:
    async with issuer(tmp_path) as (callers, serving):
        await asyncio.gather(*(callers.identify(token()) for _ in range(5)))
        for number in range(5):
            await callers.identify(token(kid=f"unknown {number}"))
        assert serving.asked == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"keys": []}', b'{"keys": [{"kty": "oct", "k": "eA"}]}', b'{"keys": 5}', b"[" * 100_000],
)
async def test_an_issuer_that_answers_nonsense_opens_nothing(tmp_path: Path, body: bytes) -> None:
    async with issuer(tmp_path) as (callers, serving):
        serving.body = body
        assert await callers.identify(token()) is None


async def test_a_role_for_those_without_one_can_be_given(tmp_path: Path) -> None:
    async with issuer(tmp_path, default_role="default") as (callers, _):
        found = await callers.identify(token(role=None))
        assert found is not None
        assert found.role == "default"


async def test_keys_of_the_configuration_and_of_the_file_open_with_their_roles(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    callers = Callers({"configured": Caller("c", "support")}, file, roles=("default", "support"))
    _, made = file.create(role="support")
    _, retired = file.create(role="a role that is gone")
    for presented, role in (("configured", "support"), (made, "support")):
        found = await callers.identify(f"Bearer {presented}")
        assert found is not None
        assert found.role == role
        assert presented not in repr(found)
    for wrong in (f"Bearer {retired}", "Bearer ", "Bearer", "", "Bearer configure", "Basic configured", "configured"):
        assert await callers.identify(wrong) is None


def started_by(owner: str, role: str = "support", **settings: Any) -> NewExecution:
    return NewExecution("ex_1", owner, role, "", bytes(32), 0, settings)


def test_the_role_of_today_of_who_started_something(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    callers = Callers({"configured": Caller("configured:1", "approver")}, file, roles=("default", "support"))
    assert Callers({}, file).role_of(started_by("anybody")) == "support"
    key, _ = file.create(role="support")
    retired, _ = file.create(role="a role that is gone")
    late, _ = file.create(role="support", lifetime_s=0)
    assert callers.role_of(started_by(f"key:{key.id}", role="default")) == "support"
    assert callers.role_of(started_by("configured:1")) == "approver"
    assert callers.role_of(started_by("a person of an application that has keys of its own")) == "support"
    file.revoke(key.id)
    gone = (f"key:{key.id}", f"key:{retired.id}", f"key:{late.id}", "key:none", "configured:2", "anybody", "token:x#y")
    assert [callers.role_of(started_by(owner)) for owner in gone] == [None] * 7


async def test_a_read_only_key_makes_its_caller_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER", "reading")
    monkeypatch.setenv("WRITER", "writing")
    keys = [{"env": "READER", "read_only": True}, {"env": "WRITER"}]
    settings = Settings.model_validate({"server": {"keys": keys}, "state_folder": str(tmp_path)})
    _, created = KeyFile(settings.state() / "keys.json", project=settings.project).create(
        role="default", read_only=True
    )
    callers = Callers.of(settings)
    found = [await callers.identify(f"Bearer {key}") for key in (created, "reading", "writing")]
    assert [caller.read_only if caller else None for caller in found] == [True, True, False]


def test_a_key_that_has_become_read_only_continues_nothing_that_it_started_before(tmp_path: Path) -> None:
    narrowed = Caller("configured:1", "support", read_only=True)
    callers = Callers({"configured": narrowed}, KeyFile(tmp_path / "keys.json"))
    assert callers.role_of(started_by("configured:1")) is None
    assert callers.role_of(started_by("configured:1", read_only=True)) == "support"


async def test_what_a_token_allowed_holds_until_it_expires(tmp_path: Path) -> None:
    async with issuer(tmp_path) as (callers, _):
        found = await callers.identify(token())
        assert found is not None
        assert found.good_until is not None
        given = started_by(found.id, found.role, good_until=found.good_until)
        assert callers.role_of(given) == "support"
        assert callers.role_of(started_by(found.id, "another role", good_until=found.good_until)) is None
        assert callers.role_of(started_by("token:https://evil#ann", good_until=found.good_until)) is None
        assert callers.role_of(started_by(found.id, good_until=time.time() - 1)) is None


def test_nobody_needs_a_key_until_there_is_one_and_ever_after(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    callers = Callers({}, file)
    assert callers.is_open
    key, _ = KeyFile(tmp_path / "keys.json").create(role="default")
    assert not callers.is_open
    KeyFile(tmp_path / "keys.json").revoke(key.id)
    assert not callers.is_open


def test_settings_name_keys_flat_or_nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "aaaa")
    for key in ({"env": "A_KEY", "role": "support"}, {"secret": {"env": "A_KEY"}, "role": "support"}):
        made = Settings.model_validate(
            {"server": {"keys": [key]}, "policy": {"roles": ["support"]}, "state_folder": str(tmp_path)}
        )
        found = asyncio.run(Callers.of(made).identify("Bearer aaaa"))
        assert found is not None
        assert (found.role, found.id) == ("support", f"configured:{Callers.of(made)._configured[0][0].hex()[:12]}")


async def test_where_an_earlier_version_had_keys_nobody_comes_in_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    earlier = KeyFile(tmp_path / "codemode" / "keys.json")
    _, text = earlier.create(role="default")
    settings = Settings(name="shop")
    callers = Callers.of(settings)
    assert not callers.is_open
    assert await callers.identify(f"Bearer {text}") is None
    assert "is not used: an earlier version stored the state of all projects there" in caplog.text
    settings.state().mkdir()
    (tmp_path / "codemode" / "keys.json").rename(settings.state() / "keys.json")
    assert await Callers.of(settings).identify(f"Bearer {text}") is not None
    assert await Callers.of(Settings(name="other")).identify(f"Bearer {text}") is None


def test_a_server_whose_keys_were_moved_to_a_database_requires_a_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(state_folder=tmp_path)
    assert Callers.of(settings).is_open
    (tmp_path / "keys.json.moved").write_text("{}")
    assert not Callers.of(settings).is_open
    assert f"{tmp_path}/keys.json.moved" in caplog.text
