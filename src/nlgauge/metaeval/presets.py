"""Protocols by name: what a paper or a shared task means when it reports "the correlation"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.errors import InputError, nearest


@dataclass(frozen=True)
class Task:
    """One table of numbers: a statistic at a level.

    Attributes:
        stat: the name of the statistic.
        level: `segment`, `item` (also called `summary`) or `system`.
        averaging: how values are averaged; None is the usual way at the level.
    """

    stat: str
    level: str
    averaging: str | None = None


@dataclass(frozen=True)
class Preset:
    """A protocol.

    Attributes:
        tasks: what the protocol reports.
        about: level, averaging, ties, systems and references in a sentence or two.
        origin: the paper or shared task that the protocol comes from.
        references: how several references are used, as in `meta_evaluate`; None leaves this to each metric.
        criterion: what is rated. None is the only criterion in the data; `all` is every criterion.
        test: the test that belongs to the protocol; None where there is none.
        options: the options of the statistics.
    """

    tasks: tuple[Task, ...]
    about: str
    origin: str
    references: str | None = None
    criterion: str | None = None
    test: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


PRESETS: dict[str, Preset] = {
    "wmt16-seg": Preset(
        (Task("pearson", "segment", "none"),),
        "Segments of one language pair together, then the plain mean over pairs; systems need no names; one reference;"
        " Williams' test a pair.",
        "WMT15 and WMT16 metrics tasks, segment level, direct assessment; BERTScore tables 1 and 11",
        test="williams",
    ),
    "wmt-da-rr": Preset(
        (Task("rr_kendall", "segment", "none"),),
        "Two outputs for one source at least 25 points of raw direct assessment apart are a pair; a metric tie is a"
        " loss; pairs of a language pair are pooled, then the plain mean over language pairs.",
        "WMT17 to WMT20 metrics tasks, segment level, DARR",
        options={"threshold": 25.0, "ties": "loss"},
    ),
    "wmt-mqm-seg": Preset(
        (Task("acc_eq_calibrated", "item", "item"),),
        "Pairwise accuracy with ties inside each source, metric ties calibrated on the same data, mean over sources,"
        " then over language pairs; leave out references that are scored as systems.",
        "WMT23 and WMT24 metrics tasks, segment level; Deutsch et al. (2023)",
        test="item_swap",
    ),
    "summeval-sys": Preset(
        (Task("kendall_b", "system"),),
        "Every single reference scored and averaged (references=best takes the best), means per system over documents,"
        " tau-b with the mean expert rating for each criterion, and their mean; constant metrics are undefined.",
        "SummEval (Fabbri et al. 2021), table 2; MENLI, section 4",
        references="mean",
        criterion="all",
    ),
    "summeval-summ": Preset(
        (Task("spearman", "summary", "item"), Task("kendall_b", "summary", "item")),
        "Every single reference scored and averaged; a correlation for each document over systems, mean over documents;"
        " documents in which the metric or the rating is constant are left out and counted.",
        "BARTScore (Yuan et al. 2021), table 4",
        references="mean",
        criterion="all",
    ),
    "realsumm": Preset(
        (Task("pearson", "summary", "item"), Task("pearson", "system")),
        "Pearson for each document over systems, mean over all documents (the authors' script averages those with p <="
        " 0.05 only: compat=realsumm); and Pearson of system means.",
        "REALSumm (Bhandari et al. 2020); MENLI, section 4",
    ),
    "webnlg": Preset(
        (Task("pearson", "segment", "none"), Task("pearson", "system")),
        "All references at once where the metric reads them so; all (input, system) rows together, and corpus scores of"
        " systems over the judged inputs with their mean rating.",
        "WebNLG+ 2020 human evaluation (Castro Ferreira et al. 2020)",
        criterion="all",
    ),
    "coco-m1": Preset(
        (Task("pearson", "system"),),
        "The best of the single references for each caption, means per system, Pearson with the share of people who"
        " find a caption as good as a human one (M1) over the 11 or 12 entries.",
        "COCO captioning challenge 2015; BERTScore table 4",
        references="best",
        criterion="M1",
    ),
    "paws-auc": Preset(
        (Task("auc", "segment", "none"),),
        "Area under the ROC curve over all pairs of a set, labels 0 and 1, ties a half; the first sentence is the"
        " reference.",
        "PAWS and QQP (Zhang et al. 2019); BERTScore table 6",
    ),
    "bagel": Preset(
        (Task("spearman", "segment", "none"),),
        "The best of the single references (references=mean is MENLI's), all outputs of the set together; systems need"
        " no names.",
        "BARTScore (Yuan et al. 2021), table 7; MENLI, table 18",
        references="best",
        criterion="all",
    ),
    "qags": Preset(
        (Task("pearson", "segment", "none"),),
        "The source stands for the reference; all summaries together.",
        "QAGS (Wang et al. 2020); BARTScore table 5",
        references="source",
    ),
    "rank19": Preset(
        (Task("preference_accuracy", "segment", "none"),),
        "The source stands for the reference; share of sources whose correct sentence scores strictly higher, a tie"
        " being a loss.",
        "Falke et al. (2019); BARTScore table 5",
        references="source",
        test="mcnemar",
        options={"ties": "loss"},
    ),
}


def preset(name: str) -> Preset:
    """Return the protocol with this name.

    Raises:
        InputError: the name is unknown; the error gives the nearest known name.
    """
    if name not in PRESETS:
        raise InputError(f"unknown preset {name!r}{nearest(name, PRESETS)}")
    return PRESETS[name]
