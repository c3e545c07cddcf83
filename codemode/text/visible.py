"""Text of others made visible: what a reader cannot see does not reach a model.

Descriptions come from documents and servers that nobody vetted. A control character clears a terminal, a bidirectional
one shows another order than a model reads, tag characters and their like spell instructions that no person sees
(Unicode TR 36, CVE-2021-42574).
"""

from __future__ import annotations

import re
from typing import Any

#: All control characters but tab and line feed; bidirectional controls; characters without a width that no word needs
#: (joiners stay: Persian, Hindi and emoji are written with them); separators of lines; surrogates; tags; noncharacters.
_UNSEEN = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """The text with each character that cannot be seen written as Python writes it: `\\u202e`."""
    return _UNSEEN.sub(_escaped, text) if _UNSEEN.search(text) else text


def visible_data(value: Any) -> Any:
    """JSON data with all its texts visible, the keys too."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_data(key): visible_data(inner) for key, inner in value.items()}
    return [visible_data(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
