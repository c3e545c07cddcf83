from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from codemode.errors import ConfigurationError
from codemode.serving.cli.configuration_file import read, with_effects, with_source, without_source, write

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
# ours
sources:
  gym:  # the example
    location: gym.json
    credentials:
      - {kind: bearer, token: {env: GYM_TOKEN}}

# limits of an execution
limits:
  wall_s: 5
"""


def test_a_source_is_added_behind_the_others_and_comments_stay() -> None:
    text = with_source(FILE, "pets", {"location": "pets.yaml"})
    assert text == FILE.replace(
        "token: {env: GYM_TOKEN}}\n", "token: {env: GYM_TOKEN}}\n  pets:\n    location: pets.yaml\n"
    )


@pytest.mark.parametrize("text", ["", "limits: {wall_s: 5}", "# nothing yet\n"])
def test_the_first_source_opens_the_section(text: str) -> None:
    assert yaml.safe_load(with_source(text, "pets", {"location": "p"}))["sources"] == {"pets": {"location": "p"}}


@pytest.mark.parametrize(
    "text", ["sources:\nlimits: {wall_s: 5}\n", "sources: ~ # x\nb: 1\n", "sources:  # mine", "a: 1\nsources: null\n"]
)
def test_an_empty_section_is_filled_and_not_repeated(text: str) -> None:
    filled = with_source(text, "pets", {"location": "p"})
    assert filled.count("sources:") == 1
    expected = yaml.safe_load(text) | {"sources": {"pets": {"location": "p"}}}
    assert yaml.safe_load(filled) == expected


@pytest.mark.parametrize("text", ['{"limits": {"wall_s": 5}}', "{}\n"])
def test_a_configuration_in_braces_stays_as_it_is(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"written in \{\}, as JSON: write it as a block"):
        with_source(text, "pets", {"location": "p"})


def test_removing_what_was_added_gives_the_file_back() -> None:
    assert without_source(with_source(FILE, "pets", {"location": "p", "base_url": "http://x"}), "pets") == FILE


def test_removing_a_source_leaves_the_rest() -> None:
    left = without_source(with_source(FILE, "pets", {"location": "p"}), "gym")
    assert yaml.safe_load(left) == {"sources": {"pets": {"location": "p"}}, "limits": {"wall_s": 5}}
    assert "# limits of an execution" in left


def test_a_name_is_not_given_twice() -> None:
    with pytest.raises(ConfigurationError, match="source 'gym' already exists"):
        with_source(FILE, "gym", {"location": "x"})


def test_removing_what_is_not_there_names_what_is() -> None:
    with pytest.raises(ConfigurationError, match="there is no source 'pets'; there are: gym"):
        without_source(FILE, "pets")


@pytest.mark.parametrize("text", ["- a\n", "sources: {gym: {location: x}}\n", "a: ["])
def test_a_file_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        with_source(text, "pets", {"location": "x"})


def test_a_file_is_replaced_as_a_whole_and_stays_what_it_is(tmp_path: Path) -> None:
    file, link = tmp_path / "real.yaml", tmp_path / "codemode.yaml"
    file.write_text(FILE, encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    write(link, "sources: {}\n")
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("sources: {}\n", 0o640)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["codemode.yaml", "real.yaml"]


def test_a_file_that_cannot_be_written_or_read_is_named(tmp_path: Path) -> None:
    assert read(tmp_path / "none.yaml") == ""
    with pytest.raises(
        ConfigurationError, match=r"cannot write the configuration .*none/codemode.yaml: No such file or directory"
    ):
        write(tmp_path / "none" / "codemode.yaml", "x")
    with pytest.raises(ConfigurationError, match=r"cannot read the configuration .*: Is a directory"):
        read(tmp_path)


EFFECT_FORMS = {
    "none yet": "sources:\n  gym:  # ours\n    location: g\n\n# end\nlimits: {wall_s: 5}\n",
    "a block": "sources:\n  gym:\n    effect:\n      a: write  # ours\n      b*: read\n    location: g  # end\n",
    "on one line": "sources:\n  gym:\n    effect: {a: write}  # ours\n    location: g  # end\n",
    "empty": "sources:\n  gym:\n    effect: {}\n    location: g  # ours, end\n",
    "a source on one line": "sources:\n  gym: {location: g, effect: {a: write}}  # ours\n  b: {location: p}  # end\n",
    "without a line feed": "# ours, end\nsources:\n    gym:\n        location: g",
}


@pytest.mark.parametrize("text", EFFECT_FORMS.values(), ids=EFFECT_FORMS)
def test_effects_are_added_behind_those_of_a_source_and_comments_stay(text: str) -> None:
    added = with_effects(text, "gym", {"POST /a/{id}: b": "read", "c[[]d]": "read"})
    before, after = yaml.safe_load(text), yaml.safe_load(added)
    effects = {**before["sources"]["gym"].get("effect", {}), "POST /a/{id}: b": "read", "c[[]d]": "read"}
    before["sources"]["gym"]["effect"] = effects
    assert after == before
    assert list(after["sources"]["gym"]["effect"]) == list(effects)  # the first that matches applies
    assert "ours" in added
    assert "end" in added


def test_effects_need_a_source_that_is_a_block() -> None:
    with pytest.raises(ConfigurationError, match="there is no source 'pets'; there are: gym"):
        with_effects(FILE, "pets", {"a": "read"})
    with pytest.raises(ConfigurationError, match=r"is written in .* on one line"):
        with_effects("sources: {gym: {location: g}}", "gym", {"a": "read"})
