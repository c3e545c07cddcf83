"""What a service says about an error reaches the first error, whatever the form of its body."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.transports.http.reasons import LONGEST, reason_of

PAGE = (
    "<!DOCTYPE html><html><head><title>Attention</title><style>{style}</style><script>{script}</script></head>"
    "<body><!-- {comment} --><h1>Access denied</h1><noscript>Ray ID: 8f2</noscript></body></html>"
)

SHAPES: dict[str, tuple[Any, str]] = {
    "problem details": (
        {"type": "https://x/probs/credit", "title": "Out of credit", "status": 403, "detail": "You need 30."},
        "Out of credit: You need 30.",
    ),
    "problem details, parameters": (
        {"title": "Invalid", "invalid-params": [{"name": "age", "reason": "must be positive"}]},
        "Invalid: invalid-params: age: must be positive",
    ),
    "a text": ({"error": "no such account"}, "no such account"),
    "a list of texts": ({"error": ["no such account", "nor card"]}, "no such account; nor card"),
    "Google": (
        {"error": {"code": 400, "message": "Bad date", "status": "INVALID_ARGUMENT", "details": []}},
        "Bad date (INVALID_ARGUMENT)",
    ),
    "OAuth": (
        {"error": "invalid_grant", "error_description": "The code has expired"},
        "invalid_grant: The code has expired",
    ),
    "Stripe": (
        {
            "error": {
                "type": "card_error",
                "code": "card_declined",
                "message": "Your card was declined.",
                "param": "src",
            }
        },
        "src: Your card was declined. (card_declined)",
    ),
    "GitHub": (
        {
            "message": "Validation Failed",
            "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}],
            "documentation_url": "https://docs.example.com/x",
        },
        "title: missing_field: Validation Failed",
    ),
    "Django REST": (
        {"email": ["Enter a valid email address."], "non_field_errors": ["Too late."]},
        "email: Enter a valid email address.; non_field_errors: Too late.",
    ),
    "Django REST, a list": (["This field is required."], "This field is required."),
    "Django REST, nested": ({"items": [{"qty": ["Too many."]}]}, "items: qty: Too many."),
    "ASP.NET ModelState": (
        {"Message": "The request is invalid.", "ModelState": {"model.Qty": ["Qty must be at least 1."]}},
        "The request is invalid.: model.Qty: Qty must be at least 1.",
    ),
    "ASP.NET Core": (
        {"title": "Validation errors occurred.", "status": 400, "errors": {"Qty": ["too large"]}, "traceId": "00-1"},
        "Validation errors occurred.: Qty: too large",
    ),
    "Salesforce": (
        [{"message": "No such column 'Nam'", "errorCode": "INVALID_FIELD"}],
        "No such column 'Nam' (INVALID_FIELD)",
    ),
    "an errorCode": ({"errorCode": "E1045", "errorMessage": "The period is closed"}, "The period is closed (E1045)"),
    "an errorCode alone": ({"errorCode": "PERIOD_CLOSED"}, "PERIOD_CLOSED"),
    "a number": ({"code": 20404, "message": "not found", "more_info": "https://x", "status": 404}, "not found (20404)"),
    "Atlassian": (
        {"errorMessages": ["Issue does not exist"], "errors": {"summary": "is required"}},
        "summary: is required: Issue does not exist",
    ),
    "FastAPI": (
        {"detail": [{"loc": ["body", "qty"], "msg": "field required", "type": "missing"}]},
        "body.qty: field required (missing)",
    ),
    "JSON:API": (
        {"errors": [{"title": "Invalid", "detail": "is taken", "source": {"pointer": "/data/name"}}]},
        "/data/name: Invalid: is taken",
    ),
    "Spring": (
        {"timestamp": "2026-01-01", "status": 400, "error": "Bad Request", "message": "id is odd", "path": "/x/1"},
        "id is odd",
    ),
    "NestJS": (
        {"statusCode": 400, "message": ["qty must be a number"], "error": "Bad Request"},
        "qty must be a number",
    ),
    "Apigee": (
        {"fault": {"faultstring": "Quota violation", "detail": {"errorcode": "policies.ratelimit"}}},
        "Quota violation: policies.ratelimit",
    ),
    "Cloudflare": (
        {"success": False, "errors": [{"code": 1003, "message": "Invalid zone"}], "messages": [], "result": None},
        "Invalid zone (1003)",
    ),
    "Slack": ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
    "OData": (
        {"odata.error": {"code": "-1", "message": {"lang": "en", "value": "The list is gone"}}},
        "The list is gone (-1)",
    ),
    "AWS": ({"__type": "ValidationException", "message": "1 error"}, "1 error (ValidationException)"),
    "Symfony": (
        {"violations": [{"propertyPath": "qty", "message": "must be positive"}]},
        "violations: qty: must be positive",
    ),
    "response status": (
        {"responseStatus": {"errorCode": "Locked", "message": "The order is locked"}},
        "The order is locked (Locked)",
    ),
    "XML": ("<Error><Code>NoSuchKey</Code><Message>No such key</Message></Error>", "NoSuchKey No such key"),
    "a page": (
        PAGE.format(style="b{c:d}\n" * 4000, script="if (a < 2) {}\n" * 999, comment="pad " * 400),
        "Attention Access denied Ray ID: 8f2",
    ),
    "plain text": ("quota exceeded\n", "quota exceeded"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_reason_of_the_service_is_shown_whatever_the_form_of_the_body(shape: str) -> None:
    body, expected = SHAPES[shape]
    assert reason_of(body, "Bad Request") == expected


@pytest.mark.parametrize("body", [None, 5, True, {}, [], "", {"status": 500}, {"id": 7}, {"error": None}])
def test_a_body_that_says_nothing_gives_no_reason(body: Any) -> None:
    assert reason_of(body) == ""


def test_a_reason_is_short_however_large_and_deep_the_body_is() -> None:
    deep: Any = "bottom"
    for _ in range(100):
        deep = {"error": deep}
    assert reason_of(deep) == ""
    assert len(reason_of([{"message": f"line {n} " * 50} for n in range(10_000)])) <= LONGEST + 1


@pytest.mark.parametrize("unclosed", ["<style>", "<script", "<!--", "<svg><script></svg>"])
def test_pages_of_unclosed_elements_are_read_once(unclosed: str) -> None:
    assert reason_of("<p>Denied</p>" + unclosed * 30_000) == "Denied"
