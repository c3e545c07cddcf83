"""Construction of one HTTP request from validated arguments, and a check that it matches its declaration.

The check reads the finished request: same scheme, host and port, same number of path segments, fixed segments
unchanged, no undeclared query names. It does not depend on how the request was built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

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
from codemode.transports.http.headers import ACCEPT
from codemode.transports.http.method_override import check_overrides

if TYPE_CHECKING:
    from codemode.catalog.tool import Parameter, Tool
    from codemode.transports.content import OwnedContents
    from codemode.transports.http.invocation import HttpInvocation

#: Longest URL. Common servers reject longer request lines (nginx and Apache: 8 KB, Node.js and IIS: 16 KB).
LONGEST_URL = 16_000

#: One plain segment below the path of an operation.
_BELOW = re.compile(r"/[A-Za-z0-9_~-][A-Za-z0-9._~-]*")

_HOLE = re.compile(r"\{([^{}]*)\}")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+(;[ -~]*)?")
_QUERY_SAFE = "!$&'()*+,;=:@/?%-._~[]"
_LITERAL_SAFE = "!$&'()*+,;=:@~%"

#: Characters that parsers of URLs remove, or read as the end of the request target.
_UNSAFE_IN_URL = re.compile(r"[^!-~]|[#\\]")
#: Styles of a value that is the whole query, not a form (OpenAPI 3.2, `in: querystring`).
_WHOLE = ("whole_json", "whole_text")

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
        fixed = invocation.defaults
        own = [parameter for parameter in tool.parameters if fixed]
        self._defaults = {p.name: fixed[p.location, p.wire_name] for p in own if (p.location, p.wire_name) in fixed}
        self._constants = {parameter.name: value for parameter, value in invocation.constants}
        for parameter in (*tool.parameters, *(parameter for parameter, _ in invocation.constants)):
            self._by_location.setdefault(parameter.location, []).append(parameter)
        self._plain_names = {
            location: {plain_name(parameter.wire_name) for parameter in parameters}
            for location, parameters in self._by_location.items()
        }
        self._plain_names.setdefault(Location.QUERY, set()).update(plain_name(name) for name, _ in invocation.query)
        in_path = {parameter.wire_name: parameter for parameter in self._by_location.get(Location.PATH, ())}
        self._segments = tuple(_parse_segment(text, in_path) for text in invocation.path.strip("/").split("/"))
        self._ends_in_slash = len(invocation.path) > 1 and invocation.path.endswith("/")
        self._template = _flat(self._segments, "/" if self._ends_in_slash and self._segments != ("",) else "")
        self._fixed_query = "&".join(_joined(key, value) for key, value in invocation.query)
        self._accept = _accept(invocation)
        in_query = [parameter.wire_name for parameter in self._by_location.get(Location.QUERY, ())]
        self._declared_in_query = {key for key, _ in invocation.query}.union(
            in_query, (name.partition("[")[0] for name in in_query)
        )

    @property
    def address(self) -> str:
        """The URL of the operation without arguments, to which relative addresses of its answers refer."""
        return f"{self._base_url}{self._invocation.path}"

    def build(self, arguments: Mapping[str, Any], contents: OwnedContents, query: str = "") -> HttpRequest:
        """Return the request for validated arguments. Raises ArgumentsInvalid for values that cannot be sent.

        `query` is that of the next page's URL, as the service gave it; see `CallContext.query`.
        """
        arguments = {**self._defaults, **arguments, **self._constants}
        is_foreign, (below, query) = bool(query), self._continued(arguments, query)
        query = query if is_foreign else self._query(arguments)
        end = f"?{query}" if query else ""
        path = self._path(arguments)
        url = f"{self._base_url}{path}{end}"
        if len(url) > LONGEST_URL:
            message = f"the URL would be {len(url):,} characters long, and servers accept {LONGEST_URL:,}: send less"
            raise ArgumentsInvalid(self._tool.id, message)
        headers = [*self._headers(arguments)]
        if not any(name == ACCEPT for name, _ in headers):
            headers.insert(0, ("Accept", self._accept))
        value, body, media_type = self._body(arguments, contents)
        if body is not None:
            headers.append(("Content-Type", media_type))
        queried = _queried(query)
        is_whole = any(parameter.style in _WHOLE for parameter, _ in self._given(Location.QUERY, arguments))
        self._check(url, [] if is_foreign or is_whole else queried, arguments)
        if below:
            url = f"{self._base_url}{path.rstrip('/')}{below}{end}"
        check_overrides(self._tool, [*headers, *queried, *_fields(value, body, media_type)])
        return HttpRequest(self._invocation.method, url, tuple(headers), body, tuple(self._cookies(arguments)))

    def _continued(self, arguments: Mapping[str, Any], query: str) -> tuple[str, str]:
        """Return the segment below the operation's path, and the query of the next page. Raises ArgumentsInvalid."""
        below = ""
        if query.startswith("/"):
            below, _, query = query.partition("?")
            if self._invocation.method.upper() != "GET" or _BELOW.fullmatch(below) is None:
                raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        if query.startswith("&"):
            query = f"{self._query(arguments)}{query}".lstrip("&")
        return below, self._completed(query) if query else ""

    def _path(self, arguments: Mapping[str, Any]) -> str:
        return "".join([part if isinstance(part, str) else self._hole(part, arguments) for part in self._template])

    def _hole(self, parameter: Parameter, arguments: Mapping[str, Any]) -> str:
        is_expanded = parameter.wire_name in self._invocation.expanded
        slashes = is_expanded or parameter.wire_name in self._invocation.slashed
        try:
            pieces = _pieces(parameter, arguments[parameter.name])
            if not pieces:
                raise Unsafe("must not be empty")
            text = "".join([separator + path_text(text, slashes=slashes) for separator, text in pieces])
        except Unsafe as error:
            raise self._blamed(parameter, error) from None
        return text.replace("%2F", "/") if is_expanded else text

    def _query(self, arguments: Mapping[str, Any]) -> str:
        texts = [self._fixed_query] if self._fixed_query else []
        for parameter, value in self._given(Location.QUERY, arguments):
            reserved = parameter.allow_reserved
            if parameter.style in _WHOLE:  # no separator is left unescaped, so it names no other parameter
                whole = styles.as_json(value) if parameter.style == "whole_json" else styles.scalar(value)
                texts.append(quote(whole, safe=""))
                continue
            if type(value) in styles.SCALARS and parameter.style != "json":
                text = query_text(styles.scalar(value), reserved=reserved)
                texts.append(f"{query_text(parameter.wire_name)}={text}")
                continue
            for name, pieces in self._pairs(parameter, value):
                parts = [separator_text(separator) + query_text(text, reserved=reserved) for separator, text in pieces]
                texts.append(f"{query_text(name)}={''.join(parts)}")
        return "&".join(texts)

    def _completed(self, query: str) -> str:
        """Return a service's query with the fixed part of the operation, and escaped where it was not."""
        names = {name for name, _ in _queried(query)}
        fixed = [_joined(key, value) for key, value in self._invocation.query if key not in names]
        return "&".join((*fixed, quote(query, safe=_QUERY_SAFE)))

    def _headers(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for parameter, value in self._given(Location.HEADER, arguments):
            pieces = _pieces(parameter, value)
            try:
                text = header_text("".join(separator + text for separator, text in pieces))
            except Unsafe as error:
                raise self._blamed(parameter, error) from None
            yield parameter.wire_name, text

    def _cookies(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        for parameter, value in self._given(Location.COOKIE, arguments):
            for name, pieces in self._pairs(parameter, value):
                try:
                    parts = [cookie_text(name), "=", *(separator + cookie_text(text) for separator, text in pieces)]
                except Unsafe as error:
                    raise self._blamed(parameter, error) from None
                yield "".join(parts)

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

    def _blamed(self, parameter: Parameter, error: Unsafe) -> ArgumentsInvalid:
        """Return the error of a value that cannot be sent, with the name of its parameter."""
        message = f"{parameter.name} {error}, because it is sent in the {parameter.location.value}"
        valid = self._tool.parameter_names
        return ArgumentsInvalid(self._tool.id, message, parameter=parameter.name, valid=valid)

    def _check(self, url: str, queried: list[tuple[str, str]], arguments: Mapping[str, Any]) -> None:
        """Raise ArgumentsInvalid if the finished URL does not match the declaration."""
        if not (self._is_plain_base and url.startswith(f"{self._base_url}/") and _UNSAFE_IN_URL.search(url) is None):
            raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        path = url[len(self._base_url) + 1 :].partition("?")[0]
        segments = path.split("/")[:-1] if self._ends_in_slash else path.split("/")
        wanted = self._segments if not self._invocation.expanded else self._widened(arguments)
        if len(segments) != len(wanted):
            raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        for declared, segment in zip(wanted, segments, strict=True):
            if not (segment == declared if isinstance(declared, str) else unquote(segment) not in ("", ".", "..")):
                raise ArgumentsInvalid(self._tool.id, _ELSEWHERE)
        names = self._query_names(arguments) if queried else set()
        for name, _ in queried:
            if name not in names and name.partition("[")[0] not in names:
                message = f"these arguments would send {name!r}, which the operation does not declare"
                raise ArgumentsInvalid(self._tool.id, message)

    def _widened(self, arguments: Mapping[str, Any]) -> list[str | tuple[str | Parameter, ...]]:
        """Return the template segments, each as often as the URL has segments for it."""
        return [part for part in self._segments for _ in range(self._breadth(part, arguments))]

    def _breadth(self, segment: str | tuple[str | Parameter, ...], arguments: Mapping[str, Any]) -> int:
        """Return the number of URL segments for a template segment: one, unless a value is expanded."""
        holes = () if isinstance(segment, str) else (part for part in segment if not isinstance(part, str))
        expanded = (hole for hole in holes if hole.wire_name in self._invocation.expanded)
        return 1 + sum(str(arguments[hole.name]).count("/") for hole in expanded)

    def _query_names(self, arguments: Mapping[str, Any]) -> set[str]:
        """Return the declared names. With exploded objects, return the names of given arguments, and their keys.

        A key must not match a declared name.
        """
        given = list(self._given(Location.QUERY, arguments))
        spread = {str(key) for parameter, value in given if _is_spread(parameter, value) for key in value}
        if not spread:
            return self._declared_in_query
        names = {key for key, _ in self._invocation.query}
        for parameter, _ in given:
            names |= {parameter.wire_name, parameter.wire_name.partition("[")[0]}
        return names | (spread - self._declared_in_query)


def _is_spread(parameter: Parameter, value: Any) -> bool:
    """Return whether the keys of a value are sent as names."""
    if type(value) in styles.SCALARS or not isinstance(value, Mapping):
        return False
    return parameter.explode and parameter.style not in ("json", "deepObject")


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


def _flat(segments: tuple[str | tuple[str | Parameter, ...], ...], end: str) -> tuple[str | Parameter, ...]:
    """Return the texts and parameters of a path in order, with its slashes."""
    parts: list[str | Parameter] = []
    for segment in segments:
        parts += ["/", segment] if isinstance(segment, str) else ["/", *segment]
    return (*parts, end)


def _queried(query: str) -> list[tuple[str, str]]:
    """Return the names and values of a query, as a service reads them."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [(_decoded(name), _decoded(value)) for name, _, value in pairs]


def _decoded(text: str) -> str:
    return unquote_plus(text) if "%" in text or "+" in text else text


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
