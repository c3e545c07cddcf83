"""A recorded run gives the same figures when it is replayed, without the model."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from codemode.bench.results import read_results
from codemode.testing.model_server import Reply
from tests.command_line import codemode
from tests.model_service import serving

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.testing.model_server import ModelRequest
    from tests.command_line import Ended

SUITE = '''
from functools import partial

from codemode.bench.suite import Episode, Run, Task, Verdict


class Shop:
    name = "shop"

    def tasks(self):
        return [Task(word, [f"Do {word}.", "And again."], partial(begin, word)) for word in ("pay", "list", "fail")]


def begin(word):
    paid = []

    def pay(number: int) -> int:
        """Pay an order."""
        paid.append(number)
        return len(paid)

    def orders() -> list[str]:
        """List all orders."""
        return [f"order {number} of many" for number in range(4000)]

    async def judge(run: Run) -> Verdict:
        return Verdict(word in run.answer and "Done" in run.answer, f"paid {paid}")

    return Episode(judge, gold=["0", "0"], tools={"shop": [pay, orders]})
'''


def script(seen: ModelRequest) -> Reply:
    """Search, run a refused program, mend it, and answer; the results name random ids."""
    if "search" not in seen.tools:
        return Reply("Done with pay.") if seen.answers else Reply(calls=[("shop-pay", {"number": 1})], usage=(900, 9))
    word = re.findall(r"Do (\w+)", str(seen.messages))[0]
    handles = re.findall(r"h_[0-9a-f]{32}", seen.answers[-1].text) if seen.answers else []
    if handles:
        return Reply(calls=[("execute", {"code": f"len(load({handles[0]!r}))"})])
    match len(seen.answers):
        case 0:
            return Reply(calls=[("search", {"queries": [word]})], usage=(500, 20))
        case 1:
            return Reply(calls=[("execute", {"code": "shop.pays(number=1)"})], usage=(600, 20))
        case 2 if word == "list":
            return Reply(calls=[("execute", {"code": "shop.orders()"})], usage=(700, 20))
        case 2:
            return Reply(calls=[("execute", {"code": "shop.pay(number=1)"})], usage=(700, 20))
    return Reply("Sorry." if word == "fail" else f"Done with {word}.", usage=(800, 5))


def bench(folder: Path, *options: str, **environment: str) -> Ended:
    """Run the suite on a model."""
    (folder / "shop.py").write_text(SUITE, encoding="utf-8")
    run = ("measure", "shop.py:Shop", "--model", "m", "--jobs", "3", "--repeats", "2")
    return codemode(*run, *options, folder=folder, **environment)


def figures(folder: Path, name: str) -> list[dict[str, object]]:
    """The measures of a file, without those of time."""
    ended = codemode("measure", "report", name, "--price", "2,1,8", "--json", folder=folder)
    groups: list[dict[str, object]] = json.loads(ended.stdout)
    return [{name: value for name, value in group.items() if not name.endswith("_s")} for group in groups]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recorded run, whose model is gone."""
    folder = tmp_path_factory.mktemp("recorded")
    with serving(script) as server:
        ended = bench(
            folder,
            *("--model-url", server.base_url, "--out", "first.jsonl", "--record", "turns.jsonl"),
            *("--mode", "code,native"),
            OPENAI_API_KEY=server.key,
        )
        assert ended.returncode == 0, ended.stderr
        assert server.key not in (folder / "turns.jsonl").read_text(encoding="utf-8")
    return folder


def test_a_replay_gives_the_same_figures_without_the_model(recorded: Path) -> None:
    ended = bench(recorded, "--out", "second.jsonl", "--replay", "turns.jsonl", "--mode", "code,native", "--jobs", "1")
    assert ended.returncode == 0, ended.stderr
    assert figures(recorded, "second.jsonl") == figures(recorded, "first.jsonl")
    code, native = figures(recorded, "second.jsonl")
    assert (code["solved"], code["attempts"], code["refused_programs"], code["held_calls"]) == (4, 6, 12, 12)
    assert (native["solved"], native["attempts"], native["refused_programs"]) == (2, 6, 0)
    assert native["silently_wrong"] == 4
    assert {one.about["date"] != "" for one in read_results(recorded / "second.jsonl")} == {True}


