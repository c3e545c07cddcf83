"""Escape invisible characters in untrusted text, so that people and models read the same.

Descriptions come from unvetted documents and servers. A control character can clear a terminal. A bidirectional control
can show another order than the model reads. Tag characters can spell hidden instructions (Unicode TR 36,
CVE-2021-42574).
"""

from __future__ import annotations

import re
from typing import Any

#: Control characters except tab and line feed; bidirectional controls; zero-width characters except joiners, which
#: Persian, Hindi and emoji need; line separators; surrogates; tags; noncharacters.
_UNSEEN = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Replace each invisible character by its Python escape, such as `\\u202e`."""
    return _UNSEEN.sub(_escaped, text) if _UNSEEN.search(text) else text


def visible_text(text: str, most: int = 2_000) -> str:
    """Return untrusted text for one place of a page or a terminal: visible, on one line, and at most `most` characters.

    A longer text ends with the number of characters that it lacks, so that its end cannot pass for the whole.
    """
    shown = visible(text[:most]).replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(text) <= most else f"{shown}… ({len(text) - most:,} more characters)"


def visible_data(value: Any) -> Any:
    """Return JSON data with visible strings and keys."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_data(key): visible_data(inner) for key, inner in value.items()}
    return [visible_data(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
