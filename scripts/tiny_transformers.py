#!/usr/bin/env python3
"""Makes two tiny sentence transformers with seeded random weights, and the vectors they give.

The directories have the files that the sentence-transformers library writes; the vectors are computed here in doubles,
with a tokenizer and a forward pass of their own, so that the tests compare two implementations.

    VENV/bin/python scripts/tiny_transformers.py            # needs numpy

Writes crates/skein-recall/tests/golden/transformers/{mean,first}/ and vectors.json beside them. `mean` is a BERT that takes
the mean and normalises, with a tokenizer.json; `first` counts its positions as RoBERTa does, takes the first token, keeps
its weights in half precision below a prefix, and has only a vocab.txt.
"""

import json
import math
import struct
import unicodedata
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent / "crates" / "skein-recall" / "tests" / "golden" / "transformers"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "launch", "moved", "to", "march", "zurich", "gru", "hello", "how", "are", "you", "un", "not", "a", "12",
         "東", "京", ".", ",", "!", "?", "'", "-", "@", "$", "##ed", "##ing", "##s", "##n", "##ß", "##e", "##able", "##believ"]
TEXTS = [
    "The launch moved to 12 March!",
    "Grüße, Zürich?",
    "a",
    "hello-hello  how are\tyou\u0000\u200b unbelievable unheard",
    "東京 launch, 東 launches.",
    "£5 $5 a@a.a",
    "x" * 150 + " the launch",
    "the launch moved to march " * 20,
]
HIDDEN, LAYERS, HEADS, INNER, LONGEST = 16, 2, 4, 24, 24


def words_of(text, lower):
    """BERT's basic tokenization."""
    cleaned = "".join(c for c in text if c not in "\0\ufffd" and (c in "\t\n\r" or unicodedata.category(c)[0] != "C"))
    if lower:
        folded = unicodedata.normalize("NFD", cleaned)
        cleaned = "".join(c for c in folded if unicodedata.category(c) != "Mn").lower()
    spaced = ""
    for c in cleaned:
        is_mark = (c.isascii() and not c.isalnum() and c.isprintable() and c != " ") or unicodedata.category(c)[0] == "P"
        spaced += f" {c} " if is_mark or 0x4E00 <= ord(c) <= 0x9FFF else c
    return spaced.split()


def pieces_of(word, vocabulary):
    pieces, start = [], 0
    while start < len(word) <= 100:
        mark = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if mark + word[start:end] in vocabulary)
        end = next(ends, None)
        if end is None:
            break
        pieces.append(vocabulary[mark + word[start:end]])
        start = end
    return pieces if start == len(word) else [vocabulary["[UNK]"]]


def token_ids(text, vocabulary, lower, longest):
    pieces = [piece for word in words_of(text, lower) for piece in pieces_of(word, vocabulary)]
    return [vocabulary["[CLS]"], *pieces[: longest - 2], vocabulary["[SEP]"]]


