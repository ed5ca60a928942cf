"""Metrics that packages in other environments compute: BLEURT, COMET, SPICE, SummaC-Conv, and a module of yours."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import BaseMetric, check_needs, nonfinite, over_references, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.external.client import Client, program
from nlgauge.metrics.external.environments import Environment, recipe_of
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_ROWS, _BATCH = 256, 16  # rows of one request, and of one pass of a model

Policy = Literal["mean", "best"]


@dataclass(frozen=True, kw_only=True)
class Adapter(Checked, BaseMetric):
    """A metric that a package in another environment computes.

    A worker under the other Python loads the model once for a run, and ends with it. Each distinct text is asked once,
    256 at a time. A worker that crashes is started again once; one that gives no answer in 30 minutes is ended, or in
    as many seconds as `NLGAUGE_WORKER_SECONDS` says. `--device` reaches it, `--dtype` does not. The signature names the
    versions of Python and of the packages that matter, and the digest or the hub's commit of the model.

    Packages and models are code of others, which runs with your rights; the other environment is no sandbox.

    Args:
        python: the Python of an environment of your own; None takes the one that `nlgauge env` made.
    """

    python: str | None = None
    info: ClassVar[MetricInfo]
    environment: ClassVar[str] = ""  # of `nlgauge env`
    kind: ClassVar[str]  # what the worker calls it
    reads: ClassVar[tuple[str, ...]]  # what a row holds: `hyp` and `src`, `ref` (one) or `refs` (all)
    parts: ClassVar[tuple[str, ...]] = ()
    counts_cut: ClassVar[bool] = False  # whether the worker tells which texts were cut

    @property
    def policy(self) -> Policy:
        """How several references are combined, where a row holds one."""
        return "mean"

    def load_options(self) -> dict[str, Any]:
        """The request that makes the worker load its scorer."""
        raise NotImplementedError

    def identify(self, client: Client) -> dict[str, Any]:
        """Identity of the model, for the signature; it is not loaded."""
        raise NotImplementedError

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Versions and the identity of the model, which the worker tells before it loads anything."""
        return self._opened(runtime)[1]

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The scores of the package for each segment.

        A blank side gets the worst value and the flag `empty`, and is not asked about. A number that is not finite is
        NaN and has the flag `nonfinite`.

        Raises:
            InputError: the environment was not made, or its worker fails.
        """
        check_needs(self, segments)

        def single(segments: Sequence[Segment]) -> Scores:
            return self._single(segments, runtime)

        return over_references(segments, self.policy, single) if "ref" in self.reads else single(segments)

    def _single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        rows = [self._row(segment) for segment in segments]
        empty = np.array([any(map(_is_blank, row.values())) for row in rows], dtype=np.bool_)
        distinct: dict[str, list[int]] = {}
        for i in np.flatnonzero(~empty).tolist():
            distinct.setdefault(repr(rows[i]), []).append(i)
        columns = {name: np.full(len(rows), np.nan) for name in ("values", *(f"part.{part}" for part in self.parts))}
        truncated = np.zeros(len(rows), dtype=np.bool_)
        places = list(distinct.values())
        with runtime.progress(len(places), self.info.name) as advance:
            for start in range(0, len(places), _ROWS):
                part = places[start : start + _ROWS]
                found = self._asked(part, rows, segments, runtime)
                for name, column in columns.items():
                    for value, here in zip(found[name], part, strict=True):
                        column[here] = value
                if self.counts_cut:
                    for cut, here in zip(found["truncated"], part, strict=True):
                        truncated[here] = cut
                advance(len(part))
        for column in columns.values():
            column[empty] = self._worst
        broken = nonfinite(columns["values"]) & ~empty
        flags = {"empty": empty, "nonfinite": broken, **({"truncated": truncated} if self.counts_cut else {})}
        values = np.where(np.isfinite(columns["values"]), columns["values"], np.nan)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {part: columns[f"part.{part}"] for part in self.parts},
            flags=flags,
            higher_is_better=self.info.higher_is_better,
        )

    @property
    def _worst(self) -> float:
        low, high = self.info.range
        worst = low if self.info.higher_is_better else high
        return worst if self.info.blank is None else self.info.blank

    def _asked(
        self, places: Sequence[Sequence[int]], rows: Sequence[Any], segments: Sequence[Segment], runtime: Runtime
    ) -> dict[str, Array]:
        """The worker's scores of distinct rows, each of which stands in several places."""
        client, _ = self._opened(runtime)
        if not client.opened:
            options = {"reads": self.reads, "device": runtime.device, "batch": _BATCH, **self.load_options()}
            client.open({"op": "load", "kind": self.kind, "options": options})
        about = [segments[here[0]].id for here in places]
        found = client.ask({"op": "score", "rows": [rows[here[0]] for here in places]}, about)
        if found["parts"].keys() != {*self.parts} or bool(found["truncated"]) != self.counts_cut:
            client.close()
            raise InputError(f"{self.info.name}: the worker told other columns than those of {self.info.name}")
        cut = {"truncated": found["truncated"]} if self.counts_cut else {}
        columns = {"values": found["values"], **{f"part.{name}": found["parts"][name] for name in self.parts}, **cut}
        return {name: np.array(column, dtype=np.float64) for name, column in columns.items()}

    def _row(self, segment: Segment) -> dict[str, Any]:
        every: dict[str, Any] = {"hyp": _plain(segment.hypothesis), "src": _plain(segment.source or "")}
        every["refs"] = list(map(_plain, segment.references))
        every["ref"] = every["refs"][0] if every["refs"] else ""
        return {name: every[name] for name in self.reads}

    def _opened(self, runtime: Runtime) -> tuple[Client, Mapping[str, Any]]:
        """The started worker, and the entries that it adds to the signature."""
        python = self._python()
        key = ("worker", self.kind, str(python), runtime.device, repr(sorted(self.load_options().items())), self.reads)
        return runtime.once(key, lambda: self._open(python))

    def _open(self, python: Path) -> tuple[Client, Mapping[str, Any]]:
        signed = recipe_of(self.environment).signed if self.environment else ()
        client = Client(self.info.name, python, signed)
        hello = client.hello()
        absent = [package for package in signed[:1] if hello["versions"][package] == "absent"]
        if absent:
            raise InputError(
                f"{self.info.name}: {python} has no package {absent[0]}; nlgauge env {self.environment} makes an"
                " environment that has it"
            )
        return client, {"python": hello["python"], **hello["versions"], **self.identify(client)}

    def _python(self) -> Path:
        return program(self.python) if self.python is not None else Environment(self.environment).ready()


