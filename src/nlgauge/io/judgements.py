"""Files of people's judgements beside those of WMT: campaigns of Pearmut, and the annotations of SummEval.

Annotations of a campaign of Pearmut, a tool in which people rate outputs, join the data whose items and systems they
name: `nlgauge meta DATA --judgements ANNOTATIONS`.

Read for this: github.com/zouharvi/pearmut, server/app.py and server/utils.py (the log), web/src/annotate.ts and
utils.ts (how spans are counted), versions 1.1.1 to 1.1.5; wmt-conference/wmt26-general-mt,
humeval/01-prepare_campaigns.py and 02a-filter_data.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, ScoreTable, ratings, single_ratings
from nlgauge.io.fields import Fields, Raters
from nlgauge.io.files import Faults, InputFile, counted, unpacked_name
from nlgauge.io.logs.rows import document
from nlgauge.io.rows import JsonRows, fields_of_log
from nlgauge.io.segments import HeldSource

SCORE = "score"  # the criterion of Pearmut's own slider
_RESET = "__RESET__"  # in place of an annotation: what the user said of this document before does not count
_ASIDE = ("welcome_", "random_", "goodbye_")  # numbers of documents that are no part of the campaign
_CHECKS = ("attention_check_", "_#_tutorial_#_")  # in the names of items that WMT26 put in to watch or teach raters
_FAULT = "instruction fault"


@dataclass(frozen=True)
class Rated:
    """What one person said of one output, at a place; spans are objects as `nlgauge.io.read_marked` reads them."""

    place: str
    segment: Segment
    rater: str | None
    spans: list[dict[str, Any]]


def rated_outputs(file: InputFile) -> tuple[list[Rated], list[str]]:
    """All that people said in an annotation file, and notes on what does not count.

    The file is the log of a campaign (`annotations/CAMPAIGN.jsonl`), or what the dashboard downloads, an object with
    the log of each campaign. `item` is a list of objects with `item_id`, `src`, `ref` and `tgt` (model -> text), and
    `annotation` one of objects, model -> `score`, `sliders` and `error_spans` with `start_i`, `end_i` (the last
    character), `severity` and `category`; `user_id` rated the document `item_i`. A reset takes back what the user said
    of a document; of a document that a user submitted twice the last counts. Tutorials, attention checks, forms and
    items without `item_id` are left out and counted.

    Raises:
        InputError: a line is no such annotation, or a document has two texts under one `item_id`.
    """
    faults, counts = Faults(file.name), Counter[str]()
    # campaign and document -> who -> item and system -> what was said
    kept: dict[tuple[Any, ...], dict[str | None, dict[tuple[Any, ...], list[Rated]]]] = {}
    logs = list(_entries(file, faults, counts))
    several = len({campaign for _, campaign, _ in logs}) > 1
    for place, campaign, entry in logs:
        user, own = _user(entry), kept.setdefault((campaign, str(entry.get("item_i"))), {})
        if entry.get("annotation") == _RESET:
            taken = [own.pop(one) for one in ([*own] if user is None else [user]) if one in own]  # without a user, all
            counts["ratings were taken back by a reset"] += sum(len(one) for said in taken for one in said.values())
            continue
        with faults.row(place):
            said, texts = own.setdefault(user, {}), dict[tuple[Any, ...], str]()
            for rated in _of_document(place, entry, campaign if several else None, counts):
                key = (rated.segment.item, rated.segment.system)
                if texts.setdefault(key, rated.segment.hypothesis) != rated.segment.hypothesis:
                    raise InputError(f"two texts of {key[1]!r} have the item_id {key[0]!r}, expected a name for each")
                counts["ratings were given anew, of which the last counts"] += user is not None and key in said
                counts["ratings name no user, each of which is taken for another person's"] += user is None
                said[key] = [*said.get(key, ()), rated] if user is None else [rated]
    faults.check()
    return [rated for own in kept.values() for said in own.values() for found in said.values() for rated in found], [
        f"{file.name}: {n} {words}" for words, n in counts.items() if n
    ]


def _entries(file: InputFile, faults: Faults, counts: Counter[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Place, campaign and entry of each line of the log or logs."""
    found: Iterable[tuple[str, str, Any]]
    if fields_of_log(file.head(1 << 20).decode("utf-8", errors="replace")):  # a table to every other reader
        logs = [(name, log) for name, log in document(file).items() if type(log) is list]
        found = ((f"{file.name}, {name}[{i}]", name, one) for name, log in logs for i, one in enumerate(log))
    else:
        rows, name = JsonRows(file), Path(unpacked_name(file.path)).stem
        rows.refuse = faults.add
        found = ((rows.at(number), name, row) for number, row in rows)
    for where, campaign, entry in found:
        if type(entry) is not dict or "annotation" not in entry:
            faults.add(where, "expected an object with 'annotation' and 'item'")
        elif str(entry.get("item_i")).startswith(_ASIDE):
            counts["documents are no part of the campaign, such as forms and tutorials, and are left out"] += 1
        else:
            yield where, campaign, entry


