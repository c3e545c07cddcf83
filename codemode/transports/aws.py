"""Calls of AWS services through botocore, which signs, routes and parses them. Credentials stay in its session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

import jmespath
from botocore import exceptions, xform_name
from botocore.config import Config
from botocore.response import StreamingBody

from codemode.catalog.content import is_content
from codemode.catalog.tool import Effect
from codemode.errors import (
    AnswerInvalid,
    ArgumentsInvalid,
    CallError,
    ConfigurationError,
    CredentialsMissing,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.transports.base import Page
from codemode.transports.content import Content, ContentStore, OwnedContents
from codemode.transports.http.rate_limit import Pace
from codemode.transports.not_numbers import with_names
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.transports.allowances import Allowances
    from codemode.transports.base import CallContext

_MISSING = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.TokenRetrievalError,
    exceptions.SSOError,
)
_UNREACHABLE = (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyConnectionError)
_UNKNOWN_END = (exceptions.ReadTimeoutError, exceptions.ConnectionClosedError)

#: Largest text or JSON stream whose text a program receives, in bytes.
READABLE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Paginator:
    """How botocore pages an operation: JMESPath expressions into its answer, and the arguments of the next page."""

    items: str
    tokens: tuple[str, ...]
    arguments: tuple[str, ...]
    more: str = ""


@dataclass(frozen=True, slots=True)
class AwsInvocation:
    """An operation of a service. `shape` is botocore's input shape, None if the operation has no input."""

    service: str
    operation: str
    shape: Any = None
    paginator: Paginator | None = None


@dataclass(frozen=True, slots=True)
class AwsReach:
    """The location of the services, and the limits of calls. `endpoint` replaces AWS's own for all services."""

    source: str
    region: str
    endpoint: str | None = None
    timeout_s: float = 30.0
    retries: int = 2
    concurrency: int = 32
    rate_per_s: float | None = None
    response_limit_bytes: int = 16 * 1024 * 1024
    ca_file: str | None = None


