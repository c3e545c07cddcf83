"""What an execution depends on besides its program: the policy, versions, where calls go, and definitions of tools.

Where calls go, and by which reference whose credentials they have, is kept in words; of the rest digests are kept.
Where one has changed its program might do something else than was recorded, or a call might mean something else than a
person approved: then it is not taken up again.
"""

from __future__ import annotations

import json
import platform
from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.definitions import native
from codemode.sources.destination import ADDRESS, CREDENTIALS, WAY
from sandbox import HASH_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.journal.base import NewExecution
    from codemode.executions.replay.record import Record
    from codemode.settings import PolicySettings
    from codemode.sources.destination import Destination

#: Read once: it is looked for among all packages that are installed.
_VERSION = version("codemode")

_known: WeakKeyDictionary[Tool, str] = WeakKeyDictionary()


#: That places are recorded: an execution of an earlier version has none.
_PLACES = "how places are recorded"
_OF_PLACES = (_PLACES, ADDRESS, CREDENTIALS, WAY)


def environment(
    policy: PolicySettings, destinations: Mapping[str, Destination], digest: Callable[[Any], str]
) -> dict[str, str]:
    """Digests, versions and places of what holds for every program of this server now; `digest` is a keyed one."""
    return {
        _PLACES: "1",
        **{
            name: value
            for source, destination in destinations.items()
            for name, value in destination.facts(source, digest).items()
        },
        "the policy": _digest(policy.model_dump(mode="json")),
        "the version of Python": platform.python_version(),
        "the version of codemode": _VERSION,
        "the hash seed of programs": HASH_SEED,
    }


def definition_digest(tool: Tool) -> str:
    """Digest of what a call of the tool means: its parameters, its effect, and the operation behind it."""
    found = _known.get(tool)
    if found is None:
        servers = getattr(tool.invocation, "servers", ())  # the base path may be that of the document
        found = _known[tool] = _digest([native(tool), tool.effect, tool.key, servers])
    return found


def changes(
    given: NewExecution, record: Record, now: Mapping[str, str], catalog: Catalog, role: str | None
) -> tuple[str, ...]:
    """What is not as it was when the execution began, or when it called a tool; each named. `role` is its owner's."""
    return (*_of_owner(given, role), *_of_server(given.digests, now), *_of_tools(record, catalog))


def _of_owner(given: NewExecution, role: str | None) -> Iterator[str]:
    if role is None:
        yield f"{given.owner} is not let in any more, or only known once it comes itself"
    elif role != given.role:
        yield f"the role of {given.owner} was {given.role}, and is {role}"


def moved(given: NewExecution, now: Mapping[str, str]) -> tuple[str, ...]:
    """Places that are not as they were when the execution began; each with what it was, and what it is."""
    names = {name for name in given.digests if name.startswith(_OF_PLACES)}
    return tuple(_of_server({name: value for name, value in given.digests.items() if name in names}, now))


def _of_server(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    if _PLACES not in then:
        yield "it was recorded by a version that did not record where calls go"
    for name, value in then.items():
        found = now.get(name, "")
        if found != value:
            is_readable = "version" in name or name.startswith((ADDRESS, CREDENTIALS))
            yield f"{name} was {value}, and is {found or 'unknown'}" if is_readable else f"{name} has changed"


def _of_tools(record: Record, catalog: Catalog) -> Iterator[str]:
    for name, digest in record.schemas.items():
        if name not in catalog:
            reason = catalog.unavailable.get(name.partition(".")[0])
            yield f"{name} is not there any more" if reason is None else f"{name} is unavailable: {reason}"
        elif definition_digest(catalog.get(name)) != digest:
            yield f"the definition of {name} has changed"


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