def _of_document(place: str, entry: Mapping[str, Any], campaign: str | None, counts: Counter[str]) -> Iterator[Rated]:
    items, annotations = entry.get("item"), entry["annotation"]
    if type(items) is not list or type(annotations) is not list or len(items) != len(annotations):
        raise InputError("'annotation' and 'item' are not lists of equal length; logs before version 1 hold no texts")
    for item, annotation in zip(items, annotations, strict=True):
        name = item.get("item_id") if type(item) is dict else None
        if type(name) is not str or any(check in name for check in _CHECKS):
            counts["items have no item_id, or watch or teach the raters, and are left out"] += 1
            continue
        if annotation is None:
            counts["items were skipped"] += 1
            continue
        texts = item.get("tgt")
        if type(texts) is not dict or type(annotation) is not dict:
            raise InputError(f"item {name!r}: 'tgt' or the annotation is no object, model -> its own")
        for system, said in annotation.items():
            if type(said) is not dict or type(texts.get(system)) is not str:
                raise InputError(
                    f"item {name!r}, {system!r}: {said!r:.40} of {texts.get(system)!r:.20}, expected a text"
                )
            sliders = said.get("sliders") or {}
            if type(sliders) is not dict:
                raise InputError(f"item {name!r}, {system!r}: sliders are {sliders!r:.40}, expected an object")
            human = {SCORE: said.get("score"), **sliders}
            row = {"system": system, "seg": name, "lp": campaign, "src": item.get("src"), "ref": item.get("ref")}
            row["id"] = None if campaign is None else f"{campaign}:{system}:{name}"
            row |= {"hyp": texts[system], "human": {one: rating for one, rating in human.items() if rating is not None}}
            (segment,) = Fields().segments(row, 1)
            yield Rated(place, segment, _user(entry), _spans(said.get("error_spans") or [], texts[system]))


def _user(entry: Mapping[str, Any]) -> str | None:
    user = entry.get("user_id")
    return user if type(user) is str else None


def _spans(marks: Any, text: str) -> list[dict[str, Any]]:
    """Spans in characters of the text.

    Pearmut counts as JavaScript does, a character beyond the first 65,536 as two, and no line breaks; `end_i` is the
    last one. The token `[missing]` stands behind the text, and after it what the campaign added; WMT26 added
    `[instructions fault]`.
    """
    places = [i for i, char in enumerate(text) if char != "\n" for _ in range(1 + (ord(char) > 0xFFFF))]
    found = []
    for mark in marks if type(marks) is list else [marks]:
        first, last = (mark.get("start_i"), mark.get("end_i")) if type(mark) is dict else (None, None)
        if not type(first) is type(last) is int or not 0 <= first <= last:
            raise InputError(f"a span is {mark!r:.60}, expected an object with start_i, end_i and severity")
        own = {name: mark.get(name) for name in ("severity", "category")}
        if first >= len(places):
            kind = own["category"] if first == len(places) else _FAULT
            found.append({**own, "category": kind, "start": "missing", "end": "missing"})
        else:
            found.append({**own, "start": places[first], "end": places[min(last, len(places) - 1)] + 1})
    return found


