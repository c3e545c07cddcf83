"""The programs that a text may stand for: models and their clients put fences, prompts and other marks around one.

Each reading keeps the line numbers as far as it can.
"""

from __future__ import annotations

import json
import re
import textwrap
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*[\w+.-]*(?:<\w+>)?[ \t]*$", re.MULTILINE)
#: A first line with only the name of the language: a fence without its marks.
_LANGUAGE = re.compile(r"\s*(?:python3?|py)[ \t]*\r?\n", re.IGNORECASE)
#: A heading, or at least three words and a punctuation mark.
_SENTENCE = re.compile(
    r"(?:Code|Program|Python|Action|Answer|Solution):"
    r"|[A-Z][\w'\u2019-]*[,!.]?(?: [\w'\u2019`/-]+[,;!.:]?){2,}+(?<=[.!:])"
)
#: Marks of a model's output format before and after a program.
_MARK = r"(?:<\|\w+\|>|</?\w+>|<!\[CDATA\[|\]\]>)"
_MARKS_AHEAD = re.compile(rf"(?:\s*{_MARK})+")
_MARKS_BEHIND = re.compile(rf"(?:{_MARK}\s*)+\Z")
#: Characters at the end that are searched for marks.
_END = 200

#: What a model thought before it wrote: up to the last closing tag.
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)

#: The prompts of an interpreter and of a notebook.
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.|In \[\d+\]:)(?: |$)", re.MULTILINE)

_NOTEBOOK = re.compile(r"\s*In \[\d+\]:")

#: A line number and what separates it from the line.
_NUMBER = re.compile(r"[ \t]*(\d+)[ \t]*([:.|)]?)")

#: A literal or a comment, a text in typographic quotes, or one other character.
_PIECE = re.compile(
    r'''("""|\'\'\').*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*'''
    r"|[\u201c\u201d\u201e\u201f\u00ab\u00bb]([^\u201c\u201d\u00ab\u00bb\n]*)[\u201c\u201d\u00ab\u00bb]"
    r"|[\u2018\u2019\u201a\u201b]([^\u2018\u2019\n]*)[\u2018\u2019]"
    r"|[^\x00-\x7f]",
    re.DOTALL,
)

#: What a word processor writes in the place of what is on the keyboard.
_TYPED = {
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2028\u2029\u0085", "\n"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **{chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F) if not chr(code).isalpha()},
    "\u2026": "...",
    "\u00d7": "*",
    "\u00f7": "/",
    "\u2260": "!=",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2192": "->",
}

#: A line of a text without a program: a comment, marks, or a value that does nothing.
_NOTHING = re.compile(
    rf"[\s{''.join(re.escape(one) for one, meant in _TYPED.items() if not meant.strip())}]*+"
    rf"(?:\#.*|(?:```|~~~)[\w+.-]*|(?:{_MARK}\s*)+|>>>|In \[\d+\]:|\d+[:|)]|pass|null|\.\.\.|\"\"|'')?\s*"
)

_TYPOGRAPHIC = "typographic characters outside of texts were read as those on the keyboard: write plain ones"


def is_blank(code: str) -> bool:
    """Return whether a text holds no program: only comments, sentences, marks, and values that do nothing."""
    thought = _THOUGHT.match(code) if "</think" in code else None
    lines = code[thought.end() if thought is not None else 0 :].split("\n")
    return all(_NOTHING.fullmatch(line) or _SENTENCE.fullmatch(line.strip()) for line in lines)


def readings(code: str) -> Iterator[tuple[str, str]]:
    """Yield the possible programs in a text, the most likely first, and what to note if one is taken."""
    texts = [code]
    if _NOTEBOOK.match(code) and (typed := _without_prompts(code)):  # these prompts are Python too
        yield typed, ""
    yield code, ""
    for text in _readings(code):
        if text not in texts:
            texts.append(text)
            yield text, ""
    if not code.isascii():
        for text in texts:
            plain = _typed(text)
            if plain != text:
                yield plain, _TYPOGRAPHIC
                yield textwrap.dedent(plain), _TYPOGRAPHIC