@dataclass(frozen=True, kw_only=True)
class CheckpointMetric(Adapter):
    """A metric that is a checkpoint: a network whose numbers have no bound.

    Args:
        model: a file or folder, or the name of a model on the hub.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text.
    """

    model: str
    references: Policy = "mean"
    blank: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "info", replace(type(self).info, blank=float(self.blank)))

    @property
    def policy(self) -> Policy:
        """How several references are combined."""
        return self.references

    def load_options(self) -> dict[str, Any]:
        """The model."""
        return {"model": self.model}

    def identify(self, client: Client) -> dict[str, Any]:
        """The name of the model without its folder, and what identifies its weights."""
        return model_facts(client, self.model)


def model_facts(client: Client, model: str, option: str = "model", weights: str = "weights") -> dict[str, Any]:
    """The name of a model without its folder, and what identifies its weights, under two names."""
    found = client.ask({"op": "locate", "model": model})
    return {option: Path(model).name if os.path.exists(model) else model, weights: found["identity"]}


def adapted(name: str, **about: Any) -> MetricInfo:
    """Declare a metric of another environment."""
    settled: dict[str, Any] = {"range": (-math.inf, math.inf), "copy_is_best": False, "cached": True}
    return MetricInfo(name, flags={"empty", "nonfinite"}, **{**settled, **about})