def layer_norm(x, weights, name, eps):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def hidden_states(ids, weights, first_position, eps):
    """One text at a time: no padding, no mask."""
    positions = np.arange(len(ids)) + first_position
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][positions]
    x = layer_norm(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm", eps)
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (linear(x, weights, f"{at}.attention.self.{part}") for part in ["query", "key", "value"])
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = query[:, part] @ key[:, part].T / math.sqrt(size)
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ value[:, part])
        heard = linear(np.concatenate(heads, -1), weights, f"{at}.attention.output.dense")
        x = layer_norm(heard + x, weights, f"{at}.attention.output.LayerNorm", eps)
        inner = linear(x, weights, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = layer_norm(linear(inner, weights, f"{at}.output.dense") + x, weights, f"{at}.output.LayerNorm", eps)
    return x


def random_weights(seed, vocabulary, positions, types):
    chance = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(vocabulary), HIDDEN),
        "embeddings.position_embeddings.weight": (positions, HIDDEN),
        "embeddings.token_type_embeddings.weight": (types, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        lines = [(f"attention.self.{part}", HIDDEN, HIDDEN) for part in ["query", "key", "value"]]
        lines += [("attention.output.dense", HIDDEN, HIDDEN), ("intermediate.dense", INNER, HIDDEN), ("output.dense", HIDDEN, INNER)]
        for name, out, into in lines:
            shapes[f"{at}.{name}.weight"], shapes[f"{at}.{name}.bias"] = (out, into), (out,)
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for name in norms:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (HIDDEN,), (HIDDEN,)
    weights = {name: chance.normal(0, 0.5, shape) for name, shape in shapes.items()}
    for name in norms:
        weights[f"{name}.weight"] = 1 + weights[f"{name}.weight"] / 4
    return weights


def write_safetensors(path, tensors):
    names = {np.dtype("<f4"): "F32", np.dtype("<f2"): "F16"}
    header, body = {}, b""
    for name, tensor in tensors.items():
        start, body = len(body), body + tensor.tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def tokenizer_document(vocabulary):
    special = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    added = [{"id": vocabulary[name], "content": name, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for name in SPECIAL]
    return {
        "version": "1.0",
        # As in models that are really given out: neither is what the model wants.
        "truncation": {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": added,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")],
            "pair": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]"),
                     {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [vocabulary[name]], "tokens": [name]} for name in ["[CLS]", "[SEP]"]},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    }


def make(name, kind, seed, eps):
    is_mean = name == "mean"
    folder = ROOT / name
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    vocabulary = {piece: place for place, piece in enumerate(SPECIAL + WORDS)}
    first_position = 0 if is_mean else vocabulary["[PAD]"] + 1
    weights = random_weights(seed, vocabulary, LONGEST + 8 + first_position, 2 if is_mean else 1)
    kept = {key: tensor.astype("<f4" if is_mean else "<f2") for key, tensor in weights.items()}
    weights = {key: tensor.astype(np.float64) for key, tensor in kept.items()}
    write_safetensors(folder / "model.safetensors", kept if is_mean else {f"roberta.{key}": tensor for key, tensor in kept.items()})

    def write(file, document):
        (folder / file).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")

    write("config.json", {
        "model_type": kind, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": eps, "pad_token_id": vocabulary["[PAD]"],
        "max_position_embeddings": LONGEST + 8 + first_position, "type_vocab_size": 2 if is_mean else 1,
        "vocab_size": len(vocabulary), "position_embedding_type": "absolute",
    })
    modules = ["models.Transformer", "models.Pooling"] + (["models.Normalize"] if is_mean else [])
    paths = ["", "1_Pooling", "2_Normalize"]
    write("modules.json", [{"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.{module}"}
                           for place, (module, path) in enumerate(zip(modules, paths))])
    write("sentence_bert_config.json", {"max_seq_length": LONGEST, "do_lower_case": False})
    write("1_Pooling/config.json", {
        "word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": not is_mean, "pooling_mode_mean_tokens": is_mean,
        "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False,
    })
    if is_mean:
        write("tokenizer.json", tokenizer_document(vocabulary))
    else:
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary))
        write("tokenizer_config.json", {"do_lower_case": False, "tokenizer_class": "BertTokenizer"})

    vectors = []
    for text in TEXTS:
        states = hidden_states(token_ids(text, vocabulary, is_mean, LONGEST), weights, first_position, eps)
        vector = states.mean(0) if is_mean else states[0]
        vectors.append([round(number, 8) for number in vector / (np.linalg.norm(vector) if is_mean else 1)])
    return vectors


def main():
    vectors = {"texts": TEXTS, "mean": make("mean", "bert", 1, 1e-12), "first": make("first", "roberta", 2, 1e-5)}
    lines = [f" {json.dumps(key)}: [\n  " + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]" for key, rows in vectors.items()]
    (ROOT / "vectors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
