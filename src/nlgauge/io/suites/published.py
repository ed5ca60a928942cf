"""Suites that others published, read by their names from the files of their authors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys, unique
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.files import InputFile, Lines, entries, found_in
from nlgauge.io.rows import joined
from nlgauge.io.suites.rows import Cells, SuiteRows, pair_of, phenomenon_of

Maker = Callable[[Cells, int, str], Pair | str]  # row, its number, name of the file -> pair, or why there is none

_HWTSC = {  # beginning of the name of a phenomenon -> ours
    "Number": "number_error",
    "Time & Date": "date_time",
    "Named Entity": "name_error",
    "Unit": "unit",
    "Affirmation/Negation": "negation",
}
_EDITS = {"antonym_swap": "antonyms", "negation_insertion": "negation"}  # names of SummEdits -> ours
CONSISTENT = "consistent_edit"  # an edit of SummEdits that keeps the facts
SEED = "which hold the seed summary itself: it is the better text of the other rows"


def hwtsc22(row: Cells, number: int, name: str) -> Pair | str:
    """A row of HW-TSC's suite of WMT22: 721 translations, zh-en, with errors in numbers, dates, names, units, negation.

    From HwTsc/Challenge-Set-for-MT-Metrics on GitHub (`9820eb43`), the TSV; no licence is stated, and sources are from
    FLORES (CC BY-SA 4.0) and WMT. The TSV has no quoting, so quotation marks are text. Columns: `source`,
    `good-translation`, `incorrect-translation`, `reference`, `phenomena`, and a second `source`, where the sentence
    comes from. `kendall-like` is (won - lost) / (won + lost), by category and for all; ties do not count.
    """
    label = row.needed("phenomena")
    known = next((ours for begin, ours in _HWTSC.items() if label.startswith(begin)), None)
    if known is None:
        raise InputError(f"{row.place}: phenomena is {label!r}, expected one that begins {', '.join(_HWTSC)}")
    return Pair(
        id=f"hwtsc22.{number - 1:03d}",
        phenomenon=known,
        better=row.needed("good-translation"),
        worse=row.needed("incorrect-translation"),
        references=(row.needed("reference"),),
        source=row.needed("source"),
        group="zh-en",
        error=label,
        meta={"origin": row.needed("source.2")},
    )


def aces(row: Cells, number: int, name: str) -> Pair | str:
    """A row of ACES: 36,476 translations of 146 language pairs, 68 phenomena.

    From nikitam/ACES on the Hugging Face hub, CC BY-NC-SA 4.0. JSON lines or TSV with `source`, `good-translation`,
    `incorrect-translation`, `reference`, `phenomena`, `langpair`. `tau` of a category is the mean over its phenomena, a
    tie being lost. `ACES-Score` is the sum of the taus, weighted by 5 for addition, omission, mistranslation, over- and
    undertranslation, 1 for untranslated, do not translate, real-world knowledge and wrong language, and .1 for
    punctuation; it is undefined if a category has no pair.
    """
    phenomenon = row.needed("phenomena")
    return Pair(
        id=f"{row.text('id') or row.text('ID') or ''}:{number}".lstrip(":"),
        phenomenon=phenomenon_of(phenomenon),
        better=row.needed("good-translation"),
        worse=row.needed("incorrect-translation"),
        references=(row.needed("reference"),),
        source=row.text("source"),
        group=row.text("langpair"),
        error=phenomenon,
    )


def demetr(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of DEMETR: 35 kinds of damage to translations into English, with severity.

    From marzenakrp/demetr on GitHub (`0398097c`), folder `dataset`, MIT. A JSON list per kind with `src_sent`,
    `eng_sent`, `mt_sent`, `pert_sent`, `pert_name` (such as `critical_id8_negation`), `lang_tag`, `pert_check`. Rows
    that the authors found unperturbed (`pert_check` is false) are left out, and so is the kind that puts the reference
    in place of the translation. It has 30,320 pairs: `--limit` takes some. `accuracy` is told by severity: critical,
    major, minor, base.
    """
    if row.get("pert_check") is False:
        return "which the authors found unperturbed (pert_check)"
    label = row.text("pert_name") or row.text("pert_desc") or "pair"
    if label.endswith("_reference"):  # the reference itself in place of a perturbed text: it is the better one
        return "which hold the reference as translation (a baseline)"
    severity, _, own = label.partition("_id")
    own = own.partition("_")[2] or label
    worse = row.get("pert_sent")
    return Pair(
        id=f"{label}.{row.get('id', number)}.{number}",
        phenomenon=phenomenon_of(own),
        better=row.needed("mt_sent"),
        worse=worse if isinstance(worse, str) else "",
        references=(row.needed("eng_sent"),),
        source=row.text("src_sent"),
        group=row.text("lang_tag"),
        error=label,
        meta={"severity": severity},
    )


