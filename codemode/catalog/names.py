"""The ids of tools.

A name depends on what it names and on what it would collide with, never on the order in the document. Ids are
`namespace.group.operation`: the group from the first tag, or from the path where there is no tag or the tag says
nothing (it holds everything, or more than a person can browse); the operation from `operationId` without a repeated
group, else from method and path.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.catalog.identifiers import identifier, legal, snake
from codemode.catalog.shortening import FILLERS, LONGEST_ID, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


#: More operations than this in one tag are no group but a heap (GitHub's largest tag has 204, Graph's 673).
LARGEST_GROUP = 80

#: A single tag for a whole document of more than this many operations says nothing.
LARGEST_ONLY_GROUP = 60

#: Fewer operations than these are no group of their own.
_FEWEST_TOGETHER = 3

#: The group of what neither a tag nor a path puts into one.
_NO_GROUP = "core"

#: Where one part holds more than this of a heap, dividing by it leaves a heap.
_MOST_IN_ONE_PART = 0.9


_VERSIONED = re.compile(r"_v\d+\w*$")
_VERSION = re.compile(r"^(v\d+([._]\d+)*((alpha|beta|rc)\d*)?|api|rest|\d+(\.\d+)*)$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class OperationKey:
    """What an id is made from. `method` and `path` identify the operation in its document."""

    method: str
    path: str
    operation_id: str = ""
    tag: str = ""

    @property
    def key(self) -> str:
        """The identity of the operation, under which a given id is kept."""
        return f"{self.method.upper()} {self.path}"


def tool_ids(
    namespace: str, operations: Iterable[OperationKey], *, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The id of every operation by its `key`.

    `given` are ids given earlier, by key: they are kept, and nothing else may take them.
    """
    kept = {key: id_ for key, id_ in (given or {}).items() if id_.partition(".")[0] == namespace}
    wanted = {operation.key: operation for operation in operations}
    ids = {key: kept[key] for key in wanted if key in kept}
    taken = set(kept.values())
    open_ = {key: operation for key, operation in sorted(wanted.items()) if key not in ids}
    groups = _groups(list(wanted.values()))
    for make in _CANDIDATES:
        proposed = {key: make(namespace, groups[key], operation) for key, operation in open_.items()}
        uses = Counter(proposed.values())
        settled = {key: id_ for key, id_ in proposed.items() if uses[id_] == 1 and id_ not in taken}
        ids.update(settled)
        taken.update(proposed.values())  # a name that several wanted belongs to none of them
        open_ = {key: operation for key, operation in open_.items() if key not in settled}
        if not open_:
            break
    return ids


