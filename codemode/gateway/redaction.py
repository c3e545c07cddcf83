"""Remove secrets from arguments and texts before they are recorded.

A value is secret by its schema (`writeOnly`, `format: password`), by its name (`token`, `client_secret`, …), or because
it is known: the caller's credentials, and values that were secret elsewhere in the same arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.value_count import MOST_VALUES, holds_too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

REDACTED = "[redacted]"

#: Shorter known secrets are not removed from texts, because ordinary words contain them.
_SHORTEST = 4

#: Maximum number of known secrets that are removed from a text. With more, the whole text is removed.
_MOST_KNOWN = 100

#: Maximum depth in a recursive schema.
_DEEPEST = 12

_NAMES = (
    r"pass(?:word|wd|phrase|code)|secrets?|(?:access|refresh|auth|id|api|bearer|session|csrf)?_?tokens?|api_?keys?"
    r"|private_?keys?|credentials?|authorization|cookie|signing_?key|client_?secret|otp|pin|cvc|cvv"
)
_SECRET_NAME = re.compile(rf"(?:^|.*[_\-.\s])?(?:{_NAMES})$", re.IGNORECASE)
_SECRET_FIELD = re.compile(
    rf'("(?:[A-Za-z0-9_.-]*[_.-])?(?:{_NAMES})"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^,}}\]\s]+)', re.IGNORECASE
)
_PAGING = re.compile(r"(?:page|next|continuation|sync|cursor)_?tokens?$", re.IGNORECASE)
_LONGEST_NAME = 80
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def redacted(_: object) -> str:
    """Return a placeholder that is the same for every secret."""
    return REDACTED


class Redaction:
    """Removes secrets from the records of one call. `known` texts are secret everywhere.

    `mask` returns the placeholder of a secret argument.
    """

    def __init__(self, known: Iterable[str] = (), mask: Callable[[object], str] = redacted) -> None:
        self._mask = mask
        #: Names of arguments that lost a text because it is secret in another one. A person would not see the whole.
        self.hides: tuple[str, ...] = ()
        self._known = tuple(sorted({text for text in known if len(text) >= _SHORTEST}, key=len, reverse=True))

    def arguments(self, arguments: Mapping[str, Any], tool: Tool | None) -> tuple[dict[str, Any], Redaction]:
        """Return the arguments without secrets, and a redaction that also knows the secrets found in them."""
        if holds_too_many(arguments):
            return {"…": f"more than {MOST_VALUES:,} values"}, self
        found: list[str] = []
        shown = {}
        for name, value in arguments.items():
            parameter = tool.parameter(name) if tool is not None else None
            schema = parameter.schema if parameter else (tool.details.body if tool is not None else None)
            wire_name = parameter.wire_name if parameter else name
            by_schema = _is_secret_parameter(tool, parameter) if tool is not None and parameter is not None else None
            secret = is_secret_name(name) or is_secret_name(wire_name)
            shown[name] = self._value(value, schema, found, secret=secret, depth=0, by_schema=by_schema)
        wiser = Redaction((*self._known, *found), self._mask)
        whole = {name: wiser._value(value, None, [], secret=False, depth=0) for name, value in shown.items()}
        secrets = [text for text in found if len(text) >= _SHORTEST]
        wiser.hides = tuple(name for name, value in shown.items() if secrets and _holds(value, secrets))
        return whole, wiser

    def text(self, text: str) -> str:
        """Return a text without known secrets, and without values of fields with secret names."""
        if len(self._known) > _MOST_KNOWN:
            return REDACTED
        for secret in self._known:
            text = text.replace(secret, REDACTED)
        return _SECRET_FIELD.sub(rf'\1"{REDACTED}"', text) if '"' in text else text

    def _value(
        self,
        value: Any,
        schema: Schema | None,
        found: list[str],
        *,
        secret: bool,
        depth: int,
        by_schema: bool | None = None,
    ) -> Any:
        if value is None or isinstance(value, bool):
            return value
        by_name = secret and not isinstance(value, (int, float))  # `max_tokens` is a number
        if by_schema is None:
            by_schema = schema is not None and _is_secret(schema)
        if by_name or by_schema:
            found += _texts(value)
            return self._mask(value)
        if isinstance(value, str):
            return self.text(value)
        inner = schema if depth < _DEEPEST else None
        if isinstance(value, list):
            items = inner.resolved().get("items") if inner is not None else None
            of_items = inner.at(items) if inner is not None and isinstance(items, Mapping) else None
            return [self._value(item, of_items, found, secret=False, depth=depth + 1) for item in value]
        if isinstance(value, Mapping):
            parts = _properties(inner) if inner is not None else {}
            return {
                self.text(str(key)): self._value(
                    part, parts.get(str(key)), found, secret=is_secret_name(str(key)), depth=depth + 1
                )
                for key, part in value.items()
            }
        return value


def is_secret_name(name: str) -> bool:
    """Return whether a field name indicates a secret."""
    plain = _HUMP.sub("_", name[-_LONGEST_NAME:])
    return bool(_SECRET_NAME.match(plain)) and not _PAGING.search(plain)


def _properties(schema: Schema) -> dict[str, Schema]:
    """Return the properties of a schema and of its alternatives."""
    resolved = schema.resolved()
    found = resolved.properties()
    for variant in resolved.variants():
        for name, part in variant.resolved().properties().items():
            found.setdefault(name, part)
    return found


def _is_secret_parameter(tool: Tool, parameter: Parameter) -> bool:
    """Return whether a parameter is secret by its schema. The result is cached."""
    known = _secret_parameters.setdefault(tool, {})
    if parameter.name not in known:
        known[parameter.name] = _is_secret(parameter.schema)
    return known[parameter.name]


_secret_parameters: WeakKeyDictionary[Tool, dict[str, bool]] = WeakKeyDictionary()


def _is_secret(schema: Schema) -> bool:
    resolved = schema.resolved()
    return any(
        part.first("writeOnly") is True or part.first("format") == "password"
        for part in (schema, resolved, *resolved.variants())
    )


def _holds(value: Any, secrets: Sequence[str]) -> bool:
    """Return whether a text or a field name in JSON data holds one of these."""
    if isinstance(value, Mapping):
        return any(_holds(str(key), secrets) or _holds(part, secrets) for key, part in value.items())
    if isinstance(value, list):
        return any(_holds(part, secrets) for part in value)
    return isinstance(value, str) and any(secret in value for secret in secrets)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
