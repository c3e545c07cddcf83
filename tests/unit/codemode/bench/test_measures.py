"""Results of one suite, model, mode and policy are measured together."""

from __future__ import annotations

import pytest

from codemode.bench.measures import Price, groups_of
from codemode.bench.results import Result, Step, TurnRecord
from codemode.errors import ConfigurationError
from tests.unit.codemode.bench.samples import PAY, REFUSED, gold, result


def attempts(task: str, *solved: bool) -> list[Result]:
    return [result(task, solved=one, repeat=repeat) for repeat, one in enumerate(solved)]


def test_a_group_has_one_suite_model_mode_and_policy() -> None:
    results = [result(), result(mode="native"), result(policy="ask"), result("b"), result(model="n")]
    found = [(one.suite, one.model, one.mode, one.policy, len(one.results)) for one in groups_of(results)]
    assert found == [
        ("shop", "m", "code", "off", 2),
        ("shop", "m", "code", "ask", 1),
        ("shop", "m", "native", "off", 1),
        ("shop", "n", "code", "off", 1),
    ]


def test_the_parts_of_a_suite_are_groups() -> None:
    assert [one.suite for one in groups_of([result("north.1"), result("south.1")])] == ["shop north", "shop south"]


def test_pass_hat_k_is_the_unbiased_estimate_over_tasks() -> None:
    (group,) = groups_of([*attempts("a", True, True, True, False), *attempts("b", True, False, False, False)])
    assert group.repeats == 4
    assert group.pass_hat(1) == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert group.pass_hat(2) == pytest.approx((3 / 6 + 0) / 2)  # C(3, 2) / C(4, 2)
    assert group.pass_hat(4) == 0


def test_k_is_the_fewest_attempts_at_a_task() -> None:
    (group,) = groups_of([*attempts("a", True, True, False), *attempts("b", True, True)])
    assert group.repeats == 2
    assert group.pass_hat(2) == pytest.approx((1 / 3 + 1) / 2)
    assert group.pass_hat(3) == 0  # of the task with three attempts


def test_the_interval_is_wilsons_over_tasks() -> None:
    (group,) = groups_of([one for task in range(20) for one in attempts(f"{task}", *[task < 9] * 2)])
    assert group.interval() == pytest.approx((0.258, 0.658), abs=0.001)
    (none,) = groups_of([*attempts("a", False), *attempts("b", False)])
    assert none.interval() == pytest.approx((0, 0.658), abs=0.001)


def test_definitions_are_apart_from_the_input() -> None:
    (code,), (menu,), (peer,) = (groups_of([result(mode=mode)]) for mode in ("hybrid", "menu", "fastmcp"))
    assert (code.input_tokens, code.definition_tokens) == (1000, 4 * 100)
    assert menu.definition_tokens == 4 * 300
    assert peer.definition_tokens is None


@pytest.mark.parametrize("mode", ["auto", "deferred"])
def test_definitions_that_change_from_request_to_request_are_not_known(mode: str) -> None:
    (group,) = groups_of([result(mode=mode)])
    assert group.definition_tokens is None


def test_cached_input_has_a_price_of_its_own() -> None:
    (group,) = groups_of([result()])
    assert group.cost(Price(2, 0.5, 10)) == pytest.approx((400 * 2 + 600 * 0.5 + 20 * 10) / 1e6)


def test_the_traces_of_gold_programs_have_a_cost() -> None:
    (group,) = groups_of([gold()])
    assert group.tokens == 500
    assert group.trace_cost("native", Price(2, 0.5, 10)) == pytest.approx((1050 * 2 + 900 * 0.5 + 50 * 10) / 1e6)


def test_attempts_without_a_trace_are_not_part_of_its_mean() -> None:
    (group,) = groups_of([gold(), gold("b", traces={}, traces_cached={}, traces_output={})])
    assert group.trace("native") == 2000
    (none,) = groups_of([gold(traces={}, traces_cached={}, traces_output={})])
    assert none.trace("native") is none.trace_cost("native", Price(1, 1, 1)) is none.tokens is None


def test_refused_programs_are_counted_with_the_calls_that_they_held() -> None:
    (group,) = groups_of([result(), result("b")])
    assert (group.refused, group.held) == (2, 2)


def test_an_attempt_is_silently_wrong_if_nothing_failed() -> None:
    quiet = result(solved=False, turns=[TurnRecord("pay", "paid", [PAY])])
    refused = result("b", solved=False, turns=[TurnRecord("pay", "paid", [REFUSED])])
    failed = result("c", solved=False, turns=[TurnRecord("pay", "paid", [Step("1 / 0", "failed"), PAY])])
    limited = result("d", solved=False, turns=[TurnRecord("pay", "", [PAY], status="iterations")])
    broken = result("e", solved=False, turns=[])
    assert [one.is_silently_wrong for one in (quiet, refused, failed, limited, broken)] == [True, *[False] * 4]
    (group,) = groups_of([quiet, refused, failed, limited, broken])
    assert group.silently_wrong == 1


def test_measures_are_json_data() -> None:
    (group,) = groups_of(attempts("a", True, False))
    data = group.to_json(Price(1, 1, 1))
    assert data["pass"] == [0.5, 0.0]
    assert data["failed"] == 0
    assert data["cost"] == pytest.approx(1020 / 1e6)
    assert data["definition_tokens"] == 400
    assert (data["model_s"], data["tools_s"]) == (2.5, 0.25)


@pytest.mark.parametrize("text", ["1,2", "1,2,x", "1,2,3,4", "-1,2,3", "nan,1,1", "inf,1,1", ""])
def test_a_price_that_is_none_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"1\.25,0\.125,10"):
        Price.parsed(text)


def test_a_price_has_three_parts() -> None:
    assert Price.parsed("1.25, 0.125, 10") == Price(1.25, 0.125, 10)
