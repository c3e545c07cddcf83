"""A sentence encoder in numpy, without torch: BERT models in the format of sentence-transformers.

Architecture: Devlin et al., arXiv:1810.04805. The files are `config.json`, `model.safetensors`, `vocab.txt` and
`1_Pooling/config.json`. Cosines differ by less than .0002 from those in the documentation of sentence-transformers.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from codemode.errors import ConfigurationError
from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    from collections.abc import Iterator


_LONGEST_WORD = 100  # characters; longer words become the unknown token
_LEFT_OUT = ("Mn", "Cf", "Cc")  # Unicode categories: combining marks, format and control characters
_CACHED = 100_000  # words
#: A CJK character, a punctuation mark (including `_` and all ASCII symbols), or a run of other characters.
_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]|[^\w\s]|_|"
                   r"[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+")  # fmt: skip


class WordPiece:
    """Splits text into token numbers. The number of a token is its position in `pieces`."""

    def __init__(self, pieces: Sequence[str]) -> None:
        numbers = {piece: number for number, piece in enumerate(pieces)}
        self._around = numbers["[CLS]"], numbers["[SEP]"]
        self._pieces = lru_cache(maxsize=_CACHED)(partial(_split, numbers, numbers["[UNK]"]))

    def read(self, text: str, most: int) -> list[int]:
        """Return at most `most` token numbers, including the start and end tokens."""
        first, last = self._around
        numbers = [first]
        for word in _words(text):
            numbers += self._pieces(word)
            if len(numbers) >= most:
                break
        return [*numbers[: most - 1], last]


def _split(numbers: Mapping[str, int], unknown: int, word: str) -> tuple[int, ...]:
    pieces: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in numbers), start)
        if end == start:
            return (unknown,)
        pieces.append(numbers[mark + word[start:end]])
        start = end
    return tuple(pieces) or (unknown,)


def _words(text: str) -> Iterator[str]:
    if not text.isascii():
        letters = normalized("NFD", text.lower())
        text = "".join(each for each in letters if each.isspace() or unicodedata.category(each) not in _LEFT_OUT)
    yield from _WORD.findall(text.lower())


_BATCH = 16  # texts of similar length; larger batches are not faster
_HIDDEN = np.float32(-1e9)  # attention score of padding
_DTYPES = {"F32": "<f4", "F16": "<f2"}

#: Some builds of BLAS leave floating-point flags set, which numpy would report as an overflow of `@`.
_quietly = np.errstate(all="ignore")


class Encoder:
    """Encodes texts as unit vectors. Raises ConfigurationError if the folder holds no BERT model."""

    def __init__(self, folder: Path) -> None:
        config = _read_json(folder / "config.json")
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            message = f"{folder}: not a BERT model; its config.json says {config.get('model_type')!r}"
            raise ConfigurationError(message)
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = np.float32(config["layer_norm_eps"])
        limits = _read_json(folder / "sentence_bert_config.json")
        self._longest = min(int(limits.get("max_seq_length") or 512), int(config["max_position_embeddings"]))
        self._pools_first = bool(_read_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
        self._arrays = _read_arrays(folder / "model.safetensors")
        self._pieces = WordPiece((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return an array of texts x size, in the order of the texts."""
        pieces = [self._pieces.read(text, self._longest) for text in texts]
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
        vectors = np.zeros((len(pieces), self._arrays["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            vectors[places] = self._encode([pieces[place] for place in places])
        return vectors

    def _encode(self, texts: Sequence[Sequence[int]]) -> Matrix:
        longest = max(map(len, texts))
        numbers = np.zeros((len(texts), longest), np.int32)
        is_text = np.zeros((len(texts), longest), np.float32)
        for row, text in enumerate(texts):
            numbers[row, : len(text)] = text
            is_text[row, : len(text)] = 1
        words, positions, kinds = (
            self._arrays[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        state = self._normalized(words[numbers] + positions[:longest] + kinds[0], "embeddings.LayerNorm")
        mask = ((1 - is_text) * _HIDDEN)[:, None, None, :]
        for layer in range(self._layers):
            state = self._layer(state, mask, f"encoder.layer.{layer}")
        pooled = state[:, 0] if self._pools_first else (state * is_text[:, :, None]).sum(axis=1)
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), np.float32)

    def _layer(self, state: Matrix, mask: Matrix, name: str) -> Matrix:
        attended = self._attention(state, mask, f"{name}.attention.self")
        state = state + self._linear(attended, f"{name}.attention.output.dense")
        state = self._normalized(state, f"{name}.attention.output.LayerNorm")
        wide = _gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._normalized(state + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    @_quietly
    def _attention(self, state: Matrix, mask: Matrix, name: str) -> Matrix:
        count, longest, size = state.shape
        query, key, value = (
            self._linear(state, f"{name}.{part}").reshape(count, longest, self._heads, -1).swapaxes(1, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / np.sqrt(np.float32(size // self._heads)) + mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return np.asarray((scores @ value).swapaxes(1, 2).reshape(count, longest, size), np.float32)

    @_quietly
    def _linear(self, state: Matrix, name: str) -> Matrix:
        flat = state.reshape(-1, state.shape[-1]) @ self._arrays[f"{name}.weight"].T
        flat += self._arrays[f"{name}.bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _normalized(self, state: Matrix, name: str) -> Matrix:
        centred = state - state.mean(axis=-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + self._epsilon)
        return np.asarray(centred * self._arrays[f"{name}.weight"] + self._arrays[f"{name}.bias"], np.float32)


def _gelu(state: Matrix) -> Matrix:
    """Return the tanh approximation of GELU (Hendrycks and Gimpel, arXiv:1606.08415), exact to .001."""
    inner = np.square(state)
    inner *= np.float32(0.044715)
    inner += 1
    inner *= state
    inner *= np.float32(np.sqrt(2 / np.pi))
    np.tanh(inner, out=inner)
    inner += 1
    inner *= state
    inner *= np.float32(0.5)
    return inner


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        message = f"the model cannot be read: {path}: {error}"
        raise ConfigurationError(message) from None
    return content if isinstance(content, dict) else {}


def _read_arrays(path: Path) -> dict[str, Matrix]:
    """Return the memory-mapped arrays of a safetensors file by name.

    The file begins with the header length (8 bytes), followed by a JSON header and the data.
    """
    content = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    head = json.loads(content[8:start].tobytes())
    arrays = {}
    for name, entry in head.items():
        if name != "__metadata__" and entry["dtype"] in _DTYPES:
            first, last = (start + offset for offset in entry["data_offsets"])
            array = content[first:last].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
            arrays[name.removeprefix("bert.")] = np.asarray(array, np.float32)
    return arrays
