"""Assign tool ids.

An id depends on its operation and on possible collisions, never on the order of the document. Ids have the form
`namespace.group.operation`. The group comes from the first tag, or from the path if the tag is missing or holds too
many operations. The operation comes from the `operationId` without a repeated group, else from method and path.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.catalog.identifiers import identifier, latin, legal, snake
from codemode.catalog.shortening import FILLERS, LONGEST_ID, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


#: The most operations of one group. Larger tags are divided: GitHub's largest has 204 operations, Graph's 673.
LARGEST_GROUP = 80

#: The most operations of a document whose only tag is used as a group.
LARGEST_ONLY_GROUP = 60

#: The fewest operations of a group that division creates.
_FEWEST_TOGETHER = 3

#: The group of operations without a usable tag or path.
_NO_GROUP = "core"

#: The largest share of one part in a useful division.
_MOST_IN_ONE_PART = 0.9


_VERSIONED = re.compile(r"_v\d")
_VERSION = re.compile(r"^(v\d+([._]\d+)*((alpha|beta|rc)\d*)?|api|rest|\d+(\.\d+)*)$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class OperationKey:
    """The parts that an id is derived from. `method` and `path` identify the operation in its document."""

    method: str
    path: str
    operation_id: str = ""
    tag: str = ""

    @property
    def key(self) -> str:
        """The identity of the operation (`GET /path`), by which ids are stored."""
        return f"{self.method.upper()} {self.path}"


def tool_ids(
    namespace: str, operations: Iterable[OperationKey], *, known_ids: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the id of every operation by its `key`.

    `known_ids` maps keys to ids of earlier loads. They are kept, and no other operation gets them.
    """
    kept = {key: id_ for key, id_ in (known_ids or {}).items() if id_.partition(".")[0] == namespace}
    wanted = {operation.key: operation for operation in operations}
    ids = {key: kept[key] for key in wanted if key in kept}
    taken = set(kept.values())
    pending = {key: operation for key, operation in sorted(wanted.items()) if key not in ids}
    groups = _groups(list(wanted.values()))
    for make in _CANDIDATES:
        proposed = {key: make(namespace, groups[key], operation) for key, operation in pending.items()}
        uses = Counter(proposed.values())
        settled = {key: id_ for key, id_ in proposed.items() if uses[id_] == 1 and id_ not in taken}
        ids.update(settled)
        taken.update(proposed.values())  # an ambiguous name is given to no operation
        pending = {key: operation for key, operation in pending.items() if key not in settled}
        if not pending:
            break
    for key, operation in pending.items():  # another operation is called like the digest of this one
        ids[key] = _told_apart(_from_operation_id(namespace, groups[key], operation), key, taken)
    return ids


