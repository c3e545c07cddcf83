"""A report groups results, and shows what failed and why."""

from __future__ import annotations

from codemode.bench.report import groups_of, html_of, markdown_of
from codemode.bench.results import Result, Step, TurnRecord

TURN = TurnRecord("Pay <it>", "paid", [Step("pay()", "completed", 1)], input_tokens=100, output_tokens=20)


def result(task: str, *, solved: bool, mode: str = "code", repeat: int = 0, **details: bool) -> Result:
    reason = "" if solved else "not paid"
    return Result("shop", task, "m", mode, "off", solved, reason, [TURN], details=dict(details), repeat=repeat)


def test_each_suite_model_and_mode_is_a_row() -> None:
    results = [result("a", solved=True), result("a", solved=False, mode="native"), result("b", solved=False)]
    rows = [group.row() for group in groups_of(results)]
    assert [row[:5] for row in rows] == [["shop", "m", "code", "off", "1/2"], ["shop", "m", "native", "off", "0/1"]]
    assert rows[0][7] == "120"


def test_pass_k_counts_tasks_that_every_attempt_solved() -> None:
    results = [
        result("a", solved=True),
        result("a", solved=True, repeat=1),
        result("b", solved=True),
        result("b", solved=False, repeat=1),
    ]
    (group,) = groups_of(results)
    assert group.pass_all() == (2, 0.5)


def test_attacks_that_succeeded_are_counted() -> None:
    results = [result("a", solved=True, attack_succeeded=True), result("b", solved=True, attack_succeeded=False)]
    assert groups_of(results)[0].row()[6] == "1/2"


def test_markdown_lists_the_tasks_that_were_not_solved() -> None:
    text = markdown_of([result("a", solved=True), result("b", solved=False)])
    assert "- shop `b`: not paid" in text
    assert "`a`" not in text


def test_html_has_transcripts_with_escaped_text() -> None:
    page = html_of([result("a", solved=True)])
    assert "Pay &lt;it&gt;" in page
    assert "pay()" in page
    assert page.count("<circle") == 1
