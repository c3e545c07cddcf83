"""The page of a report has the tables, plots, failures and transcripts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from codemode.bench.figures import figures_of
from codemode.bench.measures import groups_of
from codemode.bench.page import html_of, matrices_of
from codemode.bench.plot import plots_of
from tests.unit.codemode.bench.samples import gold, result


class Tags(HTMLParser):
    """The ids, and the targets of links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))


def test_a_transcript_shows_search_program_ledger_and_answer() -> None:
    page = html_of([result()])
    for text in ("Search", "Program", "shop.pay(to=&#39;&lt;me&gt;&#39;)", "shop.pay committed 1", "Pay &lt;it&gt;"):
        assert text in page
    assert "unknown_tool; nothing was sent" in page


def test_each_failure_links_to_its_transcript() -> None:
    tags = Tags(html_of([result("a"), result("b", solved=False), result("c", solved=False, mode="native")]))
    assert tags.links
    assert {link.removeprefix("#") for link in tags.links} <= set(tags.ids)
    assert len(set(tags.ids)) == len(tags.ids)


def test_modes_are_side_by_side_with_links_to_each_attempt() -> None:
    tags = Tags(html_of([result("a"), result("a", mode="native"), result("b")]))
    assert [link.removeprefix("#") in tags.ids for link in tags.links] == [True] * 3


def test_a_matrix_has_a_column_for_each_mode_and_policy() -> None:
    (matrix,) = matrices_of([result("a"), result("b", mode="native"), result("a", policy="ask", repeat=1)])
    assert matrix.columns == ["code", "native", "code, ask"]
    assert [(task, [len(cell) for cell in cells]) for task, cells in matrix.rows] == [
        ("a", [1, 0, 1]),
        ("b", [0, 1, 0]),
    ]


def test_one_attempt_at_each_task_needs_no_matrix() -> None:
    assert matrices_of([result("a"), result("b")]) == []


def test_a_page_of_figures_has_no_transcripts() -> None:
    page = html_of([figures_of(result("b", solved=False))])
    assert "Transcripts" not in page
    assert "#attempt" not in page


def test_a_page_loads_nothing_from_elsewhere() -> None:
    page = html_of([result(), gold()])
    assert re.findall(r"(?:src|href)=\"(?!#)", page) == []


def test_a_page_of_no_results_is_a_page() -> None:
    assert "codemode measure" in html_of([])


def test_a_plot_has_a_point_for_each_mode_and_two_for_gold_traces() -> None:
    model, programs = plots_of(groups_of([result("b", solved=False), result(mode="native"), gold()]))
    found = {plot.title: {point.label for point in plot.points} for plot in (model, programs)}
    assert found == {"shop, m": {"code", "native"}, "shop, gold": {"native trace", "code trace"}}


def test_success_is_up_and_tokens_are_to_the_right() -> None:
    (plot,) = plots_of(groups_of([gold("a"), gold("b", solved=False)]))
    by_label = {point.label: point for point in plot.points}
    assert by_label["code trace"].x < by_label["native trace"].x
    (failed,) = plots_of(groups_of([gold("b", solved=False)]))
    assert failed.points[0].y > plot.points[0].y


def test_success_is_that_of_tasks_and_not_of_attempts() -> None:
    attempts = [gold("a"), gold("a", repeat=1), gold("a", repeat=2), gold("b", solved=False)]
    (plot,), (even,) = plots_of(groups_of(attempts)), plots_of(groups_of([attempts[0], attempts[3]]))
    assert {point.y for point in plot.points} == {point.y for point in even.points}


def test_labels_cover_no_point_and_no_other_label() -> None:
    modes = ("code", "hybrid", "native", "menu", "auto")
    (plot,) = plots_of(groups_of([result(mode=mode) for mode in modes]))
    labels = [point.label_box for point in plot.points]
    others = [*labels, *(point.box for point in plot.points)]
    assert [(at, box) for at, label in enumerate(labels) for box in others[at + 1 :] if label.covers(box)] == []


def test_policies_have_plots_of_their_own() -> None:
    assert [plot.title for plot in plots_of(groups_of([result(), result(policy="ask")]))] == [
        "shop, m",
        "shop, m, policy ask",
    ]