def test_the_time_of_a_turn_is_split(recorded: Path) -> None:
    group, _ = json.loads(codemode("measure", "report", "first.jsonl", "--json", folder=recorded).stdout)
    assert 0 < group["model_s"] < group["duration_s"]
    assert 0 < group["tools_s"] < group["duration_s"]


def test_a_replay_on_other_tools_says_what_differs(recorded: Path) -> None:
    changed = SUITE.replace("Pay an order.", "Pay one order now.")
    (recorded / "other.py").write_text(changed, encoding="utf-8")
    run = ("measure", "other.py:Shop", "--model", "m", "--repeats", "2")
    ended = codemode(*run, "--out", "third.jsonl", "--replay", "turns.jsonl", folder=recorded)
    assert ended.returncode == 2
    assert "request 1 is not in turns.jsonl" in ended.stderr
    assert "its tools or codemode differ" in ended.stderr


def test_figures_do_not_replace_the_results_that_they_come_from(recorded: Path) -> None:
    before = (recorded / "first.jsonl").read_bytes()
    ended = codemode("measure", "report", "first.jsonl", "--export", "./first.jsonl", folder=recorded)
    assert (ended.returncode, (recorded / "first.jsonl").read_bytes()) == (2, before)
    assert "whose texts would be lost" in ended.stderr


def test_a_run_with_other_settings_needs_a_file_of_its_own(recorded: Path) -> None:
    before = (recorded / "first.jsonl").read_bytes()
    url = ("--model-url", "http://127.0.0.1:9/v1")
    ended = bench(recorded, *url, "--out", "first.jsonl", "--temperature", "0.5")
    assert (ended.returncode, (recorded / "first.jsonl").read_bytes()) == (2, before)
    assert "first.jsonl has attempts with temperature unset, not 0.5: name another file with --out" in ended.stderr


def test_attempts_that_did_not_reach_the_model_are_no_results(tmp_path: Path) -> None:
    ended = bench(tmp_path, "--model-url", "http://127.0.0.1:9/v1", "--out", "lost.jsonl", OPENAI_API_KEY="secret-key")
    assert ended.returncode == 1
    assert "6 attempts not in lost.jsonl, which the same command repeats: unreachable: " in ended.stderr
    assert "0/6" not in ended.stdout
    assert "secret-key" not in ended.stderr
    assert (tmp_path / "lost.jsonl").read_text(encoding="utf-8") == ""


def test_an_address_that_is_none_ends_the_run(tmp_path: Path) -> None:
    ended = bench(tmp_path, "--model-url", "localhost")
    assert (ended.returncode, "'localhost' is not a valid http or https address" in ended.stderr) == (2, True)


def test_a_missing_key_ends_the_run(tmp_path: Path) -> None:
    ended = bench(tmp_path, OPENAI_API_KEY="")
    assert ended.returncode == 2
    assert "the model's provider needs a key" in ended.stderr
    assert (tmp_path / "bench.jsonl").read_text(encoding="utf-8") == ""


def test_a_replay_needs_a_file_of_its_own(recorded: Path) -> None:
    ended = bench(recorded, "--out", "first.jsonl", "--replay", "turns.jsonl")
    assert ended.returncode == 2
    assert "first.jsonl has results already" in ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--record", "a", "--replay", "b"), "exclude each other"),
        (("--model", "gold", "--record", "a"), "--model gold needs none"),
        (("--out", "a.jsonl.xz"), "written uncompressed"),
        (("--replay", "gone.jsonl"), "there is no recording gone.jsonl"),
    ],
)
def test_options_that_cannot_be_meant_are_rejected(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ended = bench(tmp_path, *options)
    assert ended.returncode == 2
    assert message in ended.stderr


def test_figures_are_exported_and_reported_as_one(recorded: Path) -> None:
    ended = codemode("measure", "report", "first.jsonl", "--export", "figures.jsonl.xz", folder=recorded)
    assert "wrote the figures of 12 attempts to figures.jsonl.xz" in ended.stderr
    assert figures(recorded, "figures.jsonl.xz") == figures(recorded, "first.jsonl")
    page = codemode("measure", "report", "first.jsonl", "--format", "html", folder=recorded).stdout
    assert page.count('id="attempt-') == 12
