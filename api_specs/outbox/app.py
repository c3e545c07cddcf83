"""The outbox service: its operations, documented by FastAPI."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api_specs.outbox import sending
from api_specs.outbox.models import (
    Channel,
    Delivery,
    DeliveryPage,
    DeliveryStatus,
    Message,
    MessagePage,
    MessageStatus,
    NewEmail,
    NewSuppression,
    NewTemplate,
    NewText,
    Preview,
    Suppression,
    Template,
    TemplateChange,
    Values,
)
from api_specs.outbox.models import Problem as ProblemDetails
from api_specs.outbox.problems import Problem
from api_specs.outbox.store import Row, Store, message, now

if TYPE_CHECKING:
    import pathlib

    from fastapi.responses import JSONResponse

router = APIRouter()

Limit = Annotated[int, Query(ge=1, le=100, description="Maximum number of items.")]
Cursor = Annotated[str | None, Query(pattern=r"^\d{1,15}$", description="`nextCursor` of the previous page.")]
Name = Annotated[str, Path(description="Name of the template.")]
MessageId = Annotated[int, Path(alias="messageId", ge=1, le=2**53)]


def create_app(database: pathlib.Path | str = ":memory:", *, token: str) -> FastAPI:
    """Create the service on a database file, or in memory. Every operation requires `token` as a bearer token."""
    app = FastAPI(
        title="Outbox",
        version="1.0.0",
        description="Mail and text messages with templates and a delivery log.",
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.store = Store(database)
    app.state.token = token
    app.include_router(
        router,
        dependencies=[Depends(_require_token)],
        responses={"default": {"model": ProblemDetails, "description": "The problem."}},
    )
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


def _require_token(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
) -> None:
    if given is None or not secrets.compare_digest(given.credentials.encode(), request.app.state.token.encode()):
        raise Problem(401, "Send the token of the service as a bearer token: Authorization: Bearer TOKEN.")


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    with store.transaction():
        sending.deliver_due(store)
    return store


Kept = Annotated[Store, Depends(_store)]


@router.get("/templates", tags=["templates"])
def list_templates(kept: Kept, channel: Channel | None = None) -> list[Template]:
    """List the templates for messages, by name."""
    rows = kept.rows(
        "select * from templates where :channel is null or channel = :channel order by name", channel=channel
    )
    return [_template(row) for row in rows]


@router.post("/templates", tags=["templates"], status_code=201)
def create_template(kept: Kept, content: NewTemplate) -> Template:
    """Create a template: a text with `$placeholders` and, for e-mail, a subject."""
    if content.channel == "email" and not content.subject:
        raise Problem(422, "A template for e-mail needs a subject.")
    sending.placeholders(content.subject, content.text)
    with kept.transaction():
        if kept.one("select 1 from templates where name = :name", name=content.name):
            raise Problem(409, f"Template {content.name} already exists; change it with update_template.")
        kept.add(
            "insert into templates values (:name, :channel, :subject, :text, :at)", **content.model_dump(), at=now()
        )
        return _template(_known_template(kept, content.name))


@router.get("/templates/{name}", tags=["templates"])
def get_template(kept: Kept, name: Name) -> Template:
    """Get one template with the placeholders that it takes."""
    return _template(_known_template(kept, name))


@router.patch("/templates/{name}", tags=["templates"])
def update_template(kept: Kept, name: Name, content: TemplateChange) -> Template:
    """Change the subject or the text of a template. Messages already written from it do not change."""
    with kept.transaction():
        row = _known_template(kept, name) | content.model_dump(exclude_none=True)
        sending.placeholders(row["subject"], row["text"])
        kept.change(
            "update templates set subject = :subject, text = :text, updated_at = :at where name = :name",
            subject=row["subject"],
            text=row["text"],
            at=now(),
            name=name,
        )
        return _template(_known_template(kept, name))


@router.delete("/templates/{name}", tags=["templates"], status_code=204)
def delete_template(kept: Kept, name: Name) -> None:
    """Delete a template. Messages written from it are kept."""
    with kept.transaction():
        _known_template(kept, name)
        kept.change("delete from templates where name = :name", name=name)


@router.post("/templates/{name}/preview", tags=["templates"])
def preview_template(kept: Kept, name: Name, content: Values) -> Preview:
    """Show a message from this template as it would be sent. Nothing is sent."""
    return Preview(**sending.preview(_known_template(kept, name), content.values))


@router.post("/emails", tags=["messages"], status_code=201)
def send_email(kept: Kept, content: NewEmail) -> Message:
    """Send an e-mail, at once or at `sendAt`, with its own text or from a template."""
    with kept.transaction():
        number = sending.write(kept, "email", list(content.to), content, content.subject or "")
        return _known_message(kept, number)


@router.post("/texts", tags=["messages"], status_code=201)
def send_text(kept: Kept, content: NewText) -> Message:
    """Send a text message (SMS), at once or at `sendAt`, with its own text or from a template."""
    with kept.transaction():
        return _known_message(kept, sending.write(kept, "text", [content.to], content))


@router.get("/messages", tags=["messages"])
def list_messages(
    kept: Kept,
    status: MessageStatus | None = None,
    channel: Channel | None = None,
    recipient: Annotated[str | None, Query(description="An exact address or number.")] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> MessagePage:
    """List messages, newest first, by status, channel or recipient."""
    where = (
        "(:status is null or status = :status) and (:channel is null or channel = :channel) and (:recipient is null"
        " or exists (select 1 from json_each(recipients) where value = :recipient))"
    )
    found = _page(kept, "messages", where, limit, cursor, status=status, channel=channel, recipient=recipient)
    return MessagePage(**{**found, "items": [message(row) for row in found["items"]]})


@router.get("/messages/{messageId}", tags=["messages"])
def get_message(kept: Kept, message_id: MessageId) -> Message:
    """Get one message with its text as it was sent."""
    return _known_message(kept, message_id)


@router.post("/messages/{messageId}/cancel", tags=["messages"])
def cancel_message(kept: Kept, message_id: MessageId) -> Message:
    """Cancel a scheduled message before it is sent."""
    with kept.transaction():
        _require_status(_known_message(kept, message_id), "scheduled", "cancelled")
        kept.change("update messages set status = 'cancelled' where id = :id", id=message_id)
        return _known_message(kept, message_id)


@router.post("/messages/{messageId}/retry", tags=["messages"])
def retry_message(kept: Kept, message_id: MessageId) -> Message:
    """Send a failed message again to all of its recipients."""
    with kept.transaction():
        _require_status(_known_message(kept, message_id), "failed", "sent again")
        sending.deliver(kept, message_id)
        return _known_message(kept, message_id)


@router.get("/deliveries", tags=["deliveries"])
def list_deliveries(
    kept: Kept,
    message_id: Annotated[int | None, Query(alias="messageId", ge=1, le=2**53)] = None,
    recipient: Annotated[str | None, Query(description="An exact address or number.")] = None,
    status: DeliveryStatus | None = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> DeliveryPage:
    """List the delivery log, newest first: the result of each message for each recipient."""
    where = (
        "(:message is null or message_id = :message) and (:recipient is null or recipient = :recipient)"
        " and (:status is null or status = :status)"
    )
    found = _page(kept, "deliveries", where, limit, cursor, message=message_id, recipient=recipient, status=status)
    return DeliveryPage(**{**found, "items": [Delivery(**row) for row in found["items"]]})


@router.get("/suppressions", tags=["suppressions"])
def list_suppressions(kept: Kept) -> list[Suppression]:
    """List the recipients that receive no more messages."""
    return [Suppression(**row) for row in kept.rows("select * from suppressions order by since desc, recipient")]


@router.post("/suppressions", tags=["suppressions"], status_code=201)
def suppress_recipient(kept: Kept, content: NewSuppression) -> Suppression:
    """Stop all messages to a recipient, for example after an unsubscription or a complaint."""
    with kept.transaction():
        if kept.one("select 1 from suppressions where recipient = :recipient", recipient=content.recipient):
            raise Problem(409, f"{content.recipient} is already suppressed.")
        kept.add("insert into suppressions values (:recipient, :reason, :at)", **content.model_dump(), at=now())
        return Suppression(**kept.rows("select * from suppressions where recipient = :r", r=content.recipient)[0])


@router.delete("/suppressions/{recipient}", tags=["suppressions"], status_code=204)
def allow_recipient(kept: Kept, recipient: Annotated[str, Path(description="An address or a number.")]) -> None:
    """Allow messages to a suppressed recipient again."""
    with kept.transaction():
        if not kept.change("delete from suppressions where recipient = :recipient", recipient=recipient):
            raise Problem(404, f"{recipient} is not suppressed; see list_suppressions.")


def _template(row: Row) -> Template:
    return Template(**row, placeholders=sending.placeholders(row["subject"], row["text"]))


def _known_template(kept: Store, name: str) -> Row:
    row = kept.one("select * from templates where name = :name", name=name)
    if row is None:
        raise Problem(404, f"There is no template {name!r}; see list_templates.")
    return row


def _known_message(kept: Store, number: int) -> Message:
    row = kept.one("select * from messages where id = :number", number=number)
    if row is None:
        raise Problem(404, f"There is no message {number}; see list_messages.")
    return Message(**message(row))


def _require_status(found: Message, status: MessageStatus, done: str) -> None:
    if found.status != status:
        raise Problem(409, f"Message {found.id} is {found.status}; only a {status} one can be {done}.")


def _page(kept: Store, table: str, where: str, limit: int, cursor: str | None, **values: object) -> dict[str, Any]:
    """Return one page of a table by descending number. The cursor is the last number of the previous page."""
    sql = f"from {table} where {where}"
    before = int(cursor) if cursor else 2**62
    rows = kept.rows(f"select * {sql} and id < :before order by id desc limit :n", before=before, n=limit + 1, **values)
    total = kept.rows(f"select count(*) as total {sql}", **values)[0]["total"]
    more = len(rows) > limit
    return {"items": rows[:limit], "total": total, "next_cursor": str(rows[limit - 1]["id"]) if more else None}


async def _problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)  # noqa: S101 -- registered for this class only
    return error.response()


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for this class only
    mistakes = (f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in error.errors())
    return Problem(422, "; ".join(mistakes)).response()
