"""Work that goes on after its first answer, in the conventions of those who offer it."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.errors import UpstreamError
from codemode.transports.base import Page
from codemode.transports.http.long_running import goes_on, wait_for_result

HERE = "https://api.test/v1/exports"


def _page(value: Any = None, status: int = 200, **headers: str) -> Page:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Page(value, [], None, status=status, headers=named)


class Service:
    """Answers one after another, the last one again and again. `asked` holds the URLs, `slept` the pauses."""

    def __init__(self, *answers: Page) -> None:
        self.answers = [*answers]
        self.asked: list[str] = []
        self.slept: list[float] = []

    async def read(self, url: str) -> Page:
        self.asked.append(url)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def result(self, first: Page, wait_s: float = 60.0) -> Any:
        return (await wait_for_result(first, HERE, self.read, self.sleep, wait_s, "api.export")).value


RUNNING, DONE = _page({"status": "Running"}), _page({"status": "Succeeded", "n": 1})
FORMS: dict[str, tuple[Page, tuple[Page, ...], list[str], Any]] = {
    "202 with a location, then 202, then 200": (
        _page(status=202, location="/jobs/1"),
        (_page(status=202), _page({"n": 1})),
        ["/jobs/1", "/jobs/1"],
        {"n": 1},
    ),
    "a relative location": (_page(status=202, location="exports/1"), (DONE,), ["/v1/exports/1"], DONE.value),
    "Azure's Operation-Location, and a result elsewhere": (
        _page(status=202, operation_location=f"{HERE}/op", location=f"{HERE}/7"),
        (RUNNING, DONE, _page({"id": 7})),
        ["/v1/exports/op", "/v1/exports/op", "/v1/exports/7"],
        {"id": 7},
    ),
    "Azure's resourceLocation": (
        _page({}, 201, azure_asyncoperation=f"{HERE}/op"),
        (_page({"status": "Succeeded", "resourceLocation": f"{HERE}/9"}), _page({"id": 9})),
        ["/v1/exports/op", "/v1/exports/9"],
        {"id": 9},
    ),
    "Google's operations": (
        _page({"name": "operations/a1", "done": False}),
        (_page({"name": "operations/a1"}), _page({"name": "operations/a1", "done": True, "response": {"n": 1}})),
        ["/v1/operations/a1", "/v1/operations/a1"][:1],
        {"name": "operations/a1"},
    ),
    "Google's operations that go on": (
        _page({"name": "operations/a1", "done": False}),
        (_page({"name": "a", "done": False}), _page({"name": "a", "done": True, "response": {"n": 1}})),
        ["/v1/operations/a1"] * 2,
        {"n": 1},
    ),
    "a URL in the body": (
        _page({"state": "queued", "urls": {"get": f"{HERE}/3"}}, 201),
        (_page({"state": "processing"}), _page({"state": "done"})),
        ["/v1/exports/3"] * 2,
        {"state": "done"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
async def test_the_result_is_read_where_the_answer_says(form: str) -> None:
    first, answers, asked, result = FORMS[form]
    service = Service(*answers)
    assert goes_on(first)
    assert await service.result(first) == result
    assert [url.removeprefix("https://api.test") for url in service.asked] == asked


@pytest.mark.parametrize("page", [_page({"id": 1}), _page({"status": "active"}, 201), _page({"done": True})])
def test_other_answers_are_final(page: Page) -> None:
    assert not goes_on(page)


async def test_the_pauses_are_those_that_the_service_advises() -> None:
    service = Service(_page({"status": "running"}, retry_after="7"), RUNNING, RUNNING, DONE)
    await service.result(_page(status=202, location="/1", retry_after="3"))
    assert service.slept == [3.0, 7.0, 4.0, 8.0]


async def test_the_wait_is_bounded_and_its_error_says_where_the_work_goes_on() -> None:
    service = Service(RUNNING)
    with pytest.raises(UpstreamError, match=r"api\.export goes on \(Running\) after 60 s") as raised:
        await service.result(_page(status=202, location="/1"))
    assert sum(service.slept) <= 60
    assert raised.value.body == {"status_url": "https://api.test/1", "value": RUNNING.value}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"status": "Failed", "error": {"code": "Quota"}}, "failed: Failed"),
        ({"name": "a", "done": True, "error": {"message": "no quota"}}, "failed: no quota"),
        ({"state": "cancelled"}, "failed: cancelled"),
    ],
)
async def test_work_that_failed_is_an_error_with_the_whole_answer(value: Any, said: str) -> None:
    with pytest.raises(UpstreamError, match=said) as raised:
        await Service(_page(value)).result(_page(status=202, location="/1"))
    assert raised.value.body == value


@pytest.mark.parametrize(
    "place", ["https://other.test/1", "http://api.test/1", "https://api.test:8443/1", "//x.test/1"]
)
async def test_no_other_host_is_asked(place: str) -> None:
    service = Service(DONE)
    with pytest.raises(UpstreamError, match="another host, which is not asked"):
        await service.result(_page(status=202, location=place))
    assert service.asked == []


async def test_work_without_an_address_is_told() -> None:
    with pytest.raises(UpstreamError, match="answered 202: its work goes on, and no address says where"):
        await Service(DONE).result(_page({"id": 1}, 202))
