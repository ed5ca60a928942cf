"""The files of a trained regressor, of which only the header is read, and what it says of n segments."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.features import BOTH, MATCH, texts_of
from nlgauge.models.heads import Head, find_head, is_head
from nlgauge.models.locate import NAMED
from nlgauge.models.vectors import source_of
from nlgauge.runtime.runtime import Runtime

KIND = "regressor"
WEIGHTS = "regressor.safetensors"  # in a folder, beside the encoder that was trained with it
MIX = "mix"  # all layers under learnt weights


@dataclass(frozen=True)
class RegressorFiles:
    """The file of a regressor, of which only the header was read.

    Attributes:
        head: the head file. Its metadata say how the regressor was trained.
    """

    head: Head

    @property
    def features(self) -> tuple[str, ...]:
        """See `nlgauge.models.features.feature_names`."""
        return self.head.items("features")

    @property
    def texts(self) -> tuple[str, ...]:
        """Which of `hyp`, `ref` and `src` the regressor reads."""
        return texts_of(self.features)

    @property
    def match_layer(self) -> int | None:
        """The layer whose token vectors are matched; None if none are."""
        if MATCH not in self.features:
            return None
        layer, depth = self.head.whole("match_layer"), self.head.encoder.depth
        if layer is None or layer > depth:
            raise InputError(
                f"regressor {self.head.path}: match_layer is {layer}, expected a number from 0 to {depth}, since its"
                f" features have {MATCH!r}"
            )
        return layer

    @property
    def read_layers(self) -> tuple[int, ...]:
        """All layers whose vectors are read."""
        matched = () if self.match_layer is None else (self.match_layer,)
        return tuple(dict.fromkeys((*self.layers, *matched)))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers whose mean vectors the regressor reads; empty if it reads none."""
        if self.features in ((MATCH,), (BOTH,)):
            return ()
        named = self.head.items("layers")
        depth = self.head.encoder.depth
        if named == (MIX,):
            return tuple(range(depth + 1))
        if not named or not all(name.isdigit() and int(name) <= depth for name in named):
            raise InputError(
                f"regressor {self.head.path}: layers is {','.join(named)!r}, expected {MIX} or numbers from 0 to"
                f" {depth}"
            )
        return tuple(map(int, named))

    @property
    def encoder_name(self) -> str:
        """The name under which the encoder is loaded."""
        files = self.head.encoder
        return files.name if files.name in NAMED else str(files.folder)

    def source(self, dtype: str, runtime: Runtime) -> Hashable:
        """The key of the vectors that the regressor reads; those of a head with adapters are its own."""
        source = source_of(self.encoder_name, None, dtype, runtime)
        return (*source, self.head.identity) if self.head.has_adapters else source

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score that the regressor was trained on."""
        return self.number("low"), self.number("high")

    @property
    def calibration(self) -> tuple[tuple[float, float], ...]:
        """Points (output of the network, score) of a curve that rises; empty for a regressor without one."""
        try:
            points = tuple(
                (float(x), float(y)) for x, _, y in (point.partition(":") for point in self.head.items("calibration"))
            )
        except ValueError:
            points = ((np.nan, np.nan),)
        steps = np.diff(np.array(points), axis=0)
        if points and not (len(points) > 1 and (steps > 0).all()):
            raise InputError(
                f"regressor {self.head.path}: calibration is {self.head.get('calibration')!r}, expected two points or"
                " more OUTPUT:SCORE, with commas, in which both rise"
            )
        return points

    def number(self, key: str, default: float | None = None) -> float:
        """A number of the metadata."""
        value = self.head.get(key)
        try:
            found = default if value is None else float(value)
        except ValueError:
            found = None
        if found is None or not np.isfinite(found):
            raise InputError(f"regressor {self.head.path}: {key} is {value!r}, expected a number")
        return found

    def max_tokens(self, asked: int | None) -> int | None:
        """The requested limit, else the one from training."""
        return self.head.whole("max_tokens") if asked is None else asked

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        files = self.head.encoder
        model = self.head.facts("folder" if files.folder == self.head.path.parent else "file")
        return model | files.facts(head=self.head.identity) | {"weights": f"sha256:{files.weights_digest}"[:23]}


def locate_regressor(model: str) -> RegressorFiles:
    """Find the files of a regressor.

    Args:
        model: `sescore` (shipped), a head file, or a folder that `nlgauge train` wrote.

    Raises:
        InputError: there is no such file, it is not a regressor, or its encoder is not the one that it was made for.
    """
    folder = Path(os.path.expanduser(model))  # a user who is unknown stays as typed
    if os.path.isdir(folder):
        if not (folder / WEIGHTS).is_file():
            raise InputError(
                f"model folder {folder} holds no {WEIGHTS}, expected a folder that 'nlgauge train sescore' or"
                " 'regressor' wrote"
            )
        return RegressorFiles(find_head(str(folder / WEIGHTS), KIND))
    if not is_head(model):
        raise InputError(
            f"model {model!r} is no regressor: expected a .safetensors head or a folder, as 'nlgauge train sescore'"
            " writes them"
        )
    return RegressorFiles(find_head(model, KIND))


@dataclass(frozen=True)
class Ratings:
    """A regressor's scores of n segments.

    Attributes:
        values: the scores, shape (n,).
        truncated: whether a text was longer than the model's limit, shape (n,).
        unknown: the highest share of unknown pieces in a text of the segment, shape (n,).
        empty: whether the tokenizer keeps nothing of a text of the segment, as BERT's of U+FFFD alone, shape (n,).
    """

    values: Array
    truncated: npt.NDArray[np.bool_]
    unknown: Array
    empty: npt.NDArray[np.bool_]