def _plain(text: str) -> str:
    """A text without halves of pairs of codes, which no tokenizer reads."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_blank(value: Any) -> bool:
    return is_blank(value) if isinstance(value, str) else all(map(is_blank, value))


# --- BLEURT as the PyTorch port of its checkpoints computes it


@dataclass(frozen=True, kw_only=True)
class Bleurt(CheckpointMetric):
    """The rating that a BLEURT checkpoint predicts from a reference and a hypothesis.

    `nlgauge env bleurt` makes its environment, which fetches the package; the checkpoint comes from the hub, or is a
    folder of yours, converted to PyTorch. BLEURT-20 gives about 0 to 1 and reads the languages of RemBERT; earlier
    checkpoints give about -2 to 1 and read English. A copy of the reference need not be best.

    It reads no source, so an error that the reference has, too, is none. Texts that have more than 512 pieces together
    are cut, with the flag `truncated`. `nlgauge audit` shows what your checkpoint misses.

    Args:
        model: a folder with a checkpoint, or the name of a model on the hub, such as `lucadiliello/BLEURT-20-D12`.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text, for which a checkpoint has no lowest score.

    References:
        Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation"; Pu et al. (2021), "Learning Compact
        Metrics for MT", for BLEURT-20.

        The package bleurt-pytorch is a port by others, with one release, made for transformers 4; the authors' own
        needs TensorFlow and is not on PyPI. Tried with bleurt-pytorch 0.0.1, torch 2.13.0, transformers 4.57.6 and
        Python 3.11, on a small checkpoint with random weights: 12 values were those of the package to the last bit. No
        published checkpoint was tried, for lack of a network.
    """

    environment: ClassVar = "bleurt"
    kind: ClassVar = "bleurt"
    reads: ClassVar = ("hyp", "ref")
    counts_cut: ClassVar = True
    info: ClassVar = adapted(
        "bleurt",
        summary="BLEURT on PyTorch, with a checkpoint of yours; a copy need not be best: it is a model",
        tasks=TASKS,
        paper='Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation"',
    )


# --- COMET as its authors' package computes it, with any checkpoint of theirs or of the user's

_REFERENCE_FREE = re.compile(r"(^|[^a-z])(qe|kiwi|cometkiwi)([^a-z]|$)")
_ALL = ("hyp", "src", "ref")
_SEGMENTS = re.compile(r"^input_segments:\s*(\[[^\]]*\]|(?:\n?\s*-.*)+)", re.MULTILINE)  # in either form of YAML


@dataclass(frozen=True, kw_only=True)
class UnbabelComet(CheckpointMetric):
    """The prediction of a COMET checkpoint: with references, or of the source alone.

    `nlgauge env comet` makes its environment, which takes 1.4 GB of disk; the checkpoint comes from the hub, or is a
    file of yours. Licences of checkpoints differ: CometKiwi and XCOMET are for research only.

    Checkpoints since 2022 give about 0 to 1. Those of 2020 give z-scores, of which 0 is the mean: take `blank=-2`
    there, so that a blank text is not average. A copy of the reference need not be best. A text that is longer than the
    encoder reads is cut by the package without a word; here it has the flag `truncated`. The languages are those of the
    checkpoint's encoder, about 100 for XLM-R.

    COMET notices changed numbers and names late, and rates a fluent text about something else too high; `nlgauge audit`
    shows it for your checkpoint.

    Args:
        model: a checkpoint file (`FOLDER/checkpoints/model.ckpt`, with `FOLDER/hparams.yaml`), its folder, or the name
            of a model on the hub, such as `Unbabel/wmt22-comet-da`.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text, for which a checkpoint has no lowest score: 0 on the scale of the models
            since 2022, -2 on that of 2020.
        reference_free: whether it reads no references. None takes what `hparams.yaml` says of a checkpoint on disk,
            and for a model on the hub whether its name has `qe` or `kiwi` in it.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"; Rei et al. (2022), "COMET-22: Unbabel-IST 2022
        Submission for the Metrics Shared Task".

        Faults of the package: `import comet` fails with setuptools 81 and later, so that the environment has an older
        one; it pins numpy below 2, transformers below 5, huggingface-hub below 1, protobuf below 5 and torchmetrics
        below 0.11; a checkpoint is a pickle, which can run any code when it is loaded; and two equal texts of one call
        can differ in the fifth digit because of their neighbours in a batch, which is why each distinct text is asked
        once here. Tried with unbabel-comet 2.2.7, torch 2.13.0, transformers 4.57.6 and Python 3.11, on two small
        checkpoints, with and without references: 12 values were those of the package's own `predict` to the last bit.
        No published checkpoint was tried, for lack of a network.
    """

    reference_free: bool | None = None
    environment: ClassVar = "comet"
    kind: ClassVar = "comet"
    counts_cut: ClassVar = True
    info: ClassVar = adapted(
        "unbabel-comet",
        needs={"references", "source"},
        summary="COMET by its authors' package, with a checkpoint of yours; a copy need not be best: it is a model",
        tasks={"mt"},
        paper='Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        needs, reads = ({"source"}, ("hyp", "src")) if self._is_reference_free else (self.info.needs, _ALL)
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "info", replace(self.info, needs=needs))

    def identify(self, client: Client) -> dict[str, Any]:
        """The model, and whether it reads no references."""
        return {**super().identify(client), "reference_free": self._is_reference_free}

    @property
    def _is_reference_free(self) -> bool:
        if self.reference_free is not None:
            return self.reference_free
        path = Path(self.model)
        if not os.path.exists(path):  # also where the name is too long for one
            return _REFERENCE_FREE.search(self.model.lower()) is not None
        settings = (path if path.is_dir() else path.absolute().parents[1]) / "hparams.yaml"
        text = settings.read_text(encoding="utf-8", errors="replace") if settings.is_file() else ""
        segments = _SEGMENTS.search(text)
        return "ref" not in segments[1] if segments else "referenceless_regression_metric" in text


# --- SPICE as its authors' program computes it


@dataclass(frozen=True, kw_only=True)
class Spice(Adapter):
    """F1 of the objects, attributes and relations of a caption and of all of its references together.

    A caption and its references become scenes of objects, attributes and relations, by the program of its authors as
    pycocoevalcap wraps it. `nlgauge env spice` makes its environment; Java must be installed. On first use the package
    downloads Stanford CoreNLP 3.6.0 from the server of its authors.

    All references of a segment are read together, as one scene. The parts are `precision` and `recall`. A copy of the
    reference need not be best: a text without an object has no scene and scores 0, as a blank one does. It does not
    notice grammar, nor anything else that its parser does not turn into a tuple. It reads English.

    References:
        Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation".

        pycocoevalcap is 104 MB and states no licence; SPICE itself is under the AGPL, version 3. It needs Java 1.8 or
        later; which later releases run it was not tried. The real program was not tried here, for lack of CoreNLP: the
        tests use a stand-in.
    """

    environment: ClassVar = "spice"
    kind: ClassVar = "spice"
    reads: ClassVar = ("hyp", "refs")
    parts: ClassVar = ("precision", "recall")
    info: ClassVar = adapted(
        "spice",
        range=(0.0, 1.0),
        summary="F1 of scenes, by its authors' program; a copy need not be best: a text without a scene has nothing",
        tasks={"ic"},
        paper='Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation"',
    )

    def unread(self, writing: Writing) -> str | None:
        """That other scripts and languages are not English."""
        return None if writing.may_be_english else "SPICE's parser reads English"

    def load_options(self) -> dict[str, Any]:
        """Nothing: the program has one form."""
        return {}

    def identify(self, client: Client) -> dict[str, Any]:
        """Nothing beside the version of the package, which holds the program."""
        return {}


# --- SummaC-Conv as its authors' package computes it


@dataclass(frozen=True, kw_only=True)
class SummacConv(Adapter):
    """How consistent a summary is with its document: a convolution over the entailment of pairs of sentences.

    An NLI model reads every pair of a sentence of the document and one of the summary, and a small convolution, trained
    by the authors, reads the histogram of the results. `summac` is the variant without trained weights, and needs no
    package of others.

    `nlgauge env summac` makes the environment. NLTK's sentence splitter is downloaded apart: `python -m nltk.downloader
    punkt punkt_tab` with the Python of the environment. The weights lie in the authors' repository
    (github.com/tingofurro/summac) and are a pickle, which can run any code when it is loaded.

    A blank side scores 0. References are not read. The package cuts documents to 100 sentences, and no flag says so.
    The languages are those of the NLI model, English for `vitc`.

    Args:
        model: the file of the convolution, `summac_conv_vitc_sent_perc_e.bin` of the authors' repository.
        nli: the NLI model, by a name of the package, or a folder with a model whose configuration names its labels.

    References:
        Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization", with
        the authors' settings: sentences, entailment alone, bins by percentiles, the mean over sentences.

        The package pins huggingface-hub to 0.17 at most, and with it transformers to 4.35. It takes only the NLI models
        of its own table, to which nlgauge adds a folder that you name. Tried with summac 0.0.4, torch 2.13.0,
        transformers 4.35.2 and Python 3.11, on a small NLI model, a convolution with random weights and an empty
        `punkt_tab`: 12 values were those of the package to the last bit. The published weights were not tried, for lack
        of a network.
    """

    model: str
    nli: str = "vitc"
    environment: ClassVar = "summac"
    kind: ClassVar = "summac-conv"
    reads: ClassVar = ("hyp", "src")
    info: ClassVar = adapted(
        "summac-conv",
        needs={"source"},
        range=(0.0, 1.0),
        summary="consistency with the document, by its authors' package; no reference is read",
        tasks={"as"},
        paper=(
            'Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization"'
        ),
    )

    def load_options(self) -> dict[str, Any]:
        """The weights and the NLI model."""
        return {"model": self.model, "nli": self.nli}

    def identify(self, client: Client) -> dict[str, Any]:
        """Both, without their folders, and what identifies their weights."""
        nli = model_facts(client, self.nli, "nli", "nli_weights") if os.path.exists(self.nli) else {}
        return {**model_facts(client, self.model), **nli}


# --- A module of the user's, which runs under a Python of the user's

_READS = {"references": "refs", "source": "src"}


@dataclass(frozen=True, kw_only=True)
class External(Adapter):
    """A metric from a function of yours in an environment of yours: `score` takes a list of rows and returns numbers.

    Take it for a package that does not fit beside nlgauge and has no environment in `nlgauge env --list`:
    `external:module=mine.py,python=/opt/other/bin/python`. A function that runs where nlgauge runs is better named as
    `MODULE:FUNCTION` after `-m`, or given in Python.

    A row is a dictionary with `hyp`, and with `refs` (a list) and `src` as `needs` names them. The function `score`
    returns a number for each; a string, a boolean or a list in its place is an error. None, or a number that is not
    finite, is NaN with the flag `nonfinite`. A blank text gets the worse end of the range and is not asked.

    The signature has the SHA-256 of the module's file, and the versions of the packages in its list `PACKAGES`, such as
    `PACKAGES = ["numpy"]`. Name every package there that changes the numbers, or the score cache gives old numbers
    after an update.

    Args:
        python: the Python that runs it; None takes the one that runs nlgauge, in a process of its own.
        module: the path of a file that ends in `.py`, or the name of a module that this Python imports. Packages that
            change its numbers stand in its list `PACKAGES`: their versions are signed, as is its file.
        needs: what it reads besides the hypothesis: `references`, `source`, both with a blank between, or nothing.
        low: the lowest value, which a blank text gets.
        high: the highest value.
        higher_is_better: false for an error rate; a blank text then gets the highest value.
    """

    module: str
    needs: str = "references"
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    kind: ClassVar = "module"
    info: ClassVar = adapted(
        "external",
        range=(-math.inf, math.inf),
        summary="a function of yours in an environment of yours; a copy need not be best: nothing is known of it",
        tasks=TASKS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = self.needs.split()
        unknown = [need for need in needs if need not in _READS]
        if unknown:
            raise SpecError(f"external:needs names {unknown[0]!r}{nearest(unknown[0], _READS)}")
        if not self.low < self.high:
            raise SpecError(f"external:low is {self.low:g}, expected below high, which is {self.high:g}")
        object.__setattr__(self, "reads", ("hyp", *(_READS[need] for need in _READS if need in needs)))
        about: dict[str, Any] = {
            "needs": {*needs},
            "range": (self.low, self.high),
            "higher_is_better": self.higher_is_better,
        }
        object.__setattr__(self, "info", replace(type(self).info, **about))

    def load_options(self) -> dict[str, Any]:
        """The module."""
        return {"module": self.module}

    def identify(self, client: Client) -> dict[str, Any]:
        """The name of the module without its folder, its digest, and versions of the packages that it names."""
        found = client.ask({"op": "import", "module": self.module})
        return {"module": Path(self.module).name, "sha256": found["identity"], **found["versions"]}

    def _python(self) -> Path:
        return program(sys.executable if self.python is None else self.python)
