"""Descriptions in Markdown, HTML or several paragraphs, reduced to one line."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
#: Every part is bounded or ends before the next bracket, so that unclosed brackets do not cause quadratic time.
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^)\s\[]{0,500}+(?:\s{1,9}+\"[^\"]{0,500}+\")?\)")
_MARKUP = re.compile(r"(\*\*|__|`{1,3})")
_PREFIX = re.compile(r"^[ \t]*(#+|[-*>]+)[ \t]+", re.MULTILINE)
#: Character references with too many digits for Python. No code point has eight.
_ZEROS, _HUGE = re.compile(r"&#0+(?=[0-9])"), re.compile(r"&#[0-9]{8,};?")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<=[.!?])\s+(?=[\"'(A-Z0-9])|(?<=[\u3002\uff01\uff1f])"
)


#: The first field of a docstring, such as `:param name: the name`.
_FIELDS = re.compile(r"\s(?=:(?:param|type|returns?|rtype|raises?|keyword|arg)\b[^:]{0,80}:)")


def plain(text: str) -> str:
    """Return the text on one line, without markup."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = unescape(text)
    text = _MARKUP.sub("", _LINK.sub(r"\1", _PREFIX.sub("", text)))
    return _SPACE.sub(" ", text).strip()


def unescape(text: str) -> str:
    """Replace HTML character references by their characters."""
    return html.unescape(_HUGE.sub("\ufffd", _ZEROS.sub("&#", text)))


def sentences(text: str) -> list[str]:
    """Split a plain text into its sentences."""
    return _SENTENCE.split(text)


def first_sentence(text: str, limit: int = 120) -> str:
    """Return the first sentence that is not a question, shortened to `limit` characters."""
    sentences = _SENTENCE.split(_FIELDS.split(plain(text[:2000]), maxsplit=1)[0], maxsplit=3)
    told = next((sentence for sentence in sentences[:3] if not sentence.endswith("?")), sentences[0])
    return shorten(told.rstrip(".\u3002").strip(), limit)


def shorten(text: str, limit: int) -> str:
    """Cut a text longer than `limit` characters at a word and add an ellipsis."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0].rstrip(" ,;:(") + "…"
