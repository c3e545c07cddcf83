"""A report has tables of what was measured, and lists what failed and why."""

from __future__ import annotations

from dataclasses import replace

from codemode.bench.measures import Price
from codemode.bench.report import markdown_of
from codemode.bench.results import Step, TurnRecord
from codemode.bench.tables import Table, tables_of
from tests.unit.codemode.bench.samples import FAILED, PAY, REFUSED, gold, result


def cells(table: Table, row: int = 0) -> dict[str, str]:
    return dict(zip(table.titles, table.rows[row], strict=True))


def test_success_and_effort_have_a_row_for_each_group() -> None:
    _, _, success, effort, _ = tables_of([result(), result("b", solved=False, repeat=0), result(mode="native")])
    assert [row[2] for row in success.rows] == [row[2] for row in effort.rows] == ["code", "native"]
    assert cells(success) == {
        "suite": "shop",
        "model": "m",
        "mode": "code",
        "policy": "off",
        "solved": "1/2",
        "pass^1": "50%",
        "95 %": "9% to 91%",
        "pass^k": "",
        "silently wrong": "0",
        "refused": "2",
        "calls held": "2",
    }
    assert cells(effort)["of which definitions"] == "400"
    assert cells(effort)["model s"] == "2.50"


def test_times_that_a_peer_does_not_report_are_blank() -> None:
    _, effort = tables_of([result(turns=[TurnRecord("pay", "paid", requests=2, input_tokens=5)])])
    assert (cells(effort)["model s"], cells(effort)["tools s"]) == ("", "")


def test_pass_hat_k_names_its_k() -> None:
    success, *_ = tables_of([result(), result(repeat=1)])
    assert cells(success)["pass^k"] == "100% (k=2)"


def test_costs_appear_with_a_price() -> None:
    assert "cost" not in tables_of([result()])[1].titles
    success, effort, _, programs = tables_of([result(), gold()], Price(2, 0.5, 10))
    assert cells(effort)["cost"] == "0.00130"
    assert cells(programs)["cost: native"] == "0.00305"
    assert "2 for a million input tokens, 0.5 for cached ones, 10 for output" in effort.notes
    assert "cost" not in success.titles


def test_faults_are_counted_by_kind() -> None:
    stopped = TurnRecord("pay", "", [REFUSED, REFUSED, Step("1 / 0", "failed"), PAY], status="iterations")
    *_, faults = tables_of([result("a", turns=[stopped]), result("b", mode="native", turns=[TurnRecord("pay", "ok")])])
    assert faults.title == "Faults"
    assert len(faults.rows) == 1
    assert cells(faults)["turns"] == "iterations 1"
    assert cells(faults)["programs and calls"] == "refused 2, failed 1"
    assert cells(faults)["refused for"] == "unknown_tool 2"


def test_gold_programs_have_a_table_of_their_own() -> None:
    (programs,) = tables_of([gold()])
    assert cells(programs) == {
        "suite": "shop",
        "policy": "off",
        "solved": "1/1",
        "failed": "0",
        "tools": "9",
        "calls": "1.0",
        "definitions: native": "900",
        "two tools": "100",
        "trace: native": "2,000",
        "trace: code mode": "500",
        "s": "3.25",
    }


def test_gold_programs_that_fail_are_counted_although_the_judge_accepts() -> None:
    (programs,) = tables_of([gold("a"), replace(gold("b"), turns=[FAILED])])
    assert (cells(programs)["solved"], cells(programs)["failed"]) == ("2/2", "1")


def test_attacks_are_beside_the_utility_without_them() -> None:
    results = [
        result("x.a"),
        result("x.b", solved=False),
        result("x.a.1", suite="shop:ignore", details={"attack_succeeded": True}),
        result("x.a.1", suite="shop:ignore", policy="deny", details={"attack_succeeded": False}),
    ]
    *_, attacks = tables_of(results)
    assert attacks.title == "Attacks"
    off, deny = cells(attacks, 0), cells(attacks, 1)
    assert (off["utility"], off["utility under attack"], off["attack success"]) == (
        "1/2 (50.0%)",
        "1/1 (100.0%)",
        "1/1 (100.0%)",
    )
    assert (deny["policy"], deny["utility"], deny["attack success"]) == ("deny", "", "0/1 (0.0%)")
    assert "flow allows them, unless the rules on data flow ask" in attacks.notes


def test_an_attempt_that_was_not_judged_is_no_attack_that_failed() -> None:
    attacked = result("x.a.1", suite="shop:ignore", details={"attack_succeeded": True})
    broken = result("x.b.1", suite="shop:ignore", solved=False, turns=[])
    *_, attacks = tables_of([attacked, broken])
    assert (cells(attacks)["utility under attack"], cells(attacks)["attack success"]) == ("1/2 (50.0%)", "1/1 (100.0%)")


def test_names_with_a_bar_stay_in_their_cell() -> None:
    assert "| a\\|b |" in markdown_of([result(model="a|b")])


def test_markdown_lists_the_tasks_that_were_not_solved() -> None:
    text = markdown_of([result("a"), result("b", solved=False)])
    assert "- shop `b`: not paid" in text
    assert "`a`" not in text


def test_markdown_names_the_origin_once() -> None:
    about = {"date": "2026-11-26", "commit": "abc"}
    text = markdown_of([result("a", about=about), result("b", about=about)])
    assert text.count("- date 2026-11-26, commit abc.") == 1
