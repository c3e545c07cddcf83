"""Construction of one HTTP request from validated arguments, and a check that it matches its declaration.

The check reads the finished request: same scheme, host and port, same number of path segments, fixed segments
unchanged, no undeclared query names. It does not depend on how the request was built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from codemode.catalog.tool import Location
from codemode.errors import ArgumentsInvalid
from codemode.transports.http import styles
from codemode.transports.http.body import encode_body
from codemode.transports.http.escaping import (
    Unsafe,
    cookie_text,
    header_text,
    path_text,
    plain_name,
    query_text,
    separator_text,
)
from codemode.transports.http.method_override import check_overrides

if TYPE_CHECKING:
    from codemode.catalog.tool import Parameter, Tool
    from codemode.transports.content import OwnedContents
    from codemode.transports.http.invocation import HttpInvocation

#: Longest URL. Common servers reject longer request lines (nginx and Apache: 8 KB, Node.js and IIS: 16 KB).
LONGEST_URL = 16_000

_HOLE = re.compile(r"\{([^{}]*)\}")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+(;[ -~]*)?")
_LITERAL_SAFE = "!$&'()*+,;=:@~%"

#: Characters that parsers of URLs remove, or read as the end of the request target.
_UNSAFE_IN_URL = re.compile(r"[^!-~]|[#\\]")
_ELSEWHERE = "these arguments would change where the request goes"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request without its credentials. `url` is absolute and percent-encoded.

    `is_keyed` means that a header carries an idempotency key, so the service does the work of several attempts once.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    cookies: tuple[str, ...] = ()
    is_keyed: bool = False


class RequestPlan:
    """The construction plan for the requests of one tool, computed once."""

    def __init__(self, tool: Tool, base_url: str) -> None:
        invocation: HttpInvocation = tool.invocation
        self._tool = tool
        self._invocation = invocation
        self._base_url = base_url
        self._is_plain_base = not {"?", "#"} & set(base_url)
        self._by_location: dict[Location, list[Parameter]] = {}
        for parameter in tool.parameters:
            self._by_location.setdefault(parameter.location, []).append(parameter)
        self._plain_names = {
            location: {plain_name(parameter.wire_name) for parameter in parameters}
            for location, parameters in self._by_location.items()
        }
        self._plain_names.setdefault(Location.QUERY, set()).update(plain_name(name) for name, _ in invocation.query)
        in_path = {parameter.wire_name: parameter for parameter in self._by_location.get(Location.PATH, ())}
        self._segments = tuple(_parse_segment(text, in_path) for text in invocation.path.strip("/").split("/"))
        self._ends_in_slash = len(invocation.path) > 1 and invocation.path.endswith("/")
        self._fixed_query = "&".join(_joined(key, value) for key, value in invocation.query)
        self._accept = _accept(invocation)

    def build(self, arguments: Mapping[str, Any], contents: OwnedContents) -> HttpRequest:
        """Return the request for validated arguments. Raises ArgumentsInvalid for values that cannot be sent."""
        path = self._path(arguments)
        query = self._query(arguments)
        url = f"{self._base_url}{path}" + (f"?{query}" if query else "")
        if len(url) > LONGEST_URL:
            message = f"the URL would be {len(url):,} characters long, and servers accept {LONGEST_URL:,}: send less"
            raise ArgumentsInvalid(self._tool.id, message)
        headers = [("Accept", self._accept), *self._headers(arguments)]
        value, body, media_type = self._body(arguments, contents)
        if body is not None:
            headers.append(("Content-Type", media_type))
        queried = parse_qsl(query, keep_blank_values=True) if query else []
        self._check(url, queried, arguments)
        check_overrides(self._tool, [*headers, *queried, *_fields(value, body, media_type)])
        return HttpRequest(self._invocation.method, url, tuple(headers), body, tuple(self._cookies(arguments)))

    def _path(self, arguments: Mapping[str, Any]) -> str:
        parts = []
        for segment in self._segments:
            if isinstance(segment, str):
                parts.append(segment)
            else:
                parts.append(
                    "".join(part if isinstance(part, str) else self._hole(part, arguments) for part in segment)
                )
        return "/" + "/".join(parts) + ("/" if self._ends_in_slash and parts != [""] else "")

    def _hole(self, parameter: Parameter, arguments: Mapping[str, Any]) -> str:
        pieces = _pieces(parameter, arguments[parameter.name])
        is_expanded = parameter.wire_name in self._invocation.expanded
        slashes = is_expanded or parameter.wire_name in self._invocation.slashed
        with self._blaming(parameter):
            if not pieces:
                raise Unsafe("must not be empty")
            text = "".join(separator + path_text(text, slashes=slashes) for separator, text in pieces)
        return text.replace("%2F", "/") if is_expanded else text

    def _query(self, arguments: Mapping[str, Any]) -> str:
        texts = [self._fixed_query] if self._fixed_query else []
        for parameter, value in self._given(Location.QUERY, arguments):
            reserved = parameter.allow_reserved
            for name, pieces in self._pairs(parameter, value):
                parts = [separator_text(separator) + query_text(text, reserved=reserved) for separator, text in pieces]
                texts.append(f"{query_text(name)}={''.join(parts)}")
        return "&".join(texts)

    def _headers(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for parameter, value in self._given(Location.HEADER, arguments):
            pieces = _pieces(parameter, value)
            with self._blaming(parameter):
                yield parameter.wire_name, header_text("".join(separator + text for separator, text in pieces))

    def _cookies(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        for parameter, value in self._given(Location.COOKIE, arguments):
            for name, pieces in self._pairs(parameter, value):
                with self._blaming(parameter):
                    parts = [separator + cookie_text(text) for separator, text in pieces]
                    yield f"{cookie_text(name)}={''.join(parts)}"

    def _pairs(self, parameter: Parameter, value: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Return a value as names and pieces. An exploded object's keys must not match other parameters."""
        for name, pieces in styles.pairs(parameter.wire_name, value, parameter.style, explode=parameter.explode):
            if name != parameter.wire_name and self._is_another(name, parameter):
                message = f"{parameter.name} would send {name!r}, which the service could read as another parameter"
                raise ArgumentsInvalid(self._tool.id, message, parameter=parameter.name)
            yield name, pieces

    def _is_another(self, name: str, parameter: Parameter) -> bool:
        """Return whether a lenient service may read a name as another parameter in the same location."""
        plain = plain_name(name)
        return plain in self._plain_names[parameter.location] and plain != plain_name(parameter.wire_name)

    def _body(self, arguments: Mapping[str, Any], contents: OwnedContents) -> tuple[Any, bytes | None, str]:
        """Return the body's value, its bytes, and its media type."""
        plan = self._invocation.body
        if plan is None:
            return None, None, ""
        fields = self._by_location.get(Location.BODY_FIELD)
        if fields is None or self._has_whole_body(arguments):
            whole = self._by_location.get(Location.BODY)
            value = arguments.get(whole[0].name if whole else "body")
        else:
            value = {field.wire_name: arguments[field.name] for field in fields if field.name in arguments}
            if not value and not plan.required:
                return None, None, ""
        if value is None:
            if not plan.required or not plan.is_open:
                return None, None, ""
            value = {}
        return value, *encode_body(plan, value, contents)

    def _has_whole_body(self, arguments: Mapping[str, Any]) -> bool:
        return "body" in arguments and self._tool.parameter("body") is None

    def _given(self, location: Location, arguments: Mapping[str, Any]) -> Iterator[tuple[Parameter, Any]]:
        for parameter in self._by_location.get(location, ()):
            value = arguments.get(parameter.name)
            if value is not None:
                yield parameter, value

    def _blaming(self, parameter: Parameter) -> _Blame:
        return _Blame(self._tool, parameter)

    def _check(self, url: str, queried: list[tuple[str, str]], arguments: Mapping[str, Any]) -> None:
        """Raise ArgumentsInvalid if the finished URL does not match the declaration."""
        if not (self._is_plain_base and url.startswith(f"{self._base_url}/") and _UNSAFE_IN_URL.search(url) is None):
            raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        path = url[len(self._base_url) + 1 :].partition("?")[0]
        segments = path.split("/")[:-1] if self._ends_in_slash else path.split("/")
        wanted = [part for part in self._segments for _ in range(self._breadth(part, arguments))]
        is_same = len(segments) == len(wanted) and all(
            segment == declared if isinstance(declared, str) else unquote(segment) not in ("", ".", "..")
            for declared, segment in zip(wanted, segments, strict=True)
        )
        if not is_same:
            raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        names = self._query_names(arguments) if queried else set()
        for name, _ in queried:
            if name not in names and name.partition("[")[0] not in names:
                message = f"these arguments would send {name!r}, which the operation does not declare"
                raise ArgumentsInvalid(self._tool.id, message)

    def _breadth(self, segment: str | tuple[str | Parameter, ...], arguments: Mapping[str, Any]) -> int:
        """Return the number of URL segments for a template segment: one, unless a value is expanded."""
        holes = () if isinstance(segment, str) else (part for part in segment if not isinstance(part, str))
        expanded = (hole for hole in holes if hole.wire_name in self._invocation.expanded)
        return 1 + sum(str(arguments[hole.name]).count("/") for hole in expanded)

    def _query_names(self, arguments: Mapping[str, Any]) -> set[str]:
        """Return the declared names, and the keys of exploded objects, which must not match declared names."""
        names = {key for key, _ in self._invocation.query}
        spread: set[str] = set()
        for parameter, value in self._given(Location.QUERY, arguments):
            names.add(parameter.wire_name)
            names.add(parameter.wire_name.partition("[")[0])
            if isinstance(value, Mapping) and parameter.style not in ("json", "deepObject") and parameter.explode:
                spread |= {str(key) for key in value}
        if not spread:
            return names
        declared = {parameter.wire_name for parameter in self._by_location.get(Location.QUERY, ())}
        return names | (spread - declared)