def plain_ids(
    namespace: str, paths: Iterable[tuple[str, ...]], *, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Ids of tools that have names of their own, by `"/".join(path)`: groups, if any, and name, in snake case.

    One that would be too long, or that two would have, is shortened or ends in a digest. `given` is as for `tool_ids`.
    """
    kept = {key: id_ for key, id_ in (given or {}).items() if id_.partition(".")[0] == namespace}
    wanted = {"/".join(path): [identifier(part) for part in path] for path in paths}
    open_ = {key: parts for key, parts in wanted.items() if key not in kept}
    proposed = {
        key: fit(namespace, ".".join(parts[:-1]), parts[-1]) if len(parts) > 1 else f"{namespace}.{parts[0]}"
        for key, parts in open_.items()
    }
    uses = Counter((*proposed.values(), *kept.values()))
    ids = {
        key: id_
        if uses[id_] == 1 and len(id_) <= LONGEST_ID
        else f"{id_[: LONGEST_ID - 9].rstrip('_.')}_{_digest(key, 8)}"
        for key, id_ in proposed.items()
    }
    return {key: kept.get(key) or ids[key] for key in wanted}


def plain_paths(operation: OperationKey) -> tuple[str, ...]:
    """Group and operation as anybody would guess them: by first tag, and by first segment of the path.

    None where there is no operationId. An id is one of them unless a group is a heap; then they are its aliases.
    """
    whole = snake(_without_generated_tail(operation))
    if not whole:
        return ()
    segment = identifier(next(iter(_named_segments(operation.path)), _NO_GROUP))
    groups = dict.fromkeys((_tag_group(operation.tag) or segment, segment))
    return tuple(f"{group}.{_own_words(group, whole)}" for group in groups)


def long_name(namespace: str, id_: str, operation: OperationKey) -> str:
    """The id that an operation would have if ids could be of any length; empty where `id_` was not shortened."""
    group = id_.removeprefix(f"{namespace}.").rpartition(".")[0]
    whole = f"{namespace}.{group}.{_operation_name(group, operation)}"
    return whole if len(whole) > LONGEST_ID else ""


def _groups(operations: list[OperationKey]) -> dict[str, str]:
    """The group of every operation by its key; dots in it are further levels."""
    members: dict[str, list[_Member]] = defaultdict(list)
    only_tag = len({operation.tag for operation in operations}) == 1 and len(operations) > LARGEST_ONLY_GROUP
    for operation in operations:
        segments = tuple(part for segment in _named_segments(operation.path) if (part := snake(segment)))
        tag = "" if only_tag else _tag_group(operation.tag)
        members[tag or identifier(next(iter(segments), _NO_GROUP))].append(_Member(operation, segments))
    return {
        member.operation.key: group
        for name, inside in members.items()
        for group, smaller in _divided(name, inside)
        for member in smaller
    }


@dataclass(frozen=True, slots=True)
class _Member:
    """An operation of a group, and the segments of its path that may divide the group further."""

    operation: OperationKey
    segments: tuple[str, ...]

    def deeper(self) -> _Member:
        return _Member(self.operation, self.segments[1:])

    def beyond(self, said: set[str]) -> _Member:
        """Without the segments at the front that the group's name says already."""
        skipped = next((index for index, part in enumerate(self.segments) if part not in said), len(self.segments))
        return _Member(self.operation, self.segments[skipped:])


def _divided(group: str, members: list[_Member], levels: int = 2) -> Iterator[tuple[str, list[_Member]]]:
    """A group as it is, or, where it is no group but a heap, as groups inside of it: by path, else by operationId."""
    if len(members) <= LARGEST_GROUP or not levels:
        yield group, members
        return
    rest: list[_Member] = []
    for name, inside in sorted(_parts(group, members, rest).items()):
        if len(inside) < _FEWEST_TOGETHER or not name:
            rest += inside
        else:
            inner = legal(name) if group == _NO_GROUP else f"{group}.{legal(name)}"
            yield from _divided(inner, [member.deeper() for member in inside], levels - 1)
    yield group, rest


def _parts(group: str, members: list[_Member], rest: list[_Member]) -> dict[str, list[_Member]]:
    """What a heap is divided into. A segment that nearly all share divides nothing; what lacks it joins `rest`."""
    said = set(group.split("."))
    while True:
        members = [member.beyond(said) for member in members]
        parts = _by(members, lambda member: next(iter(member.segments), ""))
        name, largest = max(parts.items(), key=lambda part: (len(part[1]), part[0]))
        if len(largest) <= len(members) * _MOST_IN_ONE_PART:
            return parts
        rest += [member for other, inside in parts.items() if other != name for member in inside]
        if not name:
            return _by(largest, lambda member: _noun(member.operation, said))
        members = [member.deeper() for member in largest]


def _by(members: list[_Member], part: Callable[[_Member], str]) -> dict[str, list[_Member]]:
    parts: dict[str, list[_Member]] = defaultdict(list)
    for member in members:
        parts[part(member)].append(member)
    return parts


def _noun(operation: OperationKey, said: set[str]) -> str:
    """What an operation is about, where its path does not say: `DescribeVpcEndpoints` is about `vpc`."""
    name = operation.operation_id.removeprefix(f"{operation.method.upper()}_")
    words = [word for word in snake(name).split("_") if word not in said]
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
    """The operationId in snake case, without the group that it repeats; empty where there is none of its own."""
    return "" if _repeats_path(operation) else _own_words(group, snake(_without_generated_tail(operation)))


def _own_words(group: str, name: str) -> str:
    if not name:
        return ""
    if _VERSIONED.search(group):
        name = name.replace(f"_{group.replace('.', '_')}_", "_", 1)  # replaceCoreV1NamespacedPod in core_v1
    for prefix in dict.fromkeys((group.replace(".", "_"), group.rpartition(".")[2], group.partition(".")[0])):
        rest = name.removeprefix(f"{prefix}_")
        if rest != name and rest and not rest[0].isdigit():
            name = rest
            break
    return legal(name)


def _repeats_path(operation: OperationKey) -> bool:
    """Whether an operationId is but method and path in other words: `PostChargesChargeRefund`.

    `get_memberships` of `GET /memberships` is what a person would write too.
    """
    if operation.method.lower() == "get" and "{" not in operation.path:
        return False
    words = snake(operation.operation_id).replace("_", "")
    path = operation.path.partition("#")[0].partition("?")[0]
    said = [snake(operation.method), *(snake(part) for part in re.split(r"[/{}]", path))]
    whole = "".join(said).replace("_", "")
    short = "".join(part for part in said if not _VERSION.match(part)).replace("_", "")
    return words in (whole, short) and words != snake(operation.method)


def _from_path(namespace: str, group: str, operation: OperationKey) -> str:
    segments = [snake(segment) for segment in _static_segments(operation.path) if not _VERSION.match(segment)]
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


def _from_path_and_holes(namespace: str, group: str, operation: OperationKey) -> str:
    names = [snake(hole) for hole in _PLACEHOLDER.findall(operation.path)]
    base = _from_path(namespace, group, operation).rpartition(".")[2]
    if operation.method.upper() == "POST" and base.startswith("update"):
        base = base.replace("update", "create", 1)  # PATCH updates beside it
    name = "_".join([base, "by", *names]) if names else f"{base}_{operation.method.lower()}"
    return fit(namespace, group, legal(name))


def _from_digest(namespace: str, group: str, operation: OperationKey) -> str:
    base = _from_operation_id(namespace, group, operation)
    return f"{base[: LONGEST_ID - 9].rstrip('_')}_{_digest(operation.key, 8)}"


_CANDIDATES: tuple[Callable[[str, str, OperationKey], str], ...] = (
    _from_operation_id,
    _from_path,
    _from_whole_operation_id,
    _from_path_and_holes,
    _from_digest,
)


def _verb(operation: OperationKey, has_words: bool) -> str:  # noqa: FBT001 -- a private helper of one caller
    ends_in_hole = operation.path.rstrip("/").endswith("}")
    match operation.method.upper():
        case "GET":
            return "list" if not ends_in_hole and (not has_words or operation.path.rstrip("/").endswith("s")) else "get"
        case "POST":
            return "update" if ends_in_hole else "create"
        case "PUT":
            return "replace"
        case "PATCH":
            return "update"
        case method:
            return method.lower()


def _without_generated_tail(operation: OperationKey) -> str:
    """FastAPI writes `name` + path + method into its ids: the name alone says it."""
    tail = re.sub(r"\W", "_", operation.path) + "_" + operation.method.lower()
    name = operation.operation_id
    for end in (tail, tail.replace("__", "_")):
        if name.endswith(end) and len(name) > len(end):
            return name.removesuffix(end)
    return name


def _digest(text: str, length: int) -> str:
    return hashlib.blake2s(text.encode()).hexdigest()[:length]
