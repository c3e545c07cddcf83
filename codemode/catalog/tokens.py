"""Count the tokens of a text: exactly with a local tokenizer, else by estimate.

Nothing is downloaded. The estimate splits text like o200k_base does before merging, and adds the mean cost of each kind
of piece. The costs were measured on Python signatures, programs, English descriptions and JSON. The estimate is
slightly high, so a text that fits a budget by estimate also fits it by count.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

#: The pieces of o200k_base (tiktoken_ext/openai_public.py) for ASCII. Other letters form pieces of their own.
_PIECE = re.compile(
    r" ?[A-Z]*[a-z]+|[^\r\nA-Za-z0-9\s]?[A-Z]*[a-z]+| ?[A-Z]+|[^\r\nA-Za-z0-9\s]?[A-Z]+"
    r"|[^\x00-\x7f]+|\d{1,3}| ?[!-/:-@\[-`{-~]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

#: The longest lower-case word that is nearly always one token.
_SHORT_WORD = 13

#: The factor of the estimate. Its mean error on single signatures is 4 %.
_CAUTION = 1.04

#: The file name of the ranks of o200k_base in tiktoken's cache (SHA-1 of their URL), and their SHA-256 digest.
_CACHED_AS = "fb374d419588a4632f3f557e76b4b70aebbca790"
_RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


#: The pairs of letters of ordinary words: 97 % of all pairs in documentation and API descriptions, 286 of 676. A word
#: has about one more token for each other pair.
_PAIRS = (
    "abacadafagaiakalamanaparasatauavawaxaybabcbebiblbobrbsbubycacccechcickclcocrcsctcucydadddedgdidldodrdsdudyeaebec"
    "edeeefegeielemeneoepeqeresetevewexeyfafefffiflfofrftfugageggghgiglgngogrgsguhahehihohrhthuiaibicidieifigiliminio"
    "ipirisitivixizjekekikslaldlelflilllolsltlulymambmemimmmompmsmunancndnenfngninknlnnnonpnrnsntnunvnyoaobocodofogoi"
    "okolomonoooporosotouovowoxpapdpephpiplpoppprpsptpupyqurarbrcrdrergrirkrlrmrnrorprrrsrtrurvrysascsesfshsiskslsmso"
    "spsrssstsusytatbtctethtitltmtotptrtstttutwtyuaubucudueuguiulumunupurusutvavevivowawewhwiwnwowrwsxcxexixpxtyeymyn"
    "yoypysytzaze"
)
_LETTERS = re.compile(r"[A-Za-z]{3,}")
_SIGNS = re.compile(r"[!-/:-@\[-`{-~]{4,}")

#: The fewest UTF-8 bytes of a token in longer texts whose words are pronounceable but unknown. Documentation has 3.7.
_BYTES_PER_TOKEN = 3.1


class Tokenizer(Protocol):
    """Anything that encodes text, such as `tiktoken.Encoding`."""

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the tokens of a text."""


def count(text: str, tokenizer: Tokenizer | None = None) -> int:
    """Return the number of tokens of a text, by the tokenizer if there is one, else by estimate."""
    return estimate(text) if tokenizer is None else len(tokenizer.encode_ordinary(text))


def estimate(text: str) -> int:
    """Estimate the number of tokens of a text, without tokenizer data. The result is slightly high."""
    return math.ceil(sum(map(_cost, _PIECE.findall(text))) * _CAUTION)


def bound(text: str) -> int:
    """Return no fewer tokens than a text has, also if its words are random or its script is rare.

    `estimate` knows ordinary text only. Documentation gets an eighth more than its tokens.
    """
    unusual = sum(map(_unusual_pairs, _LETTERS.findall(text))) + sum(0.3 * len(run) for run in _SIGNS.findall(text))
    foreign = 0 if text.isascii() else sum(map(_foreign, text))
    size = len(text.encode("utf-8", "replace"))
    return max(math.ceil(estimate(text) + unusual + foreign), math.ceil(size / _BYTES_PER_TOKEN))


@cache
def local_tokenizer(folder: Path | None = None) -> Tokenizer | None:
    """Return o200k_base from ranks on this machine, or None.

    Looks in `folder`, which is the rank file or a cache folder of tiktoken, else in tiktoken's default cache folder.
    Requires the extra `tokens`.
    """
    path = folder or Path(tempfile.gettempdir()) / "data-gym-cache"
    file = path if path.is_file() else path / _CACHED_AS
    try:
        data = file.read_bytes()
        import tiktoken  # noqa: PLC0415 -- the optional extra `tokens`
    except (OSError, ImportError):
        return None
    if hashlib.sha256(data).hexdigest() != _RANKS_SHA256:
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, data.splitlines())}
    return tiktoken.Encoding("o200k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


@cache
def _ordinary_pairs() -> frozenset[str]:
    return frozenset(_PAIRS[at : at + 2] for at in range(0, len(_PAIRS), 2))


@lru_cache(maxsize=16_384)
def _unusual_pairs(word: str) -> int:
    letters, ordinary = word.lower(), _ordinary_pairs()
    return sum(letters[at : at + 2] not in ordinary for at in range(len(letters) - 1))


def _foreign(char: str) -> int:
    """Return the most tokens of a character: two for ideographs and Korean, else its bytes in rare scripts."""
    code = ord(char)
    if code < 0x80:
        return 0
    if code < 0x700:
        return 2 if 0x300 <= code < 0x370 else 1
    if 0x3000 <= code < 0xA000 or 0xAC00 <= code < 0xD7B0:
        return 2
    return len(char.encode("utf-8", "replace"))


@lru_cache(maxsize=16_384)  # signatures repeat the same few thousand pieces
def _cost(piece: str) -> float:
    core = piece.lstrip(" ")
    last = core[-1:]
    if last.islower() and last.isascii():
        base = 1.03 if core[0].isalpha() else 1.3
        return base + max(0, len(core) - _SHORT_WORD) * 0.3
    if last.isupper() and last.isascii():
        return 1.0 + max(0, len(core) - 2) * 0.17
    if not core.isascii():
        return max(1.0, len(core) * 0.7)
    if last.isdigit() or not core.strip():
        return 1.0
    return 1.0 if len(core) <= 2 else len(core) * 0.47
