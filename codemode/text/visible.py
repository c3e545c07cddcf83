"""Escape invisible characters in untrusted text, so that people and models read the same.

Descriptions come from unvetted documents and servers. A control character can clear a terminal. A bidirectional control
can show another order than the model reads. Tag characters can spell hidden instructions (Unicode TR 36,
CVE-2021-42574).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

#: Control characters except tab and line feed; bidirectional controls; zero-width characters except joiners, which
#: Persian, Hindi and emoji need; line separators; surrogates; tags; noncharacters.
_UNSEEN = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

#: What a person does not see in a name either: joiners, variation selectors, other spaces, the blank of Braille.
_LOOKS_LIKE_NOTHING = re.compile(r"[\u00a0\u1680\u2000-\u200a\u200c\u200d\u202f\u205f\u2800\u3000\ufe00-\ufe0f]")

#: Letters and digits, with combining marks between them.
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+[^\W_]*)*")

#: First words of character names that are no script of an alphabet, or that mix with any.
_ANY_SCRIPT = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "MICRO")
)


def visible(text: str) -> str:
    """Replace each invisible character by its Python escape, such as `\\u202e`."""
    return _UNSEEN.sub(_escaped, text) if _UNSEEN.search(text) else text


def marked(text: str) -> str:
    """Return text that a person decides by: what looks like nothing, or like another letter, is an escape.

    Beside what `visible` replaces, these are joiners, variation selectors, spaces other than the usual one, and in a
    word of two scripts the letters of the second: `p\\u0430ypal` is a name with a Cyrillic letter. Chinese, Japanese
    and Korean scripts go with any other.
    """
    if text.isascii():
        return visible(text)
    return _WORD.sub(_unmixed, _UNSEEN.sub(_escaped, _LOOKS_LIKE_NOTHING.sub(_escaped, text)))


def marked_data(value: Any) -> Any:
    """Return JSON data with marked strings and keys."""
    if isinstance(value, str):
        return marked(value)
    if isinstance(value, dict):
        return {marked_data(key): marked_data(inner) for key, inner in value.items()}
    return [marked_data(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def visible_text(text: str, most: int = 2_000) -> str:
    """Return untrusted text for one place of a card: marked, on one line, and at most `most` characters.

    A longer text ends with the number of characters that it lacks, so that its end cannot pass for the whole.
    """
    shown = marked(text[:most]).replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(text) <= most else f"{shown}… {len(text) - most:,} more characters"


def visible_data(value: Any) -> Any:
    """Return JSON data with visible strings and keys."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_data(key): visible_data(inner) for key, inner in value.items()}
    return [visible_data(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _unmixed(found: re.Match[str]) -> str:
    """Return a word with the letters and digits escaped that are of another script than the word."""
    word = found[0]
    if word.isascii():
        return word
    scripts = {one for char in word if (one := _script(char))}
    letters = [one for one in map(_script, word) if one and not one.startswith("digits")]
    own = {"LATIN" if "LATIN" in scripts else next(iter(letters), ""), "digits" if "digits" in scripts else ""}
    if not any(one.startswith("digits") for one in own):
        own |= {next((one for one in map(_script, word) if one.startswith("digits")), "")}
    return "".join(char if _script(char) in {*own, ""} else _escape(char) for char in word)


@lru_cache(8192)
def _script(char: str) -> str:
    """Return the script of a letter or a decimal digit, "" for another character, and for one that goes with any."""
    if char.isdecimal():
        return "digits" if char.isascii() else f"digits {unicodedata.name(char, '?').partition(' ')[0]}"
    script = unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""
    return "" if script in _ANY_SCRIPT else script


def _escaped(found: re.Match[str]) -> str:
    return _escape(found[0])


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
