"""METEOR 1.5: the counts of its authors' program, which runs beside ours, and the score made of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, check_needs, scores_of_stats
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment, stripped
from nlgauge.metrics.lexical.sacrebleu import is_empty
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

# What a line of counts holds, of hypothesis and reference in turn: words, function words; for each of the four stages
# content words matched, function words matched; then the number of fragments, and the words matched.
_COUNTS = 23
_STAGES = slice(4, 20)
_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])  # of words matched as they are, by stem, synonym and paraphrase
_SEPARATOR = "|||"
ERRORS = 300  # characters of what the program said that an error shows


@dataclass(frozen=True, kw_only=True)
class Meteor15(Checked, BaseMetric):
    """METEOR 1.5 for English, as its program scores with `-l en -norm`.

    `meteor` is the version that nltk has; this one asks the program of the authors, which also knows paraphrases and
    gives other numbers. Say which of the two you report. The number of a corpus is made of the sum of counts, and is
    not the mean. The jar lies in the package pycocoevalcap, for example. A blank side scores 0.

    Args:
        jar: path of `meteor-1.5.jar`; its folder `data` with the table of paraphrases lies beside it. Java must be
            installed. The jar does not come with nlgauge.
        alpha: weight of recall.
        beta: exponent of the share of fragments.
        gamma: the most that fragments can cost.
        delta: weight of a content word; a function word has the rest.

    References:
        Denkowski and Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target
        Language", with the values of the task `rank`. Of several references the program takes the best. On 214 segments
        the values and the corpus number were those of the program to 1e-12.
    """

    jar: str
    alpha: Annotated[float, Range(least=0, most=1)] = 0.85
    beta: Annotated[float, Range(least=0)] = 0.2
    gamma: Annotated[float, Range(least=0, most=1)] = 0.6
    delta: Annotated[float, Range(least=0, most=1)] = 0.75
    info: ClassVar = MetricInfo(
        "meteor15",
        summary="words and phrases aligned by form, stem, synonym and paraphrase, by the program of its authors",
        tasks={"mt", "as", "d2t", "ic", "qg"},
        paper=(
            'Denkowski and Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target'
            ' Language"'
        ),
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Digest of the program, for signatures."""
        return {"jar": digest_of_jar("meteor15", self.jar)}

    def unread(self, writing: Writing) -> str | None:
        """That other scripts and languages are not English."""
        return None if writing.may_be_english else "METEOR 1.5 is asked for English (-l en)"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; `stats` are the program's counts, the corpus number is made of their sum.

        A blank side scores 0 and raises the flag `empty`.

        Raises:
            InputError: the jar or Java is not there, or the program does not answer with its counts.
        """
        check_needs(self, segments)
        asked = {(s.references, s.hypothesis): i for i, s in reversed(list(enumerate(segments)))}
        peer = _peer(self.jar, (self.alpha, self.beta, self.gamma, self.delta)) if asked else None
        counts = {}
        with runtime.progress(len(asked), "meteor15") as advance:
            for references, hypothesis in asked:
                assert peer is not None  # something is asked
                counts[references, hypothesis] = peer.counts(references, hypothesis)
                advance(1)
        stats = np.array([counts[s.references, s.hypothesis] for s in segments]).reshape(-1, _COUNTS)
        # A copy is one fragment, which costs nothing: neither here nor, as in the program, in a sum.
        stats[(stats[:, 20] == 1) & (stats[:, 21:23] == stats[:, 0:2]).all(axis=1), 20] = 0
        return scores_of_stats(self, segments, runtime, stats, {"empty": is_empty(segments)})

    def corpus(self, totals: Array) -> Array:
        """METEOR of summed counts: shape (..., 23) to (...), in 0 to 1."""
        totals = np.asarray(totals, dtype=np.float64)
        stages = totals[..., _STAGES].reshape(*totals.shape[:-1], 4, 2, 2)  # stage, content or function word, side
        matched = np.einsum("...swi,s,w->...i", stages, _WEIGHTS, [self.delta, 1 - self.delta])
        words, functions = totals[..., 0:2], totals[..., 2:4]  # (..., side)
        weighed = self.delta * (words - functions) + (1 - self.delta) * functions
        fragments, both = totals[..., 20], totals[..., 21:23]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weighed > 0, matched / weighed, 0.0)
            mean = 1 / ((1 - self.alpha) / share[..., 0] + self.alpha / share[..., 1])
            torn = fragments / (both.sum(axis=-1) / 2)
            found = mean * (1 - self.gamma * np.where(torn > 0, torn**self.beta, 0.0))
        return np.asarray(np.where((share > 0).all(axis=-1), found, 0.0))


class _Peer:
    """The program, which answers a line of counts to a line of texts. It ends when its input is closed."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the program)
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, encoding="utf-8"
        )

    def counts(self, references: Sequence[str], hypothesis: str) -> list[float]:
        """The counts of a hypothesis against the best of its references."""
        assert self.process.stdin is not None  # both are pipes
        assert self.process.stdout is not None
        line = f" {_SEPARATOR} ".join(["SCORE", *map(_plain, references), _plain(hypothesis)])
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            counts = [float(count) for count in answer.split()]
        except (OSError, ValueError):
            answer, counts = "", []
        if len(counts) != _COUNTS:
            _peer.cache_clear()
            self.process.kill()
            self.process.wait()
            self.errors.seek(0)
            said = " ".join((answer + self.errors.read().decode("utf-8", "replace")).split())[-ERRORS:]
            raise InputError(
                f"meteor15: the program answered {len(counts)} counts, expected {_COUNTS}; is the jar METEOR 1.5, with"
                f" its folder data beside it? It said: {said or 'nothing'}"
            )
        return counts


@lru_cache(maxsize=1)
def _peer(jar: str, parameters: tuple[float, ...]) -> _Peer:
    path = Path(jar).resolve()
    chosen = ["-p", " ".join(map(repr, parameters)), "-w", " ".join(map(str, _WEIGHTS))]
    options = ["-", "-", "-stdio", "-l", "en", "-norm", *chosen]
    return _Peer([java("meteor15"), "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", str(path), *options], path.parent)


def java(metric: str) -> str:
    """The program that runs jars.

    Raises:
        InputError: there is none.
    """
    found = shutil.which("java")
    if found is None:
        raise InputError(f"{metric} needs Java, and there is no program java; install a Java runtime")
    return os.path.abspath(found)  # the PATH may name a folder beside us, and the program starts elsewhere


@lru_cache(maxsize=4)
def digest_of_jar(metric: str, jar: str) -> str:
    """The beginning of the SHA-256 of a jar.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return "sha256:" + sha256(Path(jar).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise InputError(f"{metric}:jar={jar} cannot be read: {error.strerror}; give the path of its jar") from None


def one_line(text: str) -> str:
    """A text in one line, without halves of pairs of codes; one without a visible character is an empty one."""
    return " ".join(stripped(text).encode("utf-8", "replace").decode("utf-8").split())


def _plain(text: str) -> str:
    """A text in one line, without the mark that separates texts."""
    return one_line(text.replace(_SEPARATOR, " "))