def bump(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of BUMP: 889 summaries with one planted error, and their articles.

    From dataminr-ai/BUMP on GitHub (`86327f14`), folder `data`, MIT; the articles are those of CNN/DailyMail. A JSON
    list with `id`, `article_id`, `article`, `reference_summary`, `edited_summary`, `error_type`; in task 1 also
    `corrected_error_type`, which counts. Texts are compared with the article unless `--references` says otherwise.
    `consistency` is the share of pairs whose reference summary scores strictly higher.
    """
    error = row.text("corrected_error_type") or row.needed("error_type")
    return Pair(
        id=f"{stem(name)}.{row.get('id', number - 1)}",
        phenomenon=error.removesuffix(" Error").lower().replace(" ", "_"),
        better=row.needed("reference_summary"),
        worse=row.needed("edited_summary"),
        source=row.needed("article"),
        task="as",
        error=error,
        cluster=row.text("article_id"),
    )


def summedits(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of SummEdits: 6,348 edited summaries of 10 domains, each beside its seed summary.

    From salesforce/factualNLG on GitHub (`515426ea`), folder `data/summedits`, CC BY 4.0. A JSON list per domain with
    `id`, `doc`, `summary`, `original_summary` (on the hub `seed_summary`), `label` (1 is consistent), `edit_types`. The
    seed summary is the better text. An inconsistent edit should score lower, and a consistent one (phenomenon
    `consistent_edit`) the same, within `--tolerance`. Texts are compared with the document. `auc` and balanced accuracy
    tell consistent summaries from others, by domain: at a threshold found on other documents, in 5 folds, and at the
    best one, which is the most that any reaches on these data.
    """
    seed = row.text("original_summary") or row.needed("seed_summary")
    edited, label = row.needed("summary"), row.get("label")
    if label not in (0, 1):
        raise InputError(f"{row.place}: field 'label' is {label!r}, expected 1 (consistent) or 0")
    if edited == seed:
        return SEED
    kinds = row.get("edit_types") or []
    if not isinstance(kinds, Sequence) or isinstance(kinds, str):
        raise InputError(f"{row.place}: field 'edit_types' is {kinds!r:.40}, expected a list")
    kind = str(kinds[0]) if len(kinds) == 1 else "several_edits" if kinds else "other_edit"
    domain = row.text("domain") or stem(name).removeprefix("summedits_")
    return Pair(
        id=row.text("id") or f"{domain}.{number}",
        phenomenon=CONSISTENT if label else _EDITS.get(kind, kind),
        better=seed,
        worse=edited,
        source=row.needed("doc"),
        expect="same" if label else "lower",
        task="as",
        error="+".join(map(str, kinds)) or None,
        meta={"domain": domain},
    )


def fbi(row: Cells, number: int, name: str) -> Pair | str:
    """A row of FBI: 2,400 damaged answers of language models, 22 kinds.

    From ai4bharat/FBI on the Hugging Face hub; no licence is stated. A quoted TSV per kind of error with `cdx`,
    `question`, `og`, `perturbed_gpt4`; file and folder name the error. The files on the hub were not at hand: if their
    columns have other names, give them: `--columns question=NAME,og=NAME,perturbed_gpt4=NAME`. There is accuracy by
    kind alone.
    """
    kind, ability = stem(name), PurePath(name).parent.name
    return Pair(
        id=f"{kind}.{row.text('cdx') or number}",
        phenomenon=kind.replace("-", "_"),
        better=row.needed("og"),
        worse=row.needed("perturbed_gpt4"),
        source=row.needed("question"),
        expect="same" if kind.replace("-", "_") == "score_invariant" else "lower",
        error=kind,
        meta={"ability": ability},
    )


def llmbar(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of LLMBar: 419 instructions with a good and a bad output.

    From princeton-nlp/LLMBar on GitHub (`900616bf`), folder `Dataset/LLMBar`, MIT. A JSON list `dataset.json` in the
    folder of each subset, with `input`, `output_1`, `output_2` and `label` (1 or 2, the better output). The folder of
    the file names the subset. `accuracy` is that on all instances, and the mean over the adversarial subsets (all but
    Natural).
    """
    label = row.get("label")
    if label not in (1, 2):
        raise InputError(f"{row.place}: field 'label' is {label!r}, expected 1 or 2, the better output")
    subset = PurePath(name).parent.name or "pair"
    return Pair(
        id=f"llmbar.{subset}.{number - 1:03d}",
        phenomenon=subset,
        better=row.needed(f"output_{label}"),
        worse=row.needed(f"output_{3 - label}"),
        source=row.needed("input"),
        task="instruction",
        error=subset,
    )


def stem(name: str) -> str:
    """The name of a file without its folder and endings."""
    return PurePath(name).name.partition(".")[0]


# --- MSLC: outputs of one system at several checkpoints, whose order is the truth

_NEEDED = ("system-outputs", "mapping", "sources", "references")


class Output(NamedTuple):
    """The output of one checkpoint for one item."""

    place: str
    lp: str | None
    item: str
    letter: str
    text: str
    source: str | None
    references: tuple[str, ...]


def checkpoint_pairs(path: str | os.PathLike[str]) -> tuple[list[tuple[str, Pair]], list[str], list[str]]:
    """All pairs of checkpoints of MSLC for every item, the later one being better.

    From nrc-cnrc/MSLC on GitHub (`2d2e57f5`), folder `2023/data`, CC BY 4.0; texts of WMT23 are for research. The
    folder holds `system-outputs/LP/SYSTEM.txt` and `mapping/LP.tsv` (system, letter; A is the least trained). Sources
    and references belong to WMT and are not there: take those of wmt-conference/wmt23-news-systems on GitHub, keep the
    lines of the documents that `documents/LP.docs` lists, and put them beside the outputs as `sources/LP.txt` and
    `references/LP.NAME.txt`. `kendall` is over all pairs of checkpoints, beside the share of neighbouring ones in
    order; both for the outputs of each item, and for the mean scores of checkpoints.

    Args:
        path: the folder `data` of MSLC 2023, with the sources and references beside it; or segments with `letter`.

    Returns:
        (place, pair) of each pair; notes; and the files that were read.

    Raises:
        InputError: a part of the folder is missing, files differ in length, an item lacks an output, or has two of one
            checkpoint.
    """
    files: list[str] = []
    found = _folder(Path(path), files) if os.path.isdir(path) else _segments(path, files)
    items: dict[tuple[str | None, str], dict[str, Output]] = {}
    letters: dict[str | None, dict[str, None]] = {}
    for output in found:
        own = items.setdefault((output.lp, output.item), {})
        if output.letter in own:
            raise InputError(
                f"{output.place}: item {output.item!r} has a second output of checkpoint {output.letter!r}; the first"
                f" is {own[output.letter].place}"
            )
        own[output.letter] = output
        letters.setdefault(output.lp, {})[output.letter] = None
    placed: list[tuple[str, Pair]] = []
    for (lp, item), own in items.items():
        missing = [letter for letter in sorted(letters[lp], key=place_of) if letter not in own]
        if missing:
            place = next(iter(own.values())).place
            raise InputError(f"{place}: item {item!r} has no output of checkpoint {', '.join(missing)}")
        order = sorted(own, key=place_of)
        if len(order) < 2:
            raise InputError(f"{os.fspath(path)}: one checkpoint of {lp}, expected at least two to compare")
        placed += [_step(own, order, i, j) for i, j in combinations(range(len(order)), 2)]
    notes = [] if placed else [f"{os.fspath(path)}: no output in it"]
    return placed, notes, files


def place_of(letter: str) -> tuple[int, str]:
    """Where a checkpoint stands in the order of training: 2 before 10, Z before AA."""
    return len(letter), letter


def _step(own: dict[str, Output], order: list[str], i: int, j: int) -> tuple[str, Pair]:
    worse, better = own[order[i]], own[order[j]]
    steps = j - i
    return better.place, Pair(
        id=f"{better.item}|{worse.letter}<{better.letter}",
        phenomenon=f"{steps}_steps" if steps > 1 else "1_step",
        better=better.text,
        worse=worse.text,
        references=better.references,
        source=better.source,
        group=better.lp,
        error=f"{worse.letter}<{better.letter}",
        meta={"better": better.letter, "worse": worse.letter, "item": better.item},
        cluster=better.item,
    )


def _segments(path: str | os.PathLike[str], files: list[str]) -> Iterator[Output]:
    files.append(os.fspath(path))
    for place, row in SuiteRows(InputFile(path)):
        lp, item, letter = row.text("lp"), row.needed("seg"), row.needed("letter")
        yield Output(place, lp, item, letter, row.needed("hyp"), row.text("src"), row.references())


def _folder(folder: Path, files: list[str]) -> Iterator[Output]:
    absent = [name for name in _NEEDED if not (folder / name).is_dir()]
    if absent:
        raise InputError(
            f"{folder}: no folder {absent[0]!r} in it, expected {', '.join(_NEEDED)}; sources and references are those"
            " of WMT (mslc on the page 'reference/formats' of the documentation)"
        )
    pairs = [path.name.partition(".")[0] for path in entries(folder / "sources", "*.txt*")]
    if not pairs:
        raise InputError(f"{folder / 'sources'}: no file there, expected such as he-en.txt, one line per output line")
    for lp in pairs:
        yield from _of_pair(folder, lp, files)


def _of_pair(folder: Path, lp: str, files: list[str]) -> Iterator[Output]:
    systems = entries(folder / "system-outputs" / lp, "*.txt*")
    letters = _letters(folder / "mapping" / f"{lp}.tsv", files)
    references = entries(folder / "references", f"{lp}.*")
    if not systems or not references:
        lacking = f"system-outputs/{lp}" if not systems else f"references/{lp}.NAME.txt"
        raise InputError(f"{folder}: there is sources/{lp}.txt, and nothing at {lacking}")
    (source,) = entries(folder / "sources", f"{lp}.txt*")[:1]
    texts = [_lines(path, files) for path in (source, references[0])]
    for system in systems:
        name = system.name.partition(".")[0]
        if name not in letters:
            raise InputError(f"{system}: no line of mapping/{lp}.tsv names {name!r}; it names {', '.join(letters)}")
        lines = _lines(system, files)
        for path, own in zip((source, references[0]), texts, strict=True):
            if len(own) != len(lines):
                raise InputError(
                    f"{path}: {len(own)} lines, and {system} has {len(lines)}; keep the lines of the documents that"
                    f" documents/{lp}.docs lists"
                )
        for i, (text, src, ref) in enumerate(zip(lines, *texts, strict=True), start=1):
            yield Output(f"{system}:{i}", lp, f"{lp}.{i:04d}", letters[name], text, src, (ref,))


def _letters(path: Path, files: list[str]) -> dict[str, str]:
    """System -> its letter in the paper; A is the least trained."""
    letters: dict[str, str] = {}
    for i, line in enumerate(_lines(path, files), start=1):
        name, tab, letter = line.partition("\t")
        if not tab or "\t" in letter or letter in letters.values() or name in letters:
            raise InputError(f"{path}:{i}: {line!r:.60}, expected a system, a tab and its letter, each once")
        letters[name] = letter
    return letters


def _lines(path: Path, files: list[str]) -> list[str]:
    files.append(str(path))
    return [line for _, line in Lines(InputFile(path), texts=True)]


# --- FaithBench: summaries of one source by several models, with spans that people found unfaithful

FILES = ("batch_*.json",)
_SEVERITY = {"Benign": 1, "Questionable": 2, "Unwanted": 3}  # of the part of a label before the dot
_HALLUCINATED = 2  # from here on: the authors count questionable spans, and not benign ones


class _Annotation(msgspec.Struct):
    label: list[str]


class _Sample(msgspec.Struct):
    source: str
    summary: str
    annotations: list[_Annotation] = []


def faithbench_pairs(path: str | os.PathLike[str]) -> tuple[list[tuple[str, Pair]], list[str], list[str]]:
    """Every faithful summary of a source of FaithBench beside every unfaithful one.

    From vectara/FaithBench on GitHub, folder `data_for_release`, CC BY-NC-SA. `batch_N.json` holds `samples` with
    `source`, `summary` and `annotations`, each with a list `label`. The worst label of a summary decides: questionable
    spans count as unfaithful and benign ones do not, as in the authors' own script. Texts are compared with the source.
    Accuracy is by worst label.

    Args:
        path: a file `batch_N.json`, or a folder with such files.

    Returns:
        (place, pair) of each pair; notes; and the files that were read.

    Raises:
        InputError: there is no such file, it is no JSON of such batches, or a label is unknown.

    References:
        Bao et al. (2025), "FaithBench", section 3; `scripts/binarize.py` of vectara/FaithBench takes the worst label.
    """
    files = [os.fspath(path)]
    if os.path.isdir(path):
        files = found_in(path, FILES)
        if not files:
            raise InputError(f"{os.fspath(path)}: no file of faithbench in this folder, expected {FILES[0]}")
    placed: list[tuple[str, Pair]] = []
    alone = 0
    for name in files:
        samples: dict[str, list[tuple[int, _Sample, int, str]]] = {}
        for number, sample in enumerate(_samples(name)):
            severity, kind = _worst(sample, f"{name}, sample {number + 1}")
            samples.setdefault(sample.source, []).append((number, sample, severity, kind))
        for source, own in samples.items():
            good = [one for one in own if one[2] < _HALLUCINATED]
            bad = [one for one in own if one[2] >= _HALLUCINATED]
            alone += not (good and bad)
            placed += [
                (
                    f"{name}, sample {number + 1}",
                    Pair(
                        id=f"{Path(name).name.partition('.')[0]}.{first}>{number}",
                        phenomenon=kind,
                        better=better.summary,
                        worse=worse.summary,
                        source=source,
                        task="as",
                        error=kind,
                        cluster=source,
                    ),
                )
                for first, better, _, _ in good
                for number, worse, _, kind in bad
            ]
    notes = [f"{alone} sources have only faithful or only unfaithful summaries, and make no pair"] if alone else []
    return placed, notes, files


def _samples(name: str) -> list[_Sample]:
    try:
        data = joined(InputFile(name))
        value = msgspec.json.decode(data)
        check_keys(data.decode("utf-8"), value)
        # a list as in the first release, or an object that holds it
        return msgspec.convert(value.get("samples") if isinstance(value, dict) else value, list[_Sample])
    except (msgspec.MsgspecError, RepeatedKey, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f'{name}: {error}; expected {{"samples": [...]}} with source, summary, annotations') from None


def _worst(sample: _Sample, place: str) -> tuple[int, str]:
    """How severe the worst annotation is, from 0 for none, and its kind."""
    labels = {label for annotation in sample.annotations for label in annotation.label}
    unknown = [label for label in labels if label.partition(".")[0] not in _SEVERITY]
    if unknown:
        raise InputError(f"{place}: label {min(unknown)!r}, expected one that begins {', '.join(_SEVERITY)}")
    severity = max((_SEVERITY[label.partition(".")[0]] for label in labels), default=0)
    finest = sorted(label for label in labels if _SEVERITY[label.partition(".")[0]] == severity and "." in label)
    kinds = finest if len(finest) == 1 else [name for name, own in _SEVERITY.items() if own == severity]
    return severity, (kinds[0].lower().replace(".", "_") if kinds else "consistent")


# --- Pairs of texts labelled as minor or major changes, on which a judge of errors is calibrated

Labelled = tuple[str, str, bool]
_FORMS = (
    '{"text", "changed", "minor": true or false}, pairs as of nlgauge perturb ("better", "worse", "expect"), or'
    ' "premise", "hypothesis", "label"'
)
_MINOR: dict[str, dict[Any, bool | None]] = {  # field -> whether each of its values says minor; None where it cannot
    "minor": {True: True, False: False},
    "expect": {"same": True, "lower": False},
    "label": {"entailment": None, "neutral": False, "contradiction": False},
}


def read_minor(path: str | os.PathLike[str]) -> tuple[list[Labelled], list[dict[str, str]]]:
    """Read labelled pairs from JSON lines, and make the file's entry for the result file.

    A file may mix three kinds of rows. The first is `{"text", "changed", "minor"}`. The second is a pair as `nlgauge
    perturb` writes it, which is minor if `expect` is `same`. The third is an NLI pair, which is major if the label is
    neutral or contradiction. NLI pairs labelled entailment are left out, since the other direction is not known.

    Returns:
        (text before, text after, whether the difference is minor) for each pair.
    """
    file = InputFile(path)
    lines = Lines(file)
    with closing(file):
        pairs = [pair for number, line in lines.filled() for pair in _pair(line, lines.at(number))]
    return pairs, [file.entry]


def _pair(line: str, where: str) -> list[Labelled]:
    try:
        row: Any = json.loads(line, object_pairs_hook=unique)
    except RepeatedKey as error:
        raise InputError(f"{where}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON ({error}); expected {_FORMS}") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: {type(row).__name__}, expected an object: {_FORMS}")
    for before, after, label in (
        ("text", "changed", "minor"),
        ("better", "worse", "expect"),
        ("premise", "hypothesis", "label"),
    ):
        if {before, after, label} <= row.keys():
            break
    else:
        raise InputError(f"{where}: {', '.join(map(repr, row)) or 'nothing'}, expected {_FORMS}")
    for key in (before, after):
        if not isinstance(row[key], str):
            raise InputError(f"{where}: {key!r} is {type(row[key]).__name__}, expected a text")
    meaning = _MINOR[label]
    value = row[label]
    if not isinstance(value, bool if label == "minor" else str) or value not in meaning:
        raise InputError(f"{where}: {label!r} is {value!r}, expected one of {', '.join(map(json.dumps, meaning))}")
    minor = meaning[value]
    return [] if minor is None else [(row[before], row[after], minor)]


# --- Suites that others published, read by their names from the files of their authors

Placed = tuple[str, Pair]  # the place of a row in words, and its pair
Reader = Callable[[str | os.PathLike[str]], tuple[list[Placed], list[str], list[str]]]
_SHOWN = 5  # places that a note names


@dataclass(frozen=True, kw_only=True)
class Published:
    """One published suite.

    Attributes:
        about: what it is, and what its files hold.
        where: the public place of its files.
        files: patterns of its files in a folder.
        make: what makes a pair of a row; None if the suite is no list of pairs.
        read: what reads a suite that is no list of pairs: (place, pair) of each, notes, and files.
        fields: fields that a row of its authors has.
        n: rows of the complete suite; None if it is not known.
        references: `source` if its authors compare texts with the source, else `own`.
        quoted: whether cells of its TSV may be quoted.
    """

    about: str
    where: str
    files: tuple[str, ...] = ()
    make: Maker | None = None
    read: Reader | None = None
    fields: frozenset[str] = frozenset()
    n: int | None = None
    references: str = "own"
    quoted: bool = False


PUBLISHED: Mapping[str, Published] = {
    "hwtsc22": Published(
        about="HW-TSC's suite of WMT22, zh-en: TSV with good and incorrect translation, unquoted",
        where="https://github.com/HwTsc/Challenge-Set-for-MT-Metrics",
        files=("Challenge_Set*.TSV", "Challenge_Set*.tsv"),
        make=hwtsc22,
        fields=frozenset({"good-translation", "incorrect-translation", "source.2"}),
        n=721,
    ),
    "bump": Published(
        about="BUMP: JSON lists with article, reference_summary and edited_summary",
        where="https://github.com/dataminr-ai/BUMP, folder data",
        files=("task*_dataset.json",),
        make=bump,
        fields=frozenset({"article", "reference_summary", "edited_summary"}),
        n=889,
        references="source",
    ),
    "mslc": Published(
        about="MSLC 2023: outputs of one system at several checkpoints, with sources and references of WMT beside",
        where="https://github.com/nrc-cnrc/MSLC, folder 2023/data",
        read=checkpoint_pairs,
    ),
    "demetr": Published(
        about="DEMETR: a JSON list per kind with src_sent, eng_sent, mt_sent, pert_sent, pert_name, lang_tag",
        where="https://github.com/marzenakrp/demetr, folder dataset",
        files=tuple(f"{severity}_id*.json" for severity in ("base", "critical", "major", "minor")),
        make=demetr,
        fields=frozenset({"mt_sent", "pert_sent"}),
    ),
    "aces": Published(
        about="ACES: JSON lines or TSV with good-translation, incorrect-translation, reference, phenomena, langpair",
        where="https://huggingface.co/datasets/nikitam/ACES",
        files=("challenge_set.jsonl",),
        make=aces,
        fields=frozenset({"good-translation", "incorrect-translation"}),
        n=36476,
    ),
    "summedits": Published(
        about="SummEdits: JSON lists with doc, summary, original_summary, label, edit_types",
        where="https://github.com/salesforce/factualNLG, folder data/summedits",
        files=("summedits*.json",),
        make=summedits,
        fields=frozenset({"doc", "summary", "label"}),
        n=6348,
        references="source",
    ),
    "fbi": Published(
        about="FBI: a TSV per kind of error with cdx, question, og, perturbed_gpt4, quoted as data frames are",
        where="https://huggingface.co/datasets/ai4bharat/FBI",
        files=("*.tsv",),
        make=fbi,
        fields=frozenset({"question", "og", "perturbed_gpt4"}),
        n=2400,
        quoted=True,
    ),
    "llmbar": Published(
        about="LLMBar: a dataset.json per subset with input, output_1, output_2, label",
        where="https://github.com/princeton-nlp/LLMBar, folder Dataset/LLMBar",
        files=("Natural/dataset.json", "Adversarial/*/dataset.json"),
        make=llmbar,
        fields=frozenset({"input", "output_1", "output_2", "label"}),
        n=419,
    ),
    "faithbench": Published(
        about="FaithBench: JSON of batches with samples: source, summary, annotations with labels",
        where="https://github.com/vectara/FaithBench, folder data_for_release",
        files=FILES,
        read=faithbench_pairs,
        references="source",
    ),
}
ALIASES: Mapping[str, str] = {"mslc23": "mslc"}


def name_of(suite: str | None) -> str | None:
    """The name of a published suite as `PUBLISHED` has it; None for anything else."""
    known = ALIASES.get(suite or "", suite)
    return known if known in PUBLISHED else None


def files_of(name: str, path: str | os.PathLike[str]) -> list[str]:
    """The files of a published suite: one file, or those in a folder, which must hold one."""
    if not os.path.isdir(path):
        return [os.fspath(path)]
    patterns = PUBLISHED[name].files
    found = found_in(path, [pattern + end for pattern in patterns for end in ("", ".gz")])
    if not found:
        raise InputError(
            f"{os.fspath(path)}: no file of {name} in this folder, expected {' or '.join(patterns)}; they are at"
            f" {PUBLISHED[name].where}"
        )
    return found


def read_published(name: str, path: Any, columns: Mapping[str, str] | None = None) -> tuple[Suite, list[str]]:
    """Read a published suite, complete or in part, from the files of its authors or from pairs in our own layout.

    Rows that repeat and rows with two equal texts are kept, as the authors keep them, and a note tells where they are.

    Args:
        name: one of `PUBLISHED`.
        path: a file, a folder, or a frame.
        columns: as in `read_suite`.

    Returns:
        The suite, and the files that were read.
    """
    entry, notes = PUBLISHED[name], list[str]()
    if entry.read is not None:
        if columns or not isinstance(path, str | os.PathLike):
            raise InputError(f"{name} is read from a file or a folder, with its own names of fields")
        placed, more, files = entry.read(path)
        n_rows = len(placed)
    else:
        assert entry.make is not None
        is_path = isinstance(path, str | os.PathLike)
        files = files_of(name, path) if is_path else []
        rows = [SuiteRows(InputFile(f), quoted=entry.quoted) for f in files] or [SuiteRows(path)]
        placed, more, n_rows = [], [], 0
        for part in rows:
            own, n = _read(name, part, columns, more)
            placed += own
            n_rows += n
    shown = os.fspath(path) if files else name
    if not placed:
        raise InputError(f"{shown}: no pair in it, read as {name}" + (f"; {more[0]}" if more else ""))
    if entry.n is not None and n_rows != entry.n:
        notes.append(f"{shown}: {n_rows} rows; {name} as published has {entry.n}")
    notes += [*more, *(_repeated(placed) if entry.make is not None else []), *_equal(placed)]
    return Suite(tuple(map(with_origin, (pair for _, pair in placed))), name, notes=tuple(notes), published=name), files


def with_origin(pair: Pair) -> Pair:
    """The pair of a published suite with its origin: the one that its authors name, else its source."""
    return replace(pair, cluster=pair.cluster or pair.source)


def _read(name: str, rows: SuiteRows, columns: Mapping[str, str] | None, notes: list[str]) -> tuple[list[Placed], int]:
    """The pairs of one file, and how many rows it has."""
    entry = PUBLISHED[name]
    first = next(iter(rows), None)
    if first is None:
        raise InputError(f"{rows.name} is empty: no pair in it")
    rows.refuse = rows.faults.add
    rows.rename(columns or {})
    fields = next(iter(rows))[1].keys()
    is_ours = {"better", "worse"} <= fields
    if not is_ours and not entry.fields <= fields:
        lacking = ", ".join(map(repr, sorted(entry.fields - fields)))
        raise InputError(
            f"{first[0]}: no field {lacking}; fields found: {', '.join(map(repr, first[1]))}; expected {entry.about},"
            " or 'better' and 'worse'"
        )
    make = _ours if is_ours else entry.make
    assert make is not None
    placed, n = pairs_made(rows, make)
    rows.faults.check()
    notes += rows.notes()
    return placed, n


def _ours(row: Cells, number: int, name: str) -> Pair | str:
    pair = pair_of(row, str(number))
    return replace(pair, cluster=pair.cluster or row.text("origin_id"))


def pairs_made(rows: SuiteRows, make: Maker) -> tuple[list[Placed], int]:
    """The pairs that `make` makes of rows, and the number of rows; those that make none are told, by the reason."""
    placed: list[Placed] = []
    left: dict[str, int] = {}
    number = 0
    for number, (place, row) in enumerate(rows, start=1):
        with rows.faults.row(place):
            made = make(row, number, rows.name)
            if isinstance(made, str):
                left[made] = left.get(made, 0) + 1
            else:
                placed.append((place, made))
    rows.told += [f"{rows.name}: {n} rows left out, {why}" for why, n in left.items()]
    return placed, number


def _repeated(placed: Sequence[Placed]) -> list[str]:
    """A note on rows that repeat an earlier row."""
    first: dict[tuple[Any, ...], str] = {}
    repeated: list[str] = []
    for place, pair in placed:
        key = (pair.source, pair.references, pair.better, pair.worse, pair.setup)
        if key in first:
            repeated.append(f"{place} (as {_beside(first[key], place)})")
        first.setdefault(key, place)
    told = f"{_counted(len(repeated), 'repeats', 'repeat')} an earlier pair, and each counts: {_some(repeated)}"
    return [told] if repeated else []


def _equal(placed: Sequence[Placed]) -> list[str]:
    """A note on pairs whose two texts are equal."""
    equal = [place for place, pair in placed if pair.better == pair.worse]
    told = f"{_counted(len(equal), 'has', 'have')} two equal texts, which every metric ties: {_some(equal)}"
    return [told] if equal else []


def _beside(place: str, other: str) -> str:
    """A place beside another one: without the name of the file, where it is the same."""
    file = place[: len(place) - len(place.rpartition(":" if ", entry" not in place else ",")[2])]
    return place.removeprefix(file).strip() if other.startswith(file) else place


def _counted(n: int, one: str, several: str) -> str:
    return f"1 pair {one}" if n == 1 else f"{n} pairs {several}"


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
