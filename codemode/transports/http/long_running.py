"""Long-running operations: where an answer says that its work goes on, and how the work ended.

Read are the conventions of Azure (`Operation-Location`, `Azure-AsyncOperation`), of Google (`done`, `name`) and of
`202 Accepted` with a `Location` (RFC 9110, 15.3.3), and status fields with the usual words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from codemode.errors import UpstreamError
from codemode.transports.http.addresses import is_same_origin, without_query
from codemode.transports.http.headers import retry_after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.transports.base import Page

    Read = Callable[[str], Awaitable[Page]]
    Sleep = Callable[[float], Awaitable[None]]

#: Default and longest wait for a result in seconds, most polls, and the pauses between them without advice.
WAIT_S, LONGEST_WAIT_S, MOST_POLLS = 120.0, 3_600.0, 1_000
FIRST_PAUSE_S, LEAST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 0.5, 15.0

_ACCEPTED = 202

#: Headers with the address of the status, the surest first, and fields of the body.
_STATUS_HEADERS = ("operation-location", "azure-asyncoperation", "location", "content-location")
_STATUS_FIELDS = (
    "statusQueryGetUri", "status_url", "statusUrl", "polling_url", "pollingUrl", "operation_url", "urls.get",
    "_links.status.href", "links.status", "_links.self.href", "links.self", "selfLink", "self", "href",
)  # fmt: skip
_STATES = ("status", "state", "provisioningState", "properties.provisioningState", "runtimeStatus", "status.state")

_WORKING = re.compile(
    r"(?i)(not[ _-]?started|waiting|scheduled|queued|enqueued|pending|accepted|submitted|creating|updating|deleting"
    r"|provisioning|starting|started|validating|preparing|running|processing|working|in[ _-]?progress|executing"
    r"|resuming)"
)
_FAILED = re.compile(
    r"(?i)(fail(ed|ure)?|error(ed)?|cancell?ed|abort(ed)?|rejected|expired|terminated|timed?[ _-]?out|denied|invalid)"
)
_VERSION = re.compile(r"/v\d[\w.]*(?=/)")


def status_url(page: Page, asked: str) -> str:
    """Return the URL of the status of the work that an answer began, "" for none. `asked` is the URL that was asked."""
    linked = [page.headers[name] for name in _STATUS_HEADERS if page.headers.get(name)]
    linked += [text for field in _STATUS_FIELDS if isinstance(text := _at(page.value, field), str) and "/" in text]
    name = _at(page.value, "name")
    if not linked and isinstance(name, str) and isinstance(_at(page.value, "done"), bool):
        version = _VERSION.search(asked.partition("://")[2])
        linked = [f"{version[0] if version else ''}/{name}"]
    return urljoin(asked, linked[0]) if linked else ""


def goes_on(page: Page) -> bool:
    """Return whether the work of a call goes on after this first answer."""
    headers = page.headers.keys() & {"operation-location", "azure-asyncoperation"}
    return page.status == _ACCEPTED or (bool(headers) and page.status < 300) or is_working(page)


def is_working(page: Page) -> bool:
    """Return whether an answer says that the work goes on."""
    done = _at(page.value, "done")
    if isinstance(done, bool):
        return not done
    word = state_of(page.value)
    return _WORKING.fullmatch(word) is not None if word else page.status == _ACCEPTED


def failure_of(value: Any) -> str:
    """Return how a status says that the work failed, "" if it does not."""
    error = _at(value, "error")
    if _at(value, "done") is True and isinstance(error, Mapping) and error:
        return str(error.get("message") or error.get("code") or "error")
    word = state_of(value)
    return word if word and _FAILED.fullmatch(word) else ""


def state_of(value: Any) -> str:
    """Return the word for the state of the work in a status, "" for none."""
    return next((word for field in _STATES if isinstance(word := _at(value, field), str)), "")


def result_url(first: Page, last: Page, asked: str) -> str:
    """Return the URL of the result once the work is done, "" if the last answer is the result (Azure).

    `asked` is the URL that was asked first.
    """
    resource = _at(last.value, "resourceLocation")
    if isinstance(resource, str):
        return urljoin(asked, resource)
    has_status_beside = first.headers.keys() & {"operation-location", "azure-asyncoperation"}
    location = first.headers.get("location", "")
    return urljoin(asked, location) if has_status_beside and location else ""


def result_of(value: Any) -> Any:
    """Return the result within a status that is done: Google's `response`."""
    response = _at(value, "response")
    return response if _at(value, "done") is True and response is not None else value


async def wait_for_result(first: Page, asked: str, read: Read, sleep: Sleep, wait_s: float, name: str) -> Page:
    """Read the status of the work that `first` began until the work is done, and return the answer with its result.

    `asked` is the URL that was asked, `name` that of the operation, and `read` returns the answer at a URL. Raises
    UpstreamError if the work failed or is not done within `wait_s` seconds; its body has the last answer.
    """
    url = status_url(first, asked)
    if not url:
        message = f"{name} answered {first.status}: its work goes on, and no address says where; e.body has its answer"
        raise UpstreamError(message, status=first.status, body=first.value)
    last, left, pause = first, wait_s, FIRST_PAUSE_S
    for _ in range(MOST_POLLS):
        wait = _pause(last, pause)
        if wait > left:
            break
        await sleep(wait)
        left, pause = left - wait, min(pause * 2, LONGEST_PAUSE_S)
        last = await read(_at_home(url, asked, name))
        failure = failure_of(last.value)
        if failure:
            message = f"the work of {name} failed: {failure}; e.body has the whole answer"
            raise UpstreamError(message, status=last.status, body=last.value)
        if not is_working(last):
            there = result_url(first, last, asked)
            return await read(_at_home(there, asked, name)) if there else replace(last, value=result_of(last.value))
    said = f" ({word})" if (word := state_of(last.value)) else ""
    message = f"the work of {name} goes on{said} after {wait_s:g} s; e.body has its last answer and its address"
    raise UpstreamError(message, status=last.status, body={"status_url": url, "value": last.value})


def _pause(last: Page, pause: float) -> float:
    """Return the seconds before the next poll: what the service advises, if it does."""
    advised = retry_after(last.headers)
    return pause if advised is None else max(advised, LEAST_PAUSE_S)


def _at_home(url: str, asked: str, name: str) -> str:
    """Return a URL on the host that was asked. Raises UpstreamError for any other."""
    if url.isascii() and is_same_origin(asked, url):
        return url
    message = f"the status of the work of {name} is at {without_query(url)}, another host, which is not asked"
    raise UpstreamError(message, body={"status_url": url})


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
