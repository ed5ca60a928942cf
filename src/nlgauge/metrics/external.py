"""METEOR 1.5, SPICE and programs of your own: what they say, which run beside ours."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, nonfinite, scores_of_stats, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import COLUMNS, Segment, is_blank, stripped
from nlgauge.io.files import number_in
from nlgauge.metrics.function import ASSUMED
from nlgauge.metrics.lexical.sacrebleu import is_empty
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

# What a line of counts holds, of hypothesis and reference in turn: words, function words; for each of the four stages
# content words matched, function words matched; then the number of fragments, and the words matched.
_COUNTS = 23
_STAGES = slice(4, 20)
_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])  # of words matched as they are, by stem, synonym and paraphrase
_SEPARATOR = "|||"
_ERRORS = 300  # characters of what the program said that an error shows


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
            said = " ".join((answer + self.errors.read().decode("utf-8", "replace")).split())[-_ERRORS:]
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


# --- SPICE: scenes of captions

_PARTS = {"precision": "pr", "recall": "re"}


@dataclass(frozen=True, kw_only=True)
class Spice(Checked, BaseMetric):
    """F1 of the objects, attributes and relations of a caption and of all of its references together.

    A caption and its references become scenes of objects, attributes and relations, by the program of its authors. All
    references of a segment are read together, as one scene. The parts are `precision` and `recall`. A copy of the
    reference need not be best: a text without an object has no scene and scores 0, as a blank one does. It does not
    notice grammar, nor anything else that its parser does not turn into a tuple. It reads English.

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
                why = " ".join((done.stdout + done.stderr).split())[-_ERRORS:]
                raise InputError(
                    f"spice: the program gave no scores of {len(rows)} captions; is the jar SPICE 1.0, with its folder"
                    f" lib{os.sep} beside it? It said: {why or 'nothing'}"
                ) from None


def _number(value: Any) -> float:
    """A number of the program, which writes null or NaN where there is none."""
    return math.nan if value is None else float(value)


# --- A program of the user's, which prints a number on each line


@dataclass(frozen=True, kw_only=True)
class Command(Checked, BaseMetric):
    """The numbers that a program of yours prints, one on each line; the corpus number is the mean.

    Type `-m 'command:./score.sh'`, and with arguments `-m 'command:"python score.py --fast"'`. No shell runs, so that
    `|`, `*` and `$HOME` are words like others. A file that names a program is refused.

    For each segment the program reads a JSON object on a line of its standard input: `id`, `hyp` and, where there are
    any, `system`, `seg`, `lp`, `src`, `refs` (a list), `context` and `table`; no ratings. It prints as many numbers in
    this order; `nan` is an undefined score. It is started once for each block of up to 65,536 segments.

    Args:
        program: the program with its arguments; in double quotes if there are several words.
        higher_is_better: false for an error rate. None takes true, with a note.

    The signature holds the words, and a digest of the files that they name; what else the program reads is not signed.
    """

    program: str
    higher_is_better: bool | None = None
    other_names: ClassVar = {"model": "program"}  # the grammar's word for what stands alone behind the colon
    info: ClassVar = MetricInfo(
        "command",
        needs=frozenset(),
        range=(-math.inf, math.inf),
        copy_is_best=False,  # not known
        summary="the numbers that a program of yours prints",
        tasks=TASKS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            words = self._words
        except ValueError as error:
            raise SpecError(f"command:program is {self.program!r}: {error}") from None
        if not words:
            raise SpecError("command:program is empty, expected a program, as in command:./score.sh")
        object.__setattr__(self, "info", replace(type(self).info, higher_is_better=self.higher_is_better is not False))

    @property
    def _words(self) -> list[str]:
        return shlex.split(self.program)

    @property
    def notes(self) -> tuple[str, ...]:
        """That a direction was assumed."""
        return (ASSUMED,) if self.higher_is_better is None else ()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The direction, and a digest of the files among the words; None where there is none."""
        try:
            digests = [sha256(Path(word).read_bytes()).hexdigest()[:16] for word in self._words if os.path.isfile(word)]
        except OSError as error:
            said = f"command: {error.filename!r} cannot be read for the signature: {error.strerror}"
            raise InputError(said) from None
        return {"higher_is_better": self.info.higher_is_better, "sha256": "+".join(digests) or None}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The numbers that the program prints.

        Raises:
            InputError: it cannot be started, ends with another code than 0, or prints no number for each segment.
        """
        signature = signature_of(self, runtime)  # of the files as they are when it starts
        lines = self._printed(segments) if segments else []
        values = np.array([self._number(*each) for each in zip(lines, segments, strict=True)], dtype=np.float64)
        return Scores(signature, ids(segments), values, higher_is_better=self.info.higher_is_better)

    def _printed(self, segments: Sequence[Segment]) -> list[str]:
        """The lines that it prints, as many as segments."""
        rows = ({name: cell for name, get in COLUMNS.items() if (cell := get(s)) is not None} for s in segments)
        told = "".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows)
        given = told.encode("utf-8", "backslashreplace")  # what is no UTF-8 becomes an escape, which is JSON
        try:
            with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
                stdin.write(given)
                stdin.seek(0)
                with subprocess.Popen(self._words, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr) as program:
                    assert program.stdout is not None  # it is a pipe
                    try:
                        lines = [line.decode("utf-8", "replace") for line in islice(program.stdout, len(segments) + 1)]
                    except BaseException:  # Ctrl-C
                        program.kill()
                        raise
                    if len(lines) > len(segments):  # it may go on for ever
                        program.kill()
                stderr.seek(0)
                said = stderr.read().decode("utf-8", "replace").splitlines()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            way = "expected a program on the PATH, or ./NAME that is executable and, if a script, begins with #!"
            raise InputError(f"command: {self._words[0]!r} cannot be started ({why}); {way}") from None
        if program.returncode or len(lines) != len(segments):
            many = f"more than {len(segments)}" if len(lines) > len(segments) else str(len(lines))
            has_failed = program.returncode and len(lines) <= len(segments)
            what = f"ended with {program.returncode}" if has_failed else f"printed {many} lines"
            last = [line.strip() for line in said if line.strip()][-1:] or ["nothing"]
            raise InputError(
                f"command: {self.program!r} {what} for {len(segments)} segments, expected code 0 and a number on each"
                f" line; the last that it said on stderr: {last[0][-_ERRORS:]}"
            )
        return [line.removesuffix("\n") for line in lines]

    def _number(self, line: str, segment: Segment) -> float:
        try:
            if not line.strip():
                raise ValueError("a blank line, expected a number or nan")
            return number_in(line)
        except ValueError as error:
            said = f"command: {self.program!r} printed for segment {segment.id!r}: {error}"
            raise InputError(said) from None