class _Blame:
    """Converts Unsafe into an ArgumentsInvalid that names the parameter."""

    __slots__ = ("_parameter", "_tool")

    def __init__(self, tool: Tool, parameter: Parameter) -> None:
        self._tool = tool
        self._parameter = parameter

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Unsafe):
            name = self._parameter.name
            message = f"{name} {error}, because it is sent in the {self._parameter.location.value}"
            raise ArgumentsInvalid(self._tool.id, message, parameter=name, valid=self._tool.parameter_names) from None


def _pieces(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    """Return a path or header value as `(separator, text)` pieces."""
    match parameter.style:
        case "label":
            return styles.label(value, explode=parameter.explode)
        case "matrix":
            return styles.matrix(quote(parameter.wire_name, safe=""), value, explode=parameter.explode)
        case "json":
            return [("", styles.as_json(value))]
        case _:
            return styles.simple(value, explode=parameter.explode)


def _parse_segment(text: str, parameters: Mapping[str, Parameter]) -> str | tuple[str | Parameter, ...]:
    parts: list[str | Parameter] = []
    for index, piece in enumerate(_HOLE.split(text)):
        if index % 2 == 0:
            if piece:
                parts.append(quote(piece, safe=_LITERAL_SAFE))
        else:
            parts.append(parameters[piece])
    if all(isinstance(part, str) for part in parts):
        return "".join(str(part) for part in parts)
    return tuple(parts)


def _fields(value: Any, body: bytes | None, media_type: str) -> list[tuple[str, Any]]:
    """Return the top-level names and values of a body, as a service reads them."""
    if body is not None and media_type.lower().startswith("application/x-www-form-urlencoded"):
        return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    return [(str(name), item) for name, item in value.items()] if isinstance(value, Mapping) else []


def _joined(key: str, value: str) -> str:
    return f"{key}={value}" if value else key


def _accept(invocation: HttpInvocation) -> str:
    """Return the declared media types, JSON only if it is among them, or any type if none is declared."""
    names = [name for name in dict.fromkeys(invocation.accept) if _MEDIA_TYPE.fullmatch(name)]
    as_json = [name for name in names if "json" in name]
    return ", ".join((as_json or names)[:4]) or "application/json, */*;q=0.5"
