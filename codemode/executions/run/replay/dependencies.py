"""The dependencies of an execution besides its program: policy, versions, call locations and tool definitions.

Locations and credential references are recorded as text, everything else as digests. If a dependency has changed, the
program might behave differently, or a call might mean something else than a person approved. The execution is then not
continued.
"""

from __future__ import annotations

import json
import platform
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.content import by_id
from codemode.catalog.definitions import whole_definition
from codemode.sources.destination import ADDRESS, CREDENTIALS, WAY
from sandbox import HASH_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import NewExecution
    from codemode.gateway.call import JudgedCall
    from codemode.gateway.gateway import Gateway
    from codemode.settings import PolicySettings
    from codemode.sources.destination import Destination

#: The earliest version of codemode whose executions this version continues by replay, and that continues this one's.
#: Set it to the coming release if a change makes a recorded program behave differently; see
#: docs/contributing/migrations.md.
REPLAYS_FROM = "0.1.0"

_known: WeakKeyDictionary[Tool, str] = WeakKeyDictionary()


#: Marks records that contain locations. Earlier versions did not record them.
_PLACES = "how places are recorded"
_OF_PLACES = (_PLACES, ADDRESS, CREDENTIALS, WAY)


def environment(
    policy: PolicySettings,
    destinations: Mapping[str, Destination],
    digest: Callable[[Any], str],
    *,
    engine: str,
    plugins: str,
) -> dict[str, str]:
    """Return digests, versions and locations that apply to every program of this server. `digest` is keyed.

    `engine` is the name of the engine with its version. `plugins` are the names and versions of the plugins, which
    decide on calls and shape answers.
    """
    return {
        _PLACES: "1",
        **{
            name: value
            for source, destination in destinations.items()
            for name, value in destination.facts(source, digest).items()
        },
        "the policy": _digest(policy.model_dump(mode="json")),
        "the version of the engine": engine,
        "the version of Python": platform.python_version(),
        "the version of codemode": REPLAYS_FROM,
        "the list of plugins with versions": plugins,
        "the hash seed of programs": HASH_SEED,
    }


def definition_digest(tool: Tool) -> str:
    """Return the digest of a tool's meaning: its parameters, its effect, and the operation behind it."""
    digest = _known.get(tool)
    if digest is None:
        servers = getattr(tool.invocation, "servers", ())  # the base path may come from the source document
        digest = _known[tool] = _digest([whole_definition(tool), tool.effect, tool.key, servers])
    return digest


def meaning(tool: Tool | None, gateway: Gateway, digest: Callable[[Any], str], mark: str = "") -> list[Any]:
    """Return what an approval holds for: one definition, one location, and one account, by its `account_mark`.

    `digest` is keyed.
    """
    if tool is None:
        return []
    means = [definition_digest(tool), gateway.destination(tool).facts(tool.source, digest)]
    return [*means, mark] if mark else means


def account_mark(judged: JudgedCall, digest: Callable[[Any], str]) -> str:
    """Return what tells the account of a call from all others, "" if its source has no choice. `digest` is keyed."""
    tool, account = judged.tool, judged.account
    return "" if tool is None or account is None else digest([tool.source, *account.key])


def call_facts(tool: str, path: str, arguments: Mapping[str, Any]) -> list[Any]:
    """Return what the digest of a call is made of. A page of a list has a path with a slash.

    Content stands there by its id, which is a digest, so that a replay needs no stored content.
    """
    plain = by_id(arguments)
    return [tool, "page", plain] if "/" in path else [tool, plain]


def changes(
    recorded: NewExecution, record: Record, now: Mapping[str, str], catalog: Catalog, role: str | None
) -> tuple[str, ...]:
    """Return a description of each dependency that has changed. `role` is the owner's current role."""
    return (*_of_owner(recorded, role), *_of_server(recorded.digests, now), *_of_tools(record, catalog))


def _of_owner(recorded: NewExecution, role: str | None) -> Iterator[str]:
    if role is None:
        yield f"{recorded.owner} no longer has access, or its role is unknown until it sends a request"
    elif role != recorded.role:
        yield f"the role of {recorded.owner} was {recorded.role} and is now {role}"


def moved(recorded: NewExecution, now: Mapping[str, str]) -> tuple[str, ...]:
    """Return a description of each changed location, with the old and the new value."""
    names = {name for name in recorded.digests if name.startswith(_OF_PLACES)}
    return tuple(_of_server({name: value for name, value in recorded.digests.items() if name in names}, now))


def _of_server(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    if _PLACES not in then:
        yield "it was recorded by an earlier version, which did not record where calls go"
    for name, value in then.items():
        current = now.get(name, "")
        if current != value:
            is_readable = "version" in name or name.startswith((ADDRESS, CREDENTIALS))
            yield f"{name} was {value} and is now {current or 'unknown'}" if is_readable else f"{name} has changed"


def _of_tools(record: Record, catalog: Catalog) -> Iterator[str]:
    for name, digest in record.schemas.items():
        if name not in catalog:
            reason = catalog.unavailable.get(name.partition(".")[0])
            yield f"{name} no longer exists" if reason is None else f"{name} is unavailable: {reason}"
        elif definition_digest(catalog.get(name)) != digest:
            yield f"the definition of {name} has changed"


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
