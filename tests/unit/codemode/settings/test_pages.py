"""Pages that the operator declares."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from codemode.settings.pages import PagesSettings
from codemode.settings.sources import SourceSettings


def test_the_words_are_the_keys_that_are_set() -> None:
    pages = PagesSettings(items="rows", page="p", start=0)
    assert (pages.words, pages.start) == ({"items": "rows", "page": "p"}, 0)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"items": "rows"}, "set one of next, cursor, after, page, offset"),
        ({"size": "n"}, "set one of next, cursor, after, page, offset"),
        ({"page": "p", "cursor": "c"}, "set cursor or after (the answer names the next page), or page or offset"),
        ({"page": "p", "start": -1}, "greater than or equal to 0"),
        ({"pages": "p"}, "Extra inputs are not permitted"),
    ],
)
def test_pages_that_lead_nowhere_are_errors(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(says)):
        PagesSettings.model_validate(keys)


def test_only_documents_have_pages() -> None:
    source = {"kind": "mcp", "command": ["server"], "pages": {"*": {"page": "p"}}}
    with pytest.raises(ValidationError, match="pages"):
        SourceSettings.model_validate(source)
