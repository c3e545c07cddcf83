"""Descriptions as documents have them (Markdown, HTML, several paragraphs), made fit for one line."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_MARKUP = re.compile(r"(\*\*|__|`{1,3})")
_PREFIX = re.compile(r"^\s*(#+|[-*>]+)\s+", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<=[.!?])\s+(?=[\"'(A-Z0-9])|(?<=[\u3002\uff01\uff1f])"
)


def plain(text: str) -> str:
    """The text without markup, on one line."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    text = _MARKUP.sub("", _LINK.sub(r"\1", _PREFIX.sub("", text)))
    return _SPACE.sub(" ", text).strip()


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