def _readings(code: str) -> Iterator[str]:
    thought = _THOUGHT.match(code) if "</think" in code else None
    if thought is not None:
        code = "\n" * thought[0].count("\n") + code[thought.end() :]
        yield code
        yield textwrap.dedent(code)
    fenced = _fenced(code) if "```" in code or "~~~" in code else None
    if fenced is not None:
        yield fenced
        yield textwrap.dedent(fenced)
        code = fenced
    if code[:1] in " \t\n":
        yield textwrap.dedent(code)
    yield _without_sentences(code)
    yield from filter(None, (_without_marks(code), _unescaped(code), _without_prompts(code)))
    yield from _without_numbers(code)


def without_language(code: str) -> str:
    """Blank a first line that only names the language."""
    found = _LANGUAGE.match(code)
    return code if found is None else "\n" * found[0].count("\n") + code[found.end() :]


def _without_sentences(code: str) -> str:
    """Blank the sentences before a program."""
    lines = code.split("\n")
    count = 0
    while count < len(lines) and (not lines[count].strip() or _SENTENCE.fullmatch(lines[count].strip())):
        count += 1
    return "\n" * count + "\n".join(lines[count:])


def _without_marks(code: str) -> str | None:
    """Blank the marks around a program. Marks around JSON are a tool call, not a program."""
    ahead = _MARKS_AHEAD.match(code)
    begins = ahead.end() if ahead is not None else 0
    end = max(begins, len(code) - _END)
    text = code[begins:end] + _MARKS_BEHIND.sub("", code[end:])
    if text == code or text.lstrip()[:1] in ("{", "["):
        return None
    return "\n" * code.count("\n", 0, begins) + text


def _unescaped(code: str) -> str | None:
    """Decode a program that was encoded as JSON twice: one line with `\\n` in it."""
    if "\\n" not in code or "\n" in code.strip():
        return None
    with suppress(ValueError):
        return str(json.loads('"' + re.sub(r'(?<!\\)"', r"\"", code.strip()) + '"'))
    return None


def _fenced(code: str) -> str | None:
    """Blank all lines except those between markdown fences. A single fence opens or closes the program."""
    lines = code.split("\n")
    are_fences = [_FENCE.match(line) is not None for line in lines]
    count, inside, kept = sum(are_fences), False, []
    if count == 1:
        inside = not any(map(str.strip, lines[are_fences.index(True) + 1 :]))
    for line, is_fence in zip(lines, are_fences, strict=True):
        inside = inside is not is_fence
        kept.append(line if inside and not is_fence else "")
    return "\n".join(kept) if count else None


def _without_prompts(code: str) -> str | None:
    """Take off the prompts of an interpreter, and blank what it printed."""
    first = _PROMPT.search(code)
    if first is None or not is_blank(code[: first.start()]):  # a prompt in a text of the program is no transcript
        return None
    prompts = [_PROMPT.match(line) for line in code.split("\n")]
    lines = (line[found.end() :] if found else "" for line, found in zip(code.split("\n"), prompts, strict=True))
    return "\n".join(lines)


def _without_numbers(code: str) -> Iterator[str]:
    """Take off numbers before all lines, if they count up. The columns behind them may begin at the same place."""
    lines = code.split("\n")
    numbers = [_NUMBER.match(line) if line.strip() else None for line in lines]
    counted = [int(found[1]) for found in numbers if found is not None]
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if len(counted) < len(filled) or not counted:
        return
    of_lines = [counted[0] + place - filled[0] for place in filled]  # blank lines may have lost their numbers
    if counted not in (of_lines, list(range(counted[0], counted[0] + len(counted)))):
        return
    behind = [
        line[found.end(2) if found[2] else found.end(1) :] if found else ""
        for line, found in zip(lines, numbers, strict=True)
    ]
    yield textwrap.dedent("\n".join(behind))
    in_columns = (" " * (len(line) - len(rest)) + rest for line, rest in zip(lines, behind, strict=True))
    yield textwrap.dedent("\n".join(in_columns))


def _typed(code: str) -> str:
    """Replace the characters of word processors outside of literals and comments."""

    def typed(found: re.Match[str]) -> str:
        text = found[0]
        for content, quote in ((found[2], '"'), (found[3], "'")):
            if content is not None:
                return quote + content.replace(quote, "\\" + quote) + quote
        return _TYPED.get(text, text)

    return _PIECE.sub(typed, code)
