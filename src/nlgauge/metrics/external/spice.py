"""SPICE: scenes of captions, by the program of its authors, which runs beside ours."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, check_needs, nonfinite, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.external.meteor15 import ERRORS, digest_of_jar, java, one_line
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_PARTS = {"precision": "pr", "recall": "re"}


@dataclass(frozen=True, kw_only=True)
class Spice(Checked, BaseMetric):
    """F1 of the objects, attributes and relations of a caption and of all of its references together.

    All references of a segment are read together, as one scene. The parts are `precision` and `recall`. A copy of the
    reference need not be best: a text without an object has no scene and scores 0, as a blank one does. It reads
    English.

    Args:
        jar: path of `spice-1.0.jar`; its folder `lib` with Stanford CoreNLP 3.6.0 lies beside it. Java must be
            installed. The package pycocoevalcap has the jar, and downloads CoreNLP when it is used first.

    References:
        Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation". SPICE is under the AGPL,
        version 3. The real program was not tried here, for lack of CoreNLP: the tests use a stand-in.
    """

    jar: str
    info: ClassVar = MetricInfo(
        "spice",
        copy_is_best=False,
        cached=True,
        flags={"empty", "nonfinite"},
        summary="F1 of scenes, by its authors' program; a copy need not be best: a text without a scene has nothing",
        tasks={"ic"},
        paper='Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Digest of the program, for signatures."""
        return {"jar": digest_of_jar("spice", self.jar)}

    def unread(self, writing: Writing) -> str | None:
        """That other scripts and languages are not English."""
        return None if writing.may_be_english else "SPICE's parser reads English"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; the parts are `precision` and `recall`.

        A blank side scores 0 and raises the flag `empty`; a number that is not finite is NaN, with `nonfinite`.

        Raises:
            InputError: the jar or Java is not there, or the program does not answer with a number for each text.
        """
        check_needs(self, segments)
        rows = [(one_line(s.hypothesis), *map(one_line, s.references)) for s in segments]
        empty = np.array([is_blank(row[0]) or all(map(is_blank, row[1:])) for row in rows], dtype=np.bool_)
        asked = list(dict.fromkeys(row for row, bare in zip(rows, empty, strict=True) if not bare))
        with runtime.progress(len(asked), "spice") as advance:
            found = dict(zip(asked, self._asked(asked) if asked else (), strict=True))
            advance(len(asked))
        table = np.array([found.get(row, (0.0, 0.0, 0.0)) for row in rows], dtype=np.float64).reshape(-1, 3)
        broken = nonfinite(table[:, 0])
        values = np.where(broken, np.nan, table[:, 0])
        parts = {name: table[:, place] for place, name in enumerate(_PARTS, 1)}
        flags = {"empty": empty, "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    def _asked(self, rows: Sequence[tuple[str, ...]]) -> list[tuple[float, ...]]:
        """F1, precision and recall of each row of a caption and its references."""
        path = Path(self.jar).resolve()
        with tempfile.TemporaryDirectory() as folder:
            texts, answers = Path(folder, "texts.json"), Path(folder, "scores.json")
            told = [{"image_id": i, "test": row[0], "refs": row[1:]} for i, row in enumerate(rows)]
            texts.write_text(json.dumps(told), encoding="utf-8")
            command = [java("spice"), "-Xmx8G", "-jar", str(path), str(texts), "-out", str(answers), "-silent"]
            done = subprocess.run(
                command, cwd=path.parent, capture_output=True, text=True, errors="replace", check=False
            )
            try:
                said = json.loads(answers.read_text(encoding="utf-8"))
                scores = {one["image_id"]: one["scores"]["All"] for one in said}
                return [tuple(_number(scores[i][key]) for key in ("f", *_PARTS.values())) for i in range(len(rows))]
            except (OSError, ValueError, LookupError, TypeError):
                why = " ".join((done.stdout + done.stderr).split())[-ERRORS:]
                raise InputError(
                    f"spice: the program gave no scores of {len(rows)} captions; is the jar SPICE 1.0, with its folder"
                    f" lib{os.sep} beside it? It said: {why or 'nothing'}"
                ) from None


def _number(value: Any) -> float:
    """A number of the program, which writes null or NaN where there is none."""
    return math.nan if value is None else float(value)
