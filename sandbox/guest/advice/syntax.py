"""Hints for syntax errors: another language, typographic quotes, `await` in the wrong place."""

from __future__ import annotations

import re
import sys
from keyword import kwlist

#: Patterns of other languages, with the Python for each. They are searched line by line, outside of strings.
_FOREIGN: list[tuple[str, str]] = [
    (r"^\s*//", "`//` begins no comment in Python: write #"),
    (r"^\s*(const|let|var)\s+\w", "`{0}` is JavaScript: write the name alone, `x = ...`"),
    (r"^\s*(async\s+)?function\b", "`function` is JavaScript: write `def name(...):`"),
    (r"=>", "`=>` is JavaScript: write a lambda, or a comprehension `[f(x) for x in xs]`"),
    (r"\?\.\w", "`?.` is JavaScript: write x.get(name), or test `if x is not None`"),
    (r"^\s*(if|elif|while)\s[^=!<>:]+[^=!<>:]=[^=]", "`=` assigns: compare with =="),
    (r"===|!==", "`===` is JavaScript: write =="),
    (r"&&", "`&&` is written `and`"),
    (r"\|\|", "`||` is written `or`"),
    (r"\w\(\{\s*\w+\s*:", "`f({name: value})` is JavaScript: write keyword arguments, f(name=value)"),
    (r"^\s*\}?\s*else\s+if\b", "`else if` is written `elif`"),
    (
        r"\)\s*\{\s*$|^\s*(?:if|elif|else|for|while|def)\b[^:{]*\{[^:]*\}\s*$",
        "blocks are indented after a colon, without braces",
    ),
    (r"\b(\w+)\+\+", "`{0}++` is written `{0} += 1`"),
    (r"`[^`]*\$\{", 'template literals are written f"...{value}..."'),
    (r"^\s*[!%]{1,2}\w+", "commands of a notebook do not exist here: leave the line out"),
    (r"^\s*>>> ", "`>>>` is the prompt of an interpreter: leave it out, and what it printed"),
    (r"\?\?", "`x ?? y` is written `x if x is not None else y`"),
    (r"(?:\b(?:if|while|and|or|return|elif)|[(=,])\s*!(\w+)", "`!{0}` is written `not {0}`"),
    (r"\s\?\s.*\s:\s", "`a ? b : c` is written `b if a else c`"),
    (r"&(?:lt|gt|amp|quot);", "`{all}` is HTML: write the sign itself"),
    (
        rf"(?:[(,]|^)\s*({'|'.join(kwlist)})\s*=(?!=)",
        "`{0}` is a word of Python: use another name. Arguments of tools have an underscore then, `{0}_=...`; "
        'elsewhere write f(**{{"{0}": ...}})',
    ),
]
_SENTENCE = re.compile(r"[A-Z*-][\w'\u2019*]*,?(?: [\w'\u2019`,.:/*-]+){3,}[.!:?)]*")
#: An f-string whose quote comes before the end of a replacement field.
_NESTED_QUOTES = re.compile(r"""\b[fF][rR]?(\"{3}|'{3}|["'])(?:(?!\1).)*(?<!\{)\{(?!\{)(?:(?!\1)[^}])*\1(?=.*\})""")
_CURLY_QUOTES = re.compile("[\u2018\u2019\u201c\u201d]")


def hint_for_syntax(error: SyntaxError, code: str) -> str:
    """Return what to do about a syntax error, or nothing."""
    message = error.msg or ""
    if "(unicode error)" in message:
        return 'a backslash begins an escape: write r"..." where it is meant as it stands'
    if "await" in message or "asynchronous" in message:
        return (
            "`await` stands only in an `async def` or at the top level: write `async def`, or drop the await, "
            "since plain calls work too"
        )
    line = code.split("\n")[(error.lineno or 1) - 1].strip()
    if nested := _nested_quotes(line):
        return nested
    foreign = _foreign(code)
    if foreign:
        return "this is not Python: " + "; ".join(foreign)
    if _SENTENCE.fullmatch(line):
        return f"line {error.lineno} is a sentence: leave it out, or put # in front of it"
    return _general(message, code)


def _nested_quotes(line: str) -> str:
    """`f"{r["id"]}"`, which Python reads from 3.12 on."""
    found = None if sys.version_info >= (3, 12) else _NESTED_QUOTES.search(line)
    if found is None:
        return ""
    outer, other = found[1], "'" if '"' in found[1] else '"'
    return (
        f"nested quotes: in Python {sys.version_info[0]}.{sys.version_info[1]} the f-string ends at the {outer} in its "
        f"braces; write {other} there, or compute the value in a variable first"
    )


def _foreign(code: str) -> list[str]:
    found = []
    for number, line in enumerate(code.split("\n"), 1):
        bare = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|#.*", "''", line)
        for pattern, advice in _FOREIGN:
            match = re.search(pattern, bare)
            if match:
                said = advice.format(*match.groups(), all=match[0]) if "{0}" in advice or "{all}" in advice else advice
                found.append(f"line {number}: {said}")
    return found[:6]


def _general(message: str, code: str) -> str:
    if _CURLY_QUOTES.search(code):
        return "use straight quotes (\" or ') instead of typographic ones"
    return next((hint for pattern, hint in _MESSAGES if re.search(pattern, message)), "")


#: Messages of the compiler, with hints.
_MESSAGES: list[tuple[str, str]] = [
    (
        r"invalid non-printable character",
        "the line holds an invisible character: write it anew, with a plain space in its place",
    ),
    (
        r"f-string.* backslash",
        'in Python before 3.12, the braces of f"..." hold no backslash: compute the value in a variable first',
    ),
    (
        r"f-string",
        'inside of f"..." use the other kind of quotes and no backslashes; or compute the value in a variable first',
    ),
    (r"indent", "indent each block by four spaces, and all lines of a block alike"),
    (
        r"line continuation",
        "a backslash that goes on in the next line is the last character of its own; brackets need none",
    ),
    (
        r"was never closed|unexpected EOF|unterminated",
        "close the bracket or quote that is named; long text goes into triple quotes",
    ),
    (r"[Pp]erhaps you forgot a comma", "put a comma between the items"),
    (
        r"multiple exception types must be parenthesized",
        "write `except Kind as name:`, and several kinds as `except (A, B):`",
    ),
    (r"'yield' outside", "a program gives no values on the way: append them to a list, and end with that list"),
    (r"expected ':'", "put a colon at the end of the line"),
]
