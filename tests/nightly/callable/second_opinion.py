"""A second opinion on requests, for what `openapi-core` cannot read: lists in `deepObject`, nested forms, patches,
multipart, lines of JSON, many media types.

It shares no code with the project: it takes a request apart as the OpenAPI specification says (Parameter Object,
"Style Values"; Encoding Object; RFC 3986, RFC 7578) and lets `openapi-schema-validator` judge the values. Text on the
wire has no type: a text is accepted where one reading of it is valid. `oneOf` asks for one match at least.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, unquote_plus

from jsonschema.validators import extend
from openapi_schema_validator import OAS30Validator, OAS31Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.nightly.callable.cleaned import DEEPEST, MISSING, Cleaned, pointed

_URI = "urn:document"
_INTEGER = re.compile(r"-?[0-9]+")
_DELIMITERS = {"spaceDelimited": ("%20", "+", " "), "pipeDelimited": ("%7C", "%7c", "|"), "tabDelimited": ("%09",)}


@dataclass(frozen=True)
class Request:
    """A request as it came over the wire; `target` is path and query, percent-encoded."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class SecondOpinion:
    """Judges requests to the operations of one document of OpenAPI 3.x."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        cleaned = Cleaned(document, _URI)
        self.mistakes, self._root = cleaned.mistakes, cleaned.root
        published = OAS30Validator if cleaned.is_legacy else OAS31Validator
        self._class: Any = extend(published, {"oneOf": published.VALIDATORS["anyOf"]})  # type: ignore[no-untyped-call]
        resource = DRAFT202012.create_resource(self._root)
        self._registry: Registry[Any] = Registry().with_resource(_URI, resource)
        self._validators: dict[int, Any] = {}

    def errors(self, path: str, method: str, request: Request) -> list[str]:
        """What is wrong with a request to the operation at `path` and `method`; empty where it is accepted."""
        item = self.followed(self._root["paths"][path])
        operation = self.followed(item.get(method.lower()) or item.get("additionalOperations", {}).get(method))
        parameters = self._parameters(operation, item)
        target, _, query = request.target.partition("?")
        template, _, fixed = path.partition("#")[0].partition("?")
        reading = _Reading(self, parameters, {name.lower(): value for name, value in request.headers.items()})
        found = [] if request.method.upper() == method.upper() else [f"the method is {request.method}"]
        return [
            *found,
            *reading.path(template, target),
            *reading.query(query, fixed),
            *reading.headers(),
            *reading.body(operation.get("requestBody"), request.body),
        ]

    def followed(self, value: Any) -> Any:
        """The end of a chain of references."""
        for _ in range(DEEPEST):
            reference = value.get("$ref") if isinstance(value, Mapping) else None
            if not isinstance(reference, str) or not reference.startswith(_URI):
                return value
            value = pointed(self._root, reference.partition("#")[2])
        return {}

    def wrong(self, value: Any, schema: Any) -> str:
        """Why a value does not fit a schema; empty where it does."""
        if not isinstance(schema, Mapping):
            return ""
        validator = self._validators.get(id(schema))
        if validator is None:
            validator = self._validators[id(schema)] = self._class(schema, registry=self._registry)
        error = next(iter(validator.iter_errors(value)), None)
        return "" if error is None else f"{error.json_path}: {error.message[:300]}"

    def _parameters(self, operation: Mapping[str, Any], item: Mapping[str, Any]) -> list[Any]:
        found: dict[tuple[str, str], Any] = {}
        for holder in (item, operation):
            declared = holder.get("parameters")
            for value in declared if isinstance(declared, list) else []:
                parameter = self.followed(value)
                if isinstance(parameter, Mapping):
                    found[str(parameter.get("in")), str(parameter.get("name"))] = parameter
        return list(found.values())


@dataclass
class _Reading:
    """One request, read against the parameters of its operation."""

    judge: SecondOpinion
    parameters: list[Any]
    header: Mapping[str, str]
    seen: set[str] = field(default_factory=set)

    def path(self, template: str, target: str) -> Iterator[str]:
        """The path against its template."""
        pieces = re.split(r"\{([^{}]*)\}", template)
        pattern = "".join(re.escape(text) if index % 2 == 0 else "(.+?)" for index, text in enumerate(pieces))
        match = re.fullmatch(pattern, target) or re.fullmatch(pattern, unquote(target))
        if match is None:
            yield f"the path {target} does not fit {template}"
            return
        texts = dict(zip(pieces[1::2], match.groups(), strict=True))
        for parameter in self._at("path"):
            raw = texts.get(parameter.get("name"))
            if raw is not None:
                yield from self._judged(parameter, _unpathed(parameter, raw))

    def query(self, query: str, fixed: str) -> Iterator[str]:
        """The query against the declared parameters; every name must be declared."""
        pairs = [part.partition("=")[::2] for part in query.split("&") if part]
        named = [(unquote_plus(name), raw) for name, raw in pairs]
        known = {part.partition("=")[0] for part in fixed.split("&")}
        for parameter in self._at("query"):
            raw = self._from_query(parameter, named)
            if raw is not MISSING:
                yield from self._judged(parameter, raw)
            elif parameter.get("required") is True:
                yield f"the query lacks {parameter.get('name')}"
        for name, _ in named:
            if name not in known and name not in self.seen:
                yield f"the query has {name}, which is not declared"

    def headers(self) -> Iterator[str]:
        """Headers and cookies."""
        cookies = dict(pair.strip().partition("=")[::2] for pair in self.header.get("cookie", "").split(";"))
        for place, values in (("header", self.header), ("cookie", cookies)):
            for parameter in self._at(place):
                name = str(parameter.get("name"))
                if place == "header" and name.lower() in ("accept", "content-type", "authorization"):
                    continue
                raw = values.get(name.lower() if place == "header" else name)
                if raw is not None:
                    yield from self._judged(parameter, _simple(raw, parameter))

    def body(self, declared: Any, data: bytes) -> Iterator[str]:
        """The body against the declared media type that was sent."""
        if declared is None:
            if data:
                yield "a body is sent though none is declared"
            return
        declared = self.judge.followed(declared)
        sent = self.header.get("content-type", "")
        if not data and not sent:
            if declared.get("required") is True:
                yield "the body is missing"
            return
        name = sent.partition(";")[0].strip().lower()
        media = _media(declared.get("content", {}), name)
        if media is None:
            yield f"{sent} is not declared"
            return
        schema = media.get("schema", {})
        try:
            value = self._body_value(name, sent, data, media)
        except (ValueError, UnicodeDecodeError) as error:
            yield f"the body cannot be read: {error}"
            return
        if value is not MISSING:
            wrong = self.judge.wrong(value, schema)
            if wrong:
                yield f"body {wrong}"

    def _body_value(self, name: str, sent: str, data: bytes, media: Mapping[str, Any]) -> Any:
        schema = media.get("schema", {})
        if name.endswith(("/json", "+json", "json-patch", "merge-patch")) or name == "text/json":
            return json.loads(data)
        if name == "application/x-www-form-urlencoded":
            split = [part.partition("=")[::2] for part in data.decode().split("&") if part]
            pairs = [(unquote_plus(key), unquote_plus(text)) for key, text in split]
            return self.read(_form(pairs, self._object(schema), media.get("encoding") or {}), schema)
        if name.startswith("multipart/"):
            parts = self._multipart(sent, data, schema)
            is_object = _types(self.judge.followed(schema)) in (set(), {"object"})
            return parts if is_object or len(parts) != 1 else next(iter(parts.values()))
        if name in ("application/x-ndjson", "application/ndjson", "application/jsonl"):
            values = [json.loads(line) for line in data.splitlines() if line]
            return values if "array" in _types(self.judge.followed(schema)) else MISSING
        if name.startswith("text/") and "string" in _types(self.judge.followed(schema)):
            return data.decode()
        return MISSING

    def _multipart(self, sent: str, data: bytes, schema: Any) -> Any:
        message = email.message_from_bytes(
            b"Content-Type: " + sent.encode() + b"\r\n\r\n" + data, policy=email.policy.HTTP
        )
        properties = self._object(schema)
        found: dict[str, Any] = {}
        if not message.is_multipart():
            if re.fullmatch(rb"--[^\r\n]*--\r\n", data):
                return {}
            raise ValueError("no parts can be found in it")
        for part in message.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            content = part.get_payload(decode=True)
            raw: Any = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
            if part.get_content_type() == "application/json" and "content-type" in part:
                raw = _Json(json.loads(raw))
            own = self.judge.followed(properties.get(name, {}))
            if "array" in _types(own) and not isinstance(raw, _Json):
                found.setdefault(name, []).append(raw)
            else:
                found[name] = raw
        return self.read(found, schema)

    def _from_query(self, parameter: Mapping[str, Any], pairs: list[tuple[str, str]]) -> Any:
        name = str(parameter.get("name"))
        style = parameter.get("style", "form")
        explode = parameter.get("explode", style in ("form", "deepObject"))
        schema = self._schema(parameter)
        own = [raw for key, raw in pairs if key == name]
        types = _types(schema) or self._union_types(schema)
        if "content" in parameter:
            self.seen.add(name)
            return _Json(json.loads(unquote_plus(own[0]))) if own else MISSING
        if style == "deepObject":
            deep = [(key, unquote_plus(raw)) for key, raw in pairs if key == name or key.startswith(f"{name}[")]
            self.seen |= {key for key, _ in deep}
            return _nested(deep).get(name, MISSING) if deep else MISSING
        if style == "form" and explode and types == {"object"}:
            others = {str(other.get("name")) for other in self._at("query")} - {name}
            free = [(key, unquote_plus(raw)) for key, raw in pairs if key not in others]
            self.seen |= {key for key, _ in free}
            return _nested(free) if free else MISSING
        nested = [(key, unquote_plus(raw)) for key, raw in pairs if key.startswith(f"{name}[]")]
        if not own and nested and types == {"array"}:  # a list of objects, which no style describes
            self.seen |= {key for key, _ in nested}
            return [_nested([(key.replace("[]", "", 1), raw) for key, raw in nested])[name]]
        if not own:
            return MISSING
        self.seen.add(name)
        return _listed(own, style, types, explode=bool(explode))

    def _judged(self, parameter: Mapping[str, Any], raw: Any) -> Iterator[str]:
        schema = self._schema(parameter)
        wrong = self.judge.wrong(self.read(raw, schema), schema)
        if wrong:
            yield f"{parameter.get('in')} {parameter.get('name')} {wrong}"

    def read(self, raw: Any, schema: Any, depth: int = 0) -> Any:
        """The reading of a text, or of texts in lists and objects, that fits a schema; the texts where none does."""
        if isinstance(raw, _Json):
            return raw.value
        schema = self.judge.followed(schema)
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return _plain(raw)
        for candidate in self._candidates(raw, schema, depth):
            if not self.judge.wrong(candidate, schema):
                return candidate
        return next(iter(self._candidates(raw, schema, depth)))

    def _candidates(self, raw: Any, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        if isinstance(raw, Mapping):
            properties = self._object(schema)
            extra = schema.get("additionalProperties")
            yield {key: self.read(value, properties.get(key, extra), depth + 1) for key, value in raw.items()}
            if raw and all(key.isdigit() for key in raw):
                yield from self._candidates([raw[key] for key in sorted(raw, key=int)], schema, depth)
        elif isinstance(raw, list):
            yield [self.read(value, self._items(schema), depth + 1) for value in raw]
            if len(raw) == 1:
                yield from self._candidates(raw[0], schema, depth)
        else:
            yield from _readings(raw)
            yield [self.read(raw, self._items(schema), depth + 1)]
        for variant in self._variants(schema):
            yield self.read(raw, variant, depth + 1)

    def _variants(self, schema: Mapping[str, Any]) -> list[Any]:
        return [
            *(schema.get("anyOf") or ()),
            *(schema.get("oneOf") or ()),
            *(inner for member in schema.get("allOf") or () for inner in self._variants(self.judge.followed(member))),
        ]

    def _items(self, schema: Mapping[str, Any]) -> Any:
        for part in [schema, *map(self.judge.followed, schema.get("allOf") or ())]:
            if isinstance(part, Mapping) and "items" in part:
                return part["items"]
        return {}

    def _object(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        schema = self.judge.followed(schema)
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return {}
        found: dict[str, Any] = {}
        for part in (*(schema.get("allOf") or ()), *(schema.get("anyOf") or ())):
            found = {**self._object(part, depth + 1), **found}
        return {**found, **(schema.get("properties") or {})}

    def _schema(self, parameter: Mapping[str, Any]) -> Any:
        content = parameter.get("content")
        if isinstance(content, Mapping) and content:
            return self.judge.followed(next(iter(content.values())).get("schema", {}))
        return self.judge.followed(parameter.get("schema", {}))

    def _union_types(self, schema: Any) -> set[str]:
        if not isinstance(schema, Mapping):
            return set()
        members = [*(schema.get("allOf") or ()), *self._variants(schema)]
        return {name for member in members for name in _types(self.judge.followed(member))} - {"null"}

    def _at(self, place: str) -> list[Any]:
        return [parameter for parameter in self.parameters if parameter.get("in") == place]


@dataclass(frozen=True)
class _Json:
    """A value that was JSON on the wire: it has its types."""

    value: Any


def _plain(raw: Any) -> Any:
    if isinstance(raw, _Json):
        return raw.value
    if isinstance(raw, Mapping):
        return {key: _plain(value) for key, value in raw.items()}
    return [_plain(value) for value in raw] if isinstance(raw, list) else raw


def _readings(text: Any) -> Iterator[Any]:
    if not isinstance(text, str):
        yield text
        return
    if _INTEGER.fullmatch(text):
        yield int(text)
    else:
        with suppress(ValueError):
            yield float(text)
    if text in ("true", "false"):
        yield text == "true"
    if text in ("", "null"):
        yield None
    yield text
    if text[:1] in ("{", "["):
        with suppress(ValueError):
            yield json.loads(text)
    if not text:
        yield from ({}, [])


def _types(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    declared = schema.get("type")
    names = {declared} if isinstance(declared, str) else set(declared or ())
    if not names and "properties" in schema:
        names = {"object"}
    if not names and "items" in schema:
        names = {"array"}
    return names - {"null"}


def _unpathed(parameter: Mapping[str, Any], raw: str) -> Any:
    style, name = parameter.get("style", "simple"), str(parameter.get("name"))
    if style == "label":
        raw = raw.removeprefix(".")
        return _simple(raw.replace(".", ",") if parameter.get("explode") else raw, parameter)
    if style == "matrix":
        raw = raw.removeprefix(";").replace(f";{name}=", ",").removeprefix(f"{name}=").replace(";", ",")
    return _simple(raw, parameter)


def _simple(raw: str, parameter: Mapping[str, Any]) -> Any:
    if "content" in parameter:
        return _Json(json.loads(unquote(raw)))
    types = _types(parameter.get("schema", {}))
    if types == {"array"}:
        return [unquote(part) for part in raw.split(",")]
    if types == {"object"}:
        parts = [unquote(part) for part in raw.split(",")]
        if parameter.get("explode"):
            return dict(part.partition("=")[::2] for part in parts)
        return dict(zip(parts[::2], parts[1::2], strict=False))
    return unquote(raw)


def _listed(own: list[str], style: str, types: set[str], *, explode: bool) -> Any:
    if style == "form" and explode:
        texts = [unquote_plus(raw) for raw in own]
        return texts if types == {"array"} or len(texts) > 1 else texts[0]
    raw = own[0]
    for delimiter in _DELIMITERS.get(style, ()):
        raw = raw.replace(delimiter, ",")
    parts = [unquote_plus(part) for part in re.split(",|%2C", raw) if style != "form" or "," in raw or "%2C" in raw]
    if types == {"object"}:
        return dict(zip(parts[::2], parts[1::2], strict=False))
    if types == {"array"}:
        return parts or [unquote_plus(raw)]
    return unquote_plus(own[0]) if "array" not in types else [*(parts or [unquote_plus(raw)])]


def _form(pairs: list[tuple[str, str]], properties: Mapping[str, Any], encodings: Mapping[str, Any]) -> Any:
    """A form body: plain fields, repeated fields, `a[b][c]` and `a[0]`."""
    split: list[tuple[str, str]] = []
    for name, text in pairs:
        encoding = encodings.get(name) or {}
        if encoding.get("explode") is False and "," in text:
            split += [(f"{name}[]", part) for part in text.split(",")]
        elif name in properties and "[" in name:
            split.append((name.replace("[", "\0"), text))
        else:
            split.append((name, text))
    return {key.replace("\0", "["): value for key, value in _nested(split).items()}


def _nested(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """`a[b][c]=1`, `a[0]=1`, `a[]=1` and `a=1&a=2` as objects and lists."""
    found: dict[str, Any] = {}
    for name, text in pairs:
        head, _, rest = name.partition("[")
        keys = [head, *re.findall(r"\[?([^\[\]]*)\]", rest and f"[{rest}")]
        holder: Any = found
        for index, key in enumerate(keys):
            if index == len(keys) - 1 or (index == len(keys) - 2 and keys[-1] == ""):
                known = holder.get(key, MISSING)
                is_list = index < len(keys) - 1
                if known is MISSING:
                    holder[key] = [text] if is_list else text
                else:
                    holder[key] = [*(known if isinstance(known, list) else [known]), text]
                break
            inner = holder.setdefault(key or str(len(holder)), {})
            if not isinstance(inner, dict):
                inner = holder[key] = {}
            holder = inner
    return found


def _media(content: Mapping[str, Any], name: str) -> Any:
    for declared, media in content.items():
        if declared.partition(";")[0].strip().lower() == name:
            return media if isinstance(media, Mapping) else {}
    for declared, media in content.items():
        pattern = re.escape(declared.partition(";")[0].strip().lower()).replace(r"\*", "[^/]+")
        if re.fullmatch(pattern, name):
            return media if isinstance(media, Mapping) else {}
    return None
