"""Baselines, the scores of unrelated sentences: they spread BERTScore over a range that people can read."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path, PurePath

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError


@dataclass(frozen=True)
class Baseline:
    """Mean P, R and F of unrelated sentence pairs, one row per layer.

    Attributes:
        rows: layer -> (P, R, F).
        identity: what identifies the baseline in a signature.
    """

    rows: dict[int, tuple[float, float, float]]
    identity: str

    def at(self, layer: int) -> Array:
        """P, R, F of a layer, shape (3,).

        Raises:
            InputError: there is no such row, or a value is 1 or more, which would reverse the order.
        """
        if layer not in self.rows:
            layers = ", ".join(map(str, sorted(self.rows)))
            raise InputError(
                f"baseline {self.identity} has no layer {layer}, only {layers}; make one with 'nlgauge train baseline'"
            )
        values = np.array(self.rows[layer])
        if np.any(values >= 1):
            raise InputError(f"baseline {self.identity} is {values.max():.3f} at layer {layer}, expected below 1")
        return values


def rescale(raw: Array, bound: float) -> Array:
    """Spread cosine-based scores over a range that people can read.

    Args:
        raw: scores in cosine units, shape (n,).
        bound: the score of unrelated sentences, below 1.

    Returns:
        Shape (n,). 0 is the score of unrelated text, and 1 that of identical text; values may be negative.

    References:
        Zhang et al. (2020), section 3, "Baseline Rescaling".
    """
    return (raw - bound) / (1 - bound)


def find(path: str | None, model: str, language: str) -> Baseline:
    """The baseline in a file, or the bundled one for a model and language.

    Raises:
        InputError: the file is not rows of LAYER,P,R,F, or no baseline is bundled for the model.
    """
    if path is not None:
        return _from_file(path)
    bundled = _bundled()
    for name in (model, PurePath(model).name):
        if (language, name) in bundled:
            return bundled[language, name]
    languages = sorted(lang for lang, name in bundled if name == model)
    hint = f"; bundled for it: {', '.join(languages)}" if languages else ""
    raise InputError(
        f"no baseline comes with the package for model {model!r} and language {language!r}{hint}; "
        f"make one from raw sentences: nlgauge train baseline TEXTS --model {model} -o FILE, then baseline=FILE"
    )


def as_text(rows: dict[int, tuple[float, float, float]]) -> str:
    """The file form: LAYER,P,R,F, one row per layer; bert_score reads it too."""
    return "LAYER,P,R,F\n" + "".join(f"{layer},{p:.8f},{r:.8f},{f:.8f}\n" for layer, (p, r, f) in sorted(rows.items()))


def _from_file(path: str) -> Baseline:
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read baseline {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read baseline {path}: not UTF-8 (byte {error.start})") from None
    rows: dict[int, tuple[float, float, float]] = {}
    delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ","
    try:
        records = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}: {error}; expected LAYER,P,R,F and one row per layer") from None
    for number, row in enumerate(records, start=2):
        try:
            layer, values = int(row["LAYER"]), (float(row["P"]), float(row["R"]), float(row["F"]))
        except (KeyError, TypeError, ValueError):
            layer, values = -1, (math.nan,) * 3
        if layer < 0 or not all(map(math.isfinite, values)):
            raise InputError(f"{path}:{number}: expected the columns LAYER,P,R,F with a layer and three numbers")
        if layer in rows:
            raise InputError(f"{path}:{number}: layer {layer} for the second time")
        rows[layer] = values
    if not rows:
        raise InputError(f"{path}: no rows; expected LAYER,P,R,F and one row per layer")
    return Baseline(rows, f"sha256:{sha256(content).hexdigest()[:16]}")


@cache
def _bundled() -> dict[tuple[str, str], Baseline]:
    """The tables in `nlgauge/data/baselines`, columns language, model, LAYER, P, R, F."""
    found: dict[tuple[str, str], dict[int, tuple[float, float, float]]] = {}
    for name in ("bert_score.tsv", "nlgauge.tsv"):
        text = files("nlgauge.data").joinpath("baselines", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
            key = (row["language"], row["model"])
            found.setdefault(key, {})[int(row["LAYER"])] = (float(row["P"]), float(row["R"]), float(row["F"]))
    return {key: Baseline(rows, f"{key[0]}/{key[1]}") for key, rows in found.items()}
