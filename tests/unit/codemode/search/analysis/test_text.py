"""Tokenization: scripts, identifiers, plurals and case."""

from __future__ import annotations

import pytest

from codemode.search.analysis.text import raw_words, surface_forms, terms


@pytest.mark.parametrize(
    "written",
    ["listPullRequests", "list pull requests", "list_pull_request", "list.Pull-requests", "LIST-PULL-REQUESTS"],
)
def test_identifiers_and_phrases_have_the_same_terms(written: str) -> None:
    assert terms(written) == ["list", "pull", "request"]


@pytest.mark.parametrize(
    ("raw", "forms"),
    [
        ("PRs", ("pr",)),
        ("IDs", ("id",)),
        ("GitHub", ("git", "hub", "github")),
        ("HTTPServerError", ("http", "server", "error")),
        ("EC2", ("ec2",)),
        ("Ec2Instance", ("ec2", "instance", "ec2instance")),
        ("getS3Bucket", ("get", "s3", "bucket")),
        ("2024", ("2024",)),
        ("café", ("cafe",)),
        ("Übersicht", ("ubersicht",)),
        ("Список", ("список",)),
        ("予約一覧", ("予約", "約一", "一覧")),
        ("PDF文書", ("pdf", "文書")),
        ("会", ("会",)),
        ("ﬁle", ("file",)),
    ],
)
def test_a_raw_word_is_split_and_folded(raw: str, forms: tuple[str, ...]) -> None:
    assert surface_forms(raw) == forms


def test_devanagari_keeps_its_vowel_signs() -> None:
    assert raw_words("सूची दिखाओ") == ["सूची", "दिखाओ"]