class AwsTransport:
    """Calls the operations of one source's services, in threads.

    `session` is botocore's. `secrets` returns the operator's credentials on first use; if it returns none, the session
    finds its own. It may raise ConfigurationError.
    """

    idempotency_header = ""

    def __init__(
        self,
        session: Any,
        reach: AwsReach,
        contents: ContentStore | None = None,
        *,
        allowances: Allowances | None = None,
        secrets: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._session = session
        self._secrets: Callable[[], tuple[str, ...]] | None = secrets
        self._reach = reach
        self._contents = contents or ContentStore()
        self._pace = Pace.of_source(reach.source, reach.concurrency, reach.rate_per_s, allowances)
        self._redactor = Redactor()
        self._clients: dict[tuple[str, bool], Any] = {}
        self._client_lock = Lock()

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Return the operation's answer as JSON data: times in ISO 8601, bytes and streams as content references.

        Raises ArgumentsInvalid, CredentialsMissing, UpstreamError with AWS's code, UpstreamUnreachable, and
        UpstreamTimeout. A thread cannot be stopped, so a call that timed out may still do its work.
        """
        try:
            async with asyncio.timeout(self._reach.timeout_s), self._pace:
                await context.before_send()
                contents = self._contents.of(context.owner)
                data = with_names(await asyncio.to_thread(self._call_operation, tool, arguments, contents))
                return self._redactor.answer(data, json.dumps(data).encode())
        except TimeoutError:
            message = f"{self._reach.source} did not answer within {self._reach.timeout_s:g} s"
            raise UpstreamTimeout(message) from None
        except CallError as error:
            self._redactor.clean(error)
            raise

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Return one page, as botocore's paginators define it.

        Raises what `call` raises, and CallError if the operation has no pages.
        """
        paginator: Paginator | None = tool.invocation.paginator
        if paginator is None:
            message = f"{tool.id} has no pages: call it without .items or .pages"
            raise CallError(message)
        value = await self.call(tool, arguments, context)
        items = jmespath.search(paginator.items, value)
        return Page(value, items if isinstance(items, list) else [], _following(paginator, tool, arguments, value))

    async def aclose(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients.values():
            await asyncio.to_thread(client.close)

    def _call_operation(self, tool: Tool, arguments: Mapping[str, Any], contents: OwnedContents) -> Any:
        plan: AwsInvocation = tool.invocation
        by_name = {parameter.name: parameter.wire_name for parameter in tool.parameters}
        sent = {by_name[name]: value for name, value in arguments.items()}
        if plan.shape is not None:
            sent = _input(plan.shape, sent, contents)
        try:
            client = self._client(plan.service, is_read=tool.effect is Effect.READ)
            self._learn_secrets()
            answer = getattr(client, xform_name(plan.operation))(**sent)
            value = {name: value for name, value in answer.items() if name != "ResponseMetadata"}
            return self._data(value, answer, contents)
        except exceptions.ClientError as error:
            raise self._refused(error) from None
        except exceptions.ParamValidationError as error:
            message = " ".join(str(error).removeprefix("Parameter validation failed:").split())
            raise ArgumentsInvalid(tool.id, message, valid=tool.parameter_names) from None
        except exceptions.BotoCoreError as error:
            raise self._failed(error) from None

    def _learn_secrets(self) -> None:
        """Redact the session's current secrets, which it may renew, from answers."""
        credentials = self._session.get_credentials()
        if credentials is not None:
            frozen = credentials.get_frozen_credentials()
            self._redactor = self._redactor.extended(one for one in (frozen.secret_key, frozen.token) if one)

    def _client(self, service: str, *, is_read: bool) -> Any:
        """Return a client that retries only calls that are safe to repeat."""
        with self._client_lock:
            self._sign()
            if (service, is_read) not in self._clients:
                attempts = 1 + (self._reach.retries if is_read else 0)
                self._clients[service, is_read] = self._session.create_client(
                    service,
                    region_name=self._reach.region,
                    endpoint_url=self._reach.endpoint,
                    verify=self._reach.ca_file,
                    config=Config(
                        connect_timeout=min(10.0, self._reach.timeout_s),
                        read_timeout=self._reach.timeout_s,
                        retries={"total_max_attempts": attempts, "mode": "standard"},
                        max_pool_connections=self._reach.concurrency,
                        user_agent_extra="codemode",
                    ),
                )
            return self._clients[service, is_read]

    def _sign(self) -> None:
        """Set the operator's credentials in the session, once. Raises CredentialsMissing."""
        if self._secrets is None:
            return
        try:
            keys = self._secrets()
        except ConfigurationError as error:
            hint = f"the operator has not provided the credentials that {self._reach.source} requires"
            message = f"sources.{self._reach.source}: {error}; nothing was sent"
            raise CredentialsMissing(message, hint=hint) from None
        if keys:
            self._session.set_credentials(*keys)
        self._secrets = None

    def _data(self, value: Any, answer: Mapping[str, Any], contents: OwnedContents) -> Any:
        match value:
            case Mapping():
                return {str(key): self._data(one, answer, contents) for key, one in value.items()}
            case list():
                return [self._data(one, answer, contents) for one in value]
            case datetime():
                return value.isoformat()
            case bytes():
                return contents.put(Content(value))
            case StreamingBody():
                media_type = str(answer.get("ContentType") or answer.get("contentType") or "")
                return self._stream(value, media_type, contents)
            case _:
                return value

    def _stream(self, stream: Any, media_type: str, contents: OwnedContents) -> dict[str, Any]:
        """Return a stream as content, with its text beside it if it is a short text."""
        limit = self._reach.response_limit_bytes
        with stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            message = f"{self._reach.source}: the answer is longer than {limit:,} bytes (response_limit_bytes)"
            raise AnswerInvalid(message)
        text = _readable(data, media_type)
        if text is not None and not media_type:
            media_type = "application/json"
        reference = contents.put(Content(data, media_type or "application/octet-stream"))
        return reference if text is None else {**reference, "text": text}

    def _refused(self, error: Any) -> UpstreamError:
        details = error.response.get("Error", {})
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        message = f"{self._reach.source}: {details.get('Code', 'Unknown')}: {details.get('Message', '')}".rstrip(": ")
        body = {key: value for key, value in details.items() if isinstance(value, (str, int, bool))}
        return UpstreamError(message, status=status, body=body)

    def _failed(self, error: Exception) -> CallError:
        source = self._reach.source
        if isinstance(error, _MISSING):
            hint = f"the operator has not configured AWS credentials for {source}"
            return CredentialsMissing(f"{hint}: {error}; nothing was sent", hint=hint)
        if isinstance(error, _UNREACHABLE):
            return UpstreamUnreachable(f"{source} cannot be reached: {error}", source=source)
        if isinstance(error, _UNKNOWN_END):
            return UpstreamTimeout(f"{source} did not answer completely: {type(error).__name__}")
        return UpstreamError(f"{source}: {error}")


def _input(shape: Any, value: Any, contents: OwnedContents) -> Any:
    """Replace content references in a value by their bytes. Raises CallError for content that is no longer stored."""
    if shape.type_name == "blob":
        return contents.get(value).data
    if shape.type_name == "structure" and isinstance(value, Mapping) and not getattr(shape, "is_document_type", 0):
        members = shape.members
        return {key: _input(members[key], one, contents) if key in members else one for key, one in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [_input(shape.member, one, contents) for one in value]
    if shape.type_name == "map" and isinstance(value, Mapping) and not is_content(value):
        return {key: _input(shape.value, one, contents) for key, one in value.items()}
    return value


def _readable(data: bytes, media_type: str) -> str | None:
    """Return the text of a text or JSON stream, None for others. Without a media type, try JSON."""
    if len(data) > READABLE_BYTES or not data:
        return None
    is_text = media_type.startswith("text/") or "json" in media_type or "xml" in media_type
    try:
        text = data.decode("utf-8")
        if not media_type:
            json.loads(text)
    except (ValueError, RecursionError):
        return None
    return text if is_text or not media_type else None


def _following(paginator: Paginator, tool: Tool, arguments: Mapping[str, Any], value: Any) -> dict[str, Any] | None:
    """Return the arguments of the next page, None after the last page or if they would be the same."""
    if paginator.more and not jmespath.search(paginator.more, value):
        return None
    tokens = {
        name: token
        for name, path in zip(paginator.arguments, paginator.tokens, strict=True)
        if (token := jmespath.search(path, value)) not in (None, "", {}, [])
    }
    rest = {name: argument for name, argument in arguments.items() if name not in paginator.arguments}
    return {**rest, **tokens} if tokens and {**rest, **tokens} != dict(arguments) else None