def plain_ids(
    namespace: str, paths: Iterable[tuple[str, ...]], *, known_ids: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the ids of tools with their own names, such as GraphQL fields, by `"/".join(path)`.

    `paths` holds the groups, if any, and the name of each tool. Ids that are too long are shortened. Those that remain
    too long or ambiguous end in a digest. `known_ids` is as for `tool_ids`.
    """
    kept = {key: id_ for key, id_ in (known_ids or {}).items() if id_.partition(".")[0] == namespace}
    wanted = {"/".join(path): [identifier(part) for part in path] for path in paths}
    pending = {key: parts for key, parts in wanted.items() if key not in kept}
    proposed = {
        key: fit(namespace, ".".join(parts[:-1]), parts[-1]) if len(parts) > 1 else f"{namespace}.{parts[0]}"
        for key, parts in pending.items()
    }
    uses = Counter((*proposed.values(), *kept.values()))
    taken = set(uses)
    ids = {
        key: id_ if uses[id_] == 1 and len(id_) <= LONGEST_ID else _told_apart(id_, key, taken)
        for key, id_ in sorted(proposed.items())
    }
    return {key: kept.get(key) or ids[key] for key in wanted}


def _told_apart(id_: str, key: str, taken: set[str]) -> str:
    """Return an id that ends in a digest of the operation's key, and add it to those that are taken."""
    for text in itertools.chain((key,), (f"{key} {number}" for number in itertools.count(2))):
        candidate = f"{id_[: LONGEST_ID - 9].rstrip('_.')}_{_digest(text, 8)}"
        if candidate not in taken:
            break
    taken.add(candidate)
    return candidate


def plain_paths(operation: OperationKey) -> tuple[str, ...]:
    """Return the guessable ids of an operation, without namespace: by first tag, and by first path segment.

    Empty without an operationId. If the group of an operation was divided, they are aliases of its id.
    """
    full_name = snake(_without_generated_tail(operation))
    if not full_name:
        return ()
    segment = identifier(next(iter(_named_segments(operation.path)), _NO_GROUP))
    groups = dict.fromkeys((_tag_group(operation.tag) or segment, segment))
    return tuple(f"{group}.{_own_words(group, full_name)}" for group in groups)


def long_name(namespace: str, id_: str, operation: OperationKey) -> str:
    """Return the id of an operation without the length limit. Empty if `id_` was not shortened."""
    group = id_.removeprefix(f"{namespace}.").rpartition(".")[0]
    full_name = f"{namespace}.{group}.{_operation_name(group, operation)}"
    return full_name if len(full_name) > LONGEST_ID else ""


def _groups(operations: list[OperationKey]) -> dict[str, str]:
    """Return the group of every operation by its key. Dots separate the levels of a group."""
    members: dict[str, list[_GroupMember]] = defaultdict(list)
    only_tag = len({operation.tag for operation in operations}) == 1 and len(operations) > LARGEST_ONLY_GROUP
    for operation in operations:
        segments = tuple(part for segment in _named_segments(operation.path) if (part := latin(segment)))
        tag = "" if only_tag else _tag_group(operation.tag)
        members[tag or identifier(next(iter(segments), _NO_GROUP))].append(_GroupMember(operation, segments))
    return {
        member.operation.key: group
        for name, inside in members.items()
        for group, smaller in _divide(name, inside)
        for member in smaller
    }


@dataclass(frozen=True, slots=True)
class _GroupMember:
    """An operation of a group, and the path segments that may divide the group further."""

    operation: OperationKey
    segments: tuple[str, ...]

    def deeper(self) -> _GroupMember:
        return _GroupMember(self.operation, self.segments[1:])

    def without_prefix(self, known_words: set[str]) -> _GroupMember:
        """Return the member without the leading segments that the group name contains."""
        skipped = next(
            (index for index, part in enumerate(self.segments) if part not in known_words), len(self.segments)
        )
        return _GroupMember(self.operation, self.segments[skipped:])


def _divide(group: str, members: list[_GroupMember], levels: int = 2) -> Iterator[tuple[str, list[_GroupMember]]]:
    """Yield a group, divided if it is too large: by path segment, else by operationId."""
    if len(members) <= LARGEST_GROUP or not levels:
        yield group, members
        return
    rest: list[_GroupMember] = []
    for name, inside in sorted(_divide_once(group, members, rest).items()):
        if len(inside) < _FEWEST_TOGETHER or not name:
            rest += inside
        else:
            inner = legal(name) if group == _NO_GROUP else f"{group}.{legal(name)}"
            yield from _divide(inner, [member.deeper() for member in inside], levels - 1)
    yield group, rest


def _divide_once(group: str, members: list[_GroupMember], rest: list[_GroupMember]) -> dict[str, list[_GroupMember]]:
    """Divide a group by the first path segment that nearly all members do not share. The others join `rest`."""
    known_words = set(group.split("."))
    while True:
        members = [member.without_prefix(known_words) for member in members]
        parts = _grouped(members, lambda member: next(iter(member.segments), ""))
        name, largest = max(parts.items(), key=lambda part: (len(part[1]), part[0]))
        if len(largest) <= len(members) * _MOST_IN_ONE_PART:
            return parts
        rest += [member for other, inside in parts.items() if other != name for member in inside]
        if not name:
            return _grouped(largest, lambda member: _noun(member.operation, known_words))
        members = [member.deeper() for member in largest]


def _grouped(members: list[_GroupMember], part: Callable[[_GroupMember], str]) -> dict[str, list[_GroupMember]]:
    parts: dict[str, list[_GroupMember]] = defaultdict(list)
    for member in members:
        parts[part(member)].append(member)
    return parts


def _noun(operation: OperationKey, known_words: set[str]) -> str:
    """Return the noun of an operationId, such as `vpc` for `DescribeVpcEndpoints`."""
    name = operation.operation_id.removeprefix(f"{operation.method.upper()}_")
    words = [word for word in snake(name).split("_") if word not in known_words]
    return next((word for word in words[1:] if word not in FILLERS and not word.isdigit()), "")


def _tag_group(tag: str) -> str:
    parts = [identifier(part) for part in re.split(r"[./]", tag) if snake(part)]
    distinct = [part for index, part in enumerate(parts) if index == 0 or part != parts[index - 1]]
    return ".".join(distinct[:3])


def _named_segments(path: str) -> list[str]:
    return [segment for segment in _static_segments(path) if not _VERSION.match(segment)]


def _static_segments(path: str) -> list[str]:
    path = _PLACEHOLDER.sub("{}", path.partition("#")[0].partition("?")[0])
    return [segment for segment in path.split("/") if segment and "{}" not in segment]


def _from_operation_id(namespace: str, group: str, operation: OperationKey) -> str:
    name = _operation_name(group, operation)
    return fit(namespace, group, name) if name else _from_path(namespace, group, operation)


def _operation_name(group: str, operation: OperationKey) -> str:
    """Return the operationId in snake case without the group. Empty if it is missing or only repeats the path."""
    return "" if _repeats_path(operation) else _own_words(group, snake(_without_generated_tail(operation)))


def _own_words(group: str, name: str) -> str:
    if not name:
        return ""
    if _VERSIONED.search(group.rpartition(".")[2]):
        name = name.replace(f"_{group.replace('.', '_')}_", "_", 1)  # replaceCoreV1NamespacedPod in core_v1
    for prefix in dict.fromkeys((group.replace(".", "_"), group.rpartition(".")[2], group.partition(".")[0])):
        rest = name.removeprefix(f"{prefix}_")
        if rest != name and rest and not rest[0].isdigit():
            name = rest
            break
    return legal(name)


def _repeats_path(operation: OperationKey) -> bool:
    """Whether an operationId only repeats method and path: `PostChargesChargeRefund`.

    A GET without placeholders does not count: people write `get_memberships` for `GET /memberships` too.
    """
    if operation.method.lower() == "get" and "{" not in operation.path:
        return False
    words = snake(operation.operation_id).replace("_", "")
    path = operation.path.partition("#")[0].partition("?")[0]
    parts = [snake(operation.method), *(snake(part) for part in re.split(r"[/{}]", path))]
    joined = "".join(parts).replace("_", "")
    without_versions = "".join(part for part in parts if not _VERSION.match(part)).replace("_", "")
    return words in (joined, without_versions) and words != snake(operation.method)


def _from_path(namespace: str, group: str, operation: OperationKey) -> str:
    segments = [latin(segment) for segment in _static_segments(operation.path) if not _VERSION.match(segment)]
    inside = group.split(".")
    while segments and segments[0] in inside:
        segments = segments[1:]
    words = [word for word in segments if word and word not in inside]
    verb = _verb(operation, bool(words))
    if words and verb != "list":
        words[-1] = _singular(words[-1]) if verb == "create" or operation.path.rstrip("/").endswith("}") else words[-1]
    return fit(namespace, group, legal("_".join([verb, *words])))


def _singular(noun: str) -> str:
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def _from_whole_operation_id(namespace: str, group: str, operation: OperationKey) -> str:
    return fit(namespace, group, legal(snake(operation.operation_id)))


def _from_path_and_placeholders(namespace: str, group: str, operation: OperationKey) -> str:
    names = [snake(placeholder) for placeholder in _PLACEHOLDER.findall(operation.path)]
    base = _from_path(namespace, group, operation).rpartition(".")[2]
    if operation.method.upper() == "POST" and base.startswith("update"):
        base = base.replace("update", "create", 1)  # PATCH on the same path updates
    name = "_".join([base, "by", *names]) if names else f"{base}_{operation.method.lower()}"
    return fit(namespace, group, legal(name))


def _from_own_words(namespace: str, group: str, operation: OperationKey) -> str:
    """Return an id of the verb and the words of the path that the group does not have. The group stays whole."""
    known = {_singular(word) for word in re.split(r"[._]", group)}
    words = [word for word in _path_words(operation) if _singular(word) not in known]
    return _named_by(namespace, group, operation, words)


def _from_last_words(namespace: str, group: str, operation: OperationKey) -> str:
    return _named_by(namespace, group, operation, _path_words(operation)[-2:])


def _path_words(operation: OperationKey) -> list[str]:
    parts = "_".join(latin(segment) for segment in _named_segments(operation.path)).split("_")
    return [part for part in parts if part]


def _named_by(namespace: str, group: str, operation: OperationKey, words: list[str]) -> str:
    verb = _verb(operation, bool(words))
    if words and (verb == "create" or operation.path.rstrip("/").endswith("}")):
        words = [*words[:-1], _singular(words[-1])]
    return fit(namespace, group, legal("_".join([verb, *words])), keeps_group=True)


def _from_latin_operation_id(namespace: str, group: str, operation: OperationKey) -> str:
    return fit(namespace, group, legal(latin(operation.operation_id)))


def _from_digest(namespace: str, group: str, operation: OperationKey) -> str:
    base = _from_operation_id(namespace, group, operation)
    return f"{base[: LONGEST_ID - 9].rstrip('_')}_{_digest(operation.key, 8)}"


_CANDIDATES: tuple[Callable[[str, str, OperationKey], str], ...] = (
    _from_operation_id,
    _from_path,
    _from_whole_operation_id,
    _from_path_and_placeholders,
    _from_own_words,
    _from_last_words,
    _from_latin_operation_id,
    _from_digest,
)


def _verb(operation: OperationKey, has_words: bool) -> str:  # noqa: FBT001 -- a private helper of one caller
    is_item = operation.path.rstrip("/").endswith("}")
    match operation.method.upper():
        case "GET":
            return "list" if not is_item and (not has_words or operation.path.rstrip("/").endswith("s")) else "get"
        case "POST":
            return "update" if is_item else "create"
        case "PUT":
            return "replace"
        case "PATCH":
            return "update"
        case method:
            return method.lower()


def _without_generated_tail(operation: OperationKey) -> str:
    """Return the operationId without the path and method that FastAPI appends."""
    tail = re.sub(r"\W", "_", operation.path) + "_" + operation.method.lower()
    name = operation.operation_id
    for end in (tail, tail.replace("__", "_")):
        if name.endswith(end) and len(name) > len(end):
            return name.removesuffix(end)
    return name


def _digest(text: str, length: int) -> str:
    return hashlib.blake2s(text.encode()).hexdigest()[:length]
