"""Descriptions as documents have them (Markdown, HTML, several paragraphs), made fit for one line."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
#: Each part has an end, so that no text without one is gone through again from each bracket.
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^)\s]{0,500}(?:\s{1,9}\"[^\"]{0,500}\")?\)")
_MARKUP = re.compile(r"(\*\*|__|`{1,3})")
_PREFIX = re.compile(r"^[ \t]*(#+|[-*>]+)[ \t]+", re.MULTILINE)
#: Numbers of characters as Python does not read them: with thousands of digits. No character has eight.
_ZEROS, _HUGE = re.compile(r"&#0+(?=[0-9])"), re.compile(r"&#[0-9]{8,};?")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<=[.!?])\s+(?=[\"'(A-Z0-9])|(?<=[\u3002\uff01\uff1f])"
)


def plain(text: str) -> str:
    """The text without markup, on one line."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = unescape(text)
    text = _MARKUP.sub("", _LINK.sub(r"\1", _PREFIX.sub("", text)))
    return _SPACE.sub(" ", text).strip()


def unescape(text: str) -> str:
    """The text with characters in the place of HTML's names and numbers of them."""
    return html.unescape(_HUGE.sub("\ufffd", _ZEROS.sub("&#", text)))


def first_sentence(text: str, limit: int = 120) -> str:
    """The first sentence that is no question, or as much of it as `limit` characters hold, cut at a word."""
    sentences = _SENTENCE.split(plain(text[:2000]), maxsplit=3)
    told = next((sentence for sentence in sentences[:3] if not sentence.endswith("?")), sentences[0])
    return shorten(told.rstrip(".\u3002").strip(), limit)


def shorten(text: str, limit: int) -> str:
    """The text cut at a word, with an ellipsis, where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0].rstrip(" ,;:(") + "…"