def open_pearmut(file: InputFile) -> HeldSource:
    """Read the annotations of Pearmut as outputs with the ratings of all people.

    The item is `item_id`, the system the name of the model, criteria are `score` and the names of sliders. Of several
    campaigns in one file each is a group. Two people who rated different texts of one system and item are refused.
    """
    rated, notes = rated_outputs(file)
    raters, faults = Raters(), Faults(file.name)
    for one in rated:
        with faults.row(one.place):
            raters.add(one.place, one.segment, one.rater)
    faults.check()
    told = raters.notes(file.name) if rated else ()
    return HeldSource(Dataset(tuple(raters.segments()), file.name, (*notes, *told)), [file])


def pearmut_table(file: InputFile) -> ScoreTable:
    """The ratings alone, to be joined to texts: a column for each criterion, the mean of all people."""
    data = open_pearmut(file).data
    names = list(dict.fromkeys(name for segment in data for name in segment.human))
    given = {name: single_ratings(data.segments, name)[0] for name in names}
    columns = {name: ratings(data.segments, name) for name in names}
    keys = tuple(Key(None, s.system, s.item, s.group) for s in data)
    return ScoreTable(keys, columns, "segment", file.name, data.notes, ratings=given)


# --- SummEval's annotations: per criterion, each summary has three ratings by experts and five by crowd workers

TASK = "summarization"
RATERS = {"expert_annotations": "", "turker_annotations": "turker."}  # field -> what stands before the criterion
_KNOWN = ("id", "model_id", "decoded", "text", "references", "reference", "filepath", *RATERS)


class SummEvalRows(JsonRows):
    """The rows of SummEval's `model_annotations.aligned.jsonl`, also paired or scored.

    The item is the document (`id`), the system `model_id`, the hypothesis `decoded`, the group `summarization`;
    references are `references` (11 of them) or `reference`. There is a source only if the annotations were paired with
    the articles (`text`). For example, `coherence` is the list of the experts' ratings, and `turker.coherence` is the
    list of the crowd's. Within one segment, position i of every list is the same person.

    Raises:
        InputError: a line lacks the id, system or summary, or its annotations have another shape.
    """

    def __init__(self, file: InputFile) -> None:
        super().__init__(file)
        self._without: dict[str, int] = {}

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self.ignored, self._without = [], {}
        for place, row in super().__iter__():
            if type(row) is not dict:
                raise InputError(
                    f"{self.at(place)}: not an object, expected one with the fields 'id', 'model_id' and 'decoded'"
                )
            for name in ("id", "model_id", "decoded"):
                if type(row.get(name)) is not str:
                    raise InputError(f"{self.at(place)}: field {name!r} is {_kind(row, name)}, expected a string")
            self.ignored += [name for name in row if name not in _KNOWN and name not in self.ignored]
            human: dict[str, list[float]] = {}
            for name, prefix in RATERS.items():
                if row.get(name):
                    rated = self._ratings(row[name], f"{self.at(place)}: {name}")
                    human.update({prefix + criterion: ratings for criterion, ratings in rated.items()})
                else:
                    self._without[name] = self._without.get(name, 0) + 1
            references = row.get("references")
            yield (
                place,
                {
                    "id": f"{row['id']}|{row['model_id']}",
                    "system": row["model_id"],
                    "seg": row["id"],
                    "task": TASK,
                    "src": row.get("text"),
                    "refs": references,
                    "ref": row.get("reference") if references is None else None,
                    "hyp": row["decoded"],
                    "human": human,
                },
            )

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        told = [
            f"{self.file.name}: {counted(n, 'summary has', 'summaries have')} no {name}"
            for name, n in self._without.items()
        ]
        return [*super().notes(), *told]

    def _ratings(self, annotations: Any, where: str) -> dict[str, list[float]]:
        if type(annotations) is not list or not all(type(one) is dict for one in annotations):
            raise InputError(f"{where} is not a list of objects, expected one a rater, criterion -> number")
        criteria = list(annotations[0])
        for place, one in enumerate(annotations):
            if set(one) != set(criteria):
                raise InputError(
                    f"{where}[{place}] rates {_names(one)}, the first rater {_names(criteria)}; expected the same"
                    " criteria"
                )
        return {criterion: [one[criterion] for one in annotations] for criterion in criteria}


def _names(criteria: Any) -> str:
    return ", ".join(sorted(map(str, criteria))) or "nothing"


def _kind(row: Mapping[str, Any], name: str) -> str:
    return "missing" if name not in row else "null" if row[name] is None else f"a {type(row[name]).__name__}"
