"""A model of a few weights, written to a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "list",
    "delete",
    "member",
    "##ship",
    "##s",
    "a",
    "_",
    "é",
    "e",
    "東",
    "$",
    "5",
]


CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
}


SIZE = 8


def write_model(folder: Path, **changes: Any) -> None:
    """Write a model of random numbers in the format of sentence-transformers."""
    chance = np.random.default_rng(3)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(PIECES), SIZE),
        "embeddings.position_embeddings.weight": (16, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "embeddings.LayerNorm.weight": (SIZE,),
        "embeddings.LayerNorm.bias": (SIZE,),
    }
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{name}.{part}.weight": (SIZE, SIZE), f"{name}.{part}.bias": (SIZE,)}
        shapes |= {
            f"{name}.intermediate.dense.weight": (2 * SIZE, SIZE),
            f"{name}.intermediate.dense.bias": (2 * SIZE,),
        }
        shapes |= {f"{name}.output.dense.weight": (SIZE, 2 * SIZE), f"{name}.output.dense.bias": (SIZE,)}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{name}.{part}.weight": (SIZE,), f"{name}.{part}.bias": (SIZE,)}
    arrays = {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    write_arrays(folder / "model.safetensors", arrays)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    head, data = {}, b""
    for name, array in arrays.items():
        head[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
