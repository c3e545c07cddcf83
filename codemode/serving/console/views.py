"""What page modules build on: `Section`, and `Console`, which answers with a page, its JSON, or a redirect."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.responses import HTMLResponse, RedirectResponse

from codemode.serving.console import flash_message
from codemode.serving.console.csrf import FIELD, HEADER
from codemode.serving.console.rendering import Templates
from codemode.serving.console.session import base_of
from codemode.serving.web.outgoing import DataResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from codemode.service import CodeMode
    from codemode.serving.console.session import Session
    from codemode.serving.web.admission import Admission

STATIC = Path(__file__).parent / "static"


def always(_: Request, __: CodeMode) -> bool:
    """Show a section to everybody."""
    return True


def with_journal(_: Request, service: CodeMode) -> bool:
    """Show a section where executions are recorded."""
    return service.settings.keeps_journal


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation. Its first page is `/{name}`; `routes` are all of its routes, below `/console`.

    `is_shown` says whether a person gets its link on a service. `group` is the heading above it.
    """

    name: str
    label: str
    routes: Callable[[Console], Sequence[BaseRoute]]
    is_shown: Callable[[Request, CodeMode], bool] = always
    group: str = ""


class Console:
    """What the pages share: the service, the server's load, the templates, and the sections of the navigation.

    `label_of` returns the label of a key by the id of its caller.
    """

    def __init__(
        self, service: CodeMode, sections: Sequence[Section], load: Admission, label_of: Callable[[str], str] = str
    ) -> None:
        self.service = service
        self.load = load
        self.sections = sections
        self.label_of = label_of
        self._templates = Templates()

    def page(
        self,
        request: Request,
        template: str,
        *,
        title: str,
        data: Mapping[str, Any],
        status: int = 200,
        **view: Any,
    ) -> Response:
        """Return a page, or its `data` as JSON if the client asks for that.

        Clients ask with `?format=json` or `Accept: application/json`. The template gets the members of `data`, and of
        `view`, which holds what only the page needs: form values, the `Page` of a list.
        """
        if wants_json(request):
            return DataResponse(data, status)
        is_part = request.headers.get("hx-request") == "true"  # scripts take parts of a page only
        notice = "" if is_part else flash_message.waiting(request)
        context = self._context(request)
        if taken := context.keys() & {*data, *view}:
            message = f"{template}: the frame of every page has these names: {', '.join(sorted(taken))}"
            raise ValueError(message)
        context |= {**data, **view}
        text = self._templates.render(template, {**context, "title": title, "notice": notice})
        answer = HTMLResponse(text, status)
        if notice:
            flash_message.remove(answer, request)
        return answer

    def redirect(self, request: Request, *segments: str, message: str = "", **query: Any) -> Response:
        """Redirect after a change (303, RFC 9110, 15.4.4). The next page shows the message."""
        answer = RedirectResponse(path_in(base_of(request), *segments, **query), 303)
        if message:
            flash_message.leave(answer, request, message)
        return answer

    def _context(self, request: Request) -> dict[str, Any]:
        base = base_of(request)
        session: Session | None = request.state.session

        def path(*segments: str, **query: Any) -> str:
            return path_in(base, *segments, **query)

        def static(name: str) -> str:
            return f"{base}/static/{name}"

        return {
            "path": path,
            "label_of": self.label_of,
            "static": static,
            "here": here(request),
            "json_path": here(request, format="json"),
            "with_query": lambda **changed: here(request, **changed),
            "sections": self._shown(request) if request.state.caller is not None else (),
            "calls_waiting": getattr(request.state, "waiting", 0),
            "section": request.url.path.removeprefix(base).strip("/").partition("/")[0],
            "user": request.state.caller,  # `caller` is the block of a macro
            "has_session": session is not None and not session.is_open,
            "csrf_field": FIELD,
            "csrf_header": HEADER,
            "csrf_token": session.csrf_token if session is not None else "",
        }

    def _shown(self, request: Request) -> list[tuple[str, list[Section]]]:
        """Return the sections that the person of a request gets links to, by group."""
        shown = [one for one in self.sections if one.is_shown(request, self.service)]
        return [(group, list(members)) for group, members in groupby(shown, key=lambda one: one.group)]


def wants_json(request: Request) -> bool:
    """Whether a client asks for JSON in the place of a page."""
    accepted = request.headers.get("accept", "")
    asked = request.query_params.get("format")
    return asked == "json" or (asked is None and "application/json" in accepted and "text/html" not in accepted)


def path_in(base: str, *segments: str, **query: Any) -> str:
    """Return a path below the console. Empty and missing query values are left out."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    place = "/".join([base, *(quote(segment, safe="") for segment in segments)])
    return f"{place}?{urlencode(given)}" if given else place


def here(request: Request, **changed: Any) -> str:
    """Return the path of this page with changed query parameters."""
    root = request.scope.get("app_root_path", "")
    place = quote(request.scope["path"].removeprefix(root))
    query = {name: value for name, value in {**request.query_params, **changed}.items() if value not in (None, "")}
    return f"{root}{place}?{urlencode(query)}" if query else f"{root}{place}"


def return_path(text: str, base: str) -> str:
    """Return a path to go to after the login, or the console's own if the text is none below it."""
    is_ours = text.startswith(f"{base}/") and "\\" not in text and "//" not in text.partition("?")[0]
    return text if is_ours and text.isprintable() and text.isascii() else f"{base}/"
