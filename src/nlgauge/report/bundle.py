"""Several results as one page: what they come to, a section for each, and the scores of segments with their texts."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import TemplateError
from markupsafe import Markup

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.report.drawing import data_url
from nlgauge.report.figures import (
    Buckets,
    bar_figures,
    bucket_figures,
    buckets_of,
    correlation_figure,
    quarter_figures,
    rank_figure,
    scatter_figures,
    system_figures,
)
from nlgauge.report.kinds.score import line_name, rank_of, system_name
from nlgauge.report.labels import visible
from nlgauge.report.pages import names_of, page, render_template, without_folders
from nlgauge.report.people import few, in_short
from nlgauge.report.tables import (
    FALLS,
    PEOPLE,
    SIGNIFICANT,
    Row,
    absent,
    by_keys,
    csv,
    digits_of,
    listed,
    measured,
    number,
    p_of,
)
from nlgauge.report.text import Fact, Trust, faults_of, trust_of


@dataclass(frozen=True)
class Segments:
    """Texts, scores and ratings of n segments.

    Attributes:
        keys: id, system and item of each.
        columns: metric, part of one, or `human.` and a criterion -> float64, shape (n,), NaN where there is none.
        falling: the columns that are better where they are lower.
        texts: the segment of each id, as far as texts were given.
        pairs: what metrics made of pairs of texts; an id that begins with that of a segment and `/` is about it.
    """

    keys: Sequence[Key]
    columns: Mapping[str, Array]
    falling: frozenset[str]
    texts: Mapping[str, Segment]
    pairs: Sequence[ScoredPair] = ()

    @cached_property
    def known(self) -> list[Segment | None]:
        """The texts of each segment; None where none were given."""
        return [self.texts.get(str(key.id)) for key in self.keys]

    @property
    def systems(self) -> list[str | None]:
        """The system of each segment."""
        both = zip(self.keys, self.known, strict=True)
        return [key.system if key.system is not None or s is None else s.system for key, s in both]

    @property
    def groups(self) -> list[str | None]:
        """The group of each segment."""
        both = zip(self.keys, self.known, strict=True)
        return [key.group if key.group is not None or s is None else s.group for key, s in both]

    @cached_property
    def items(self) -> list[str]:
        """The key of each item: the item and its group where they are known, otherwise the segment itself."""
        found = []
        for key, segment, group in zip(self.keys, self.known, self.groups, strict=True):
            item = key.item if segment is None or segment.item is None else segment.item
            found.append(f"id\n{key.id}" if item is None else f"{group or ''}\n{item}")
        return found

    @cached_property
    def _audited(self) -> list[int | None]:
        """The place of the segment that each pair is about; None for a pair of other texts."""
        places = {str(key.id): i for i, key in enumerate(self.keys)}
        found = []
        for pair in self.pairs:
            about = pair.id.rpartition("/")[0]  # an equal id is chance: pairs of a file are numbered as segments are
            while about and about not in places:
                about = about.rpartition("/")[0]
            found.append(places.get(about))
        return found

    @property
    def failures(self) -> list[tuple[int, ScoredPair]]:
        """The pairs that a metric of the columns lost or tied, each with the place of the segment that it is about."""
        found = []
        for place, pair in zip(self._audited, self.pairs, strict=True):
            failed = {spec: own for spec, own in pair.scores.items() if own[2] < 1 and spec in self.main}
            if place is not None and failed:
                found.append((place, replace(pair, scores=failed)))
        return found

    @property
    def n_strange(self) -> int:
        """How many pairs are about other texts."""
        return self._audited.count(None)

    @cached_property
    def buckets(self) -> list[Buckets]:
        """The ways to put the segments into buckets."""
        return buckets_of(self.known, self.groups)

    @cached_property
    def main(self) -> dict[str, Array]:
        """The columns without parts of metrics."""
        return {
            name: values
            for name, values in self.columns.items()
            if name.startswith(PEOPLE) or name.rpartition(".")[0] not in self.columns
        }


def segments_of(tables: Sequence[ScoreTable], data: Sequence[Dataset] = ()) -> Segments:
    """Join tables of scores by the ids of their rows.

    Raises:
        InputError: a table is not about segments with ids, two tables have other values under one name, or an id
            stands for two segments.
    """
    keys: dict[str, Key] = {}
    for table in tables:
        if table.level != "segment" or any(key.id is None for key in table.keys):
            raise InputError(f"{table.name}: its rows have no ids, expected what --segments writes")
        for key in table.keys:
            before = keys.setdefault(str(key.id), key)
            if None not in (before.system, key.system) and before.system != key.system:
                raise InputError(
                    f"{table.name}: {key} is of system {key.system!r}, and of {before.system!r} in a file before; ids"
                    " must name one segment each"
                )
    places = {name: i for i, name in enumerate(keys)}
    columns: dict[str, Array] = {}
    falling = set()
    for table in tables:
        at = np.array([places[str(key.id)] for key in table.keys])
        for name, values in table.columns.items():
            column = columns.setdefault(name, np.full(len(keys), np.nan))
            known = ~(np.isnan(column[at]) | np.isnan(values))
            if not np.array_equal(column[at][known], values[known]):
                raise InputError(f"{table.name}: column {name!r} has other values than in a file before; leave one out")
            column[at] = np.where(np.isnan(values), column[at], values)
            if name in table.origins and table.origins[name].higher_is_better is False:
                falling.add(name)
    texts: dict[str, Segment] = {}
    for dataset in data:
        for segment in dataset:
            if _texts(texts.setdefault(segment.id, segment)) != _texts(segment):
                raise InputError(f"{dataset.name}: segment {segment.id!r} has other texts than in a file before")
    return Segments(list(keys.values()), columns, frozenset(falling), texts)


def _texts(segment: Segment) -> tuple[object, ...]:
    """The fields of a segment that the page shows; a second file may hold other ratings of the same texts."""
    return segment.hypothesis, segment.references, segment.source


# --- What do the results come to? Sentences and one table, for the first screen of a report

_FEW = 20  # items: below this an interval is too narrow
_AHEAD, _BEHIND, _LEVEL = "ahead", "behind", "level"
_ODD = (  # flag, and what one metric or several do
    (
        "truncated",
        "cuts some texts, which are too long for its model",
        "cut some texts, which are too long for a model",
    ),
    ("undefined", "has no score for some texts", "have no score for some texts"),
)


@dataclass(frozen=True)
class TableNumber:
    """A number of the table.

    Attributes:
        is_best: whether no system has a better one.
        against: `ahead` or `behind` where a test says so, `level` where it does not; empty without a test.
    """

    text: str
    is_best: bool
    against: str


@dataclass(frozen=True)
class MetricVerdict:
    """The verdict on the scores of one result, with what is known of their metrics.

    Attributes:
        link: the part of the page with these scores.
        sentences: who is ahead, what agrees with people, what no metric sees, and what to be careful with.
        metrics: specification and direction of each column.
        lines: name of a system -> one cell for each metric.
        agreement: criterion of people -> what is known for each metric.
        missed: where each metric errs most in audits, None for one that was not audited; empty where none was.
        doubts: metric -> why its numbers say nothing; it is in no sentence about systems.
        tested: whether systems were tested against a baseline.
    """

    link: str
    sentences: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]
    lines: Mapping[str, Sequence[TableNumber | None]]
    agreement: Mapping[str, Sequence[Fact | None]]
    missed: Sequence[Sequence[Fact] | None]
    doubts: Mapping[str, str]
    tested: bool


def verdict_of(link: str, scored: Result, others: Mapping[str, Result]) -> MetricVerdict:
    """The verdict on the scores of one result.

    Args:
        others: anchor of its part of the page -> result, for all results of the page.
    """
    trust = trust_of(scored, others)
    specs = [metric["spec"] for metric in scored.metrics]
    doubts = {spec: known.doubt for spec, known in trust.items() if known.doubt}
    counting = [spec for spec in specs if spec not in doubts]
    lines, order = _lines(scored, doubts)
    criteria = dict.fromkeys(fact.about for known in trust.values() for fact in known.agreement)
    audited = any(known.audited for known in trust.values())
    sentences = (
        *_with_doubts(order, doubts),
        *_people(trust, criteria),
        *_blind(counting, others, audited),
        *_careful(scored, doubts),
    )
    return MetricVerdict(
        link,
        sentences,
        tuple((metric["spec"], metric["higher_is_better"]) for metric in scored.metrics),
        lines,
        {one: [_first(trust[spec].agreement, one) for spec in specs] for one in criteria},
        [trust[spec].faults if trust[spec].audited else None for spec in specs] if audited else [],
        doubts,
        any(row.get("p") is not None for row in measured(scored.rows)),
    )


def _first(facts: Sequence[Fact], about: str) -> Fact | None:
    return next((fact for fact in facts if fact.about == about), None)


def _with_doubts(order: Sequence[str], doubts: Mapping[str, str]) -> list[str]:
    """Sentences about the order of systems; the first says which metrics do not count in them."""
    if not doubts:
        return [*order]
    why = "; ".join(f"{spec} does not count: {doubt}" for spec, doubt in doubts.items())
    return [f"{order[0].removesuffix('.')}; {why}.", *order[1:]] if order else [f"{why}."]


def _lines(scored: Result, doubts: Mapping[str, str]) -> tuple[dict[str, list[TableNumber | None]], list[str]]:
    """The cells of each system, and what is said of their order; a metric in doubt has numbers and says nothing."""
    up = {metric["spec"]: metric["higher_is_better"] for metric in scored.metrics}
    digits = {m["spec"]: digits_of(m, [r for r in scored.rows if r["metric"] == m["spec"]]) for m in scored.metrics}
    rows = measured(scored.rows)
    best: dict[tuple[Any, str], float] = {}
    for (group, spec), own in by_keys(({"group": None, **row} for row in rows), "group", "metric").items():
        values = [row["value"] for row in own if not absent(row["value"])]
        if len(values) > 1:
            best[group, spec] = (max if up[spec] else min)(values)
    lines: dict[str, list[TableNumber | None]] = {}
    for row in rows:
        group, spec = row.get("group"), row["metric"]
        shown = TableNumber(
            number(row["value"], digits[spec]) + rank_of(row),
            spec not in doubts and row["value"] == best.get((group, spec)),
            "" if spec in doubts else _against(row, up[spec]),
        )
        lines.setdefault(line_name(row), [None] * len(up))[[*up].index(spec)] = shown
    if any("group" in row for row in rows):
        return lines, []  # groups differ, and the table shows how
    return lines, [*_order(lines, list(up), [spec for spec in up if spec not in doubts], rows)]


def _against(row: Row, up: bool) -> str:
    """Where a system stands to the baseline."""
    if row.get("p") is None:
        return ""
    if not p_of(row) < SIGNIFICANT or not row.get("delta"):
        return _LEVEL
    return _AHEAD if (row["delta"] > 0) == up else _BEHIND


def _order(
    lines: Mapping[str, Sequence[TableNumber | None]], specs: Sequence[str], counted: Sequence[str], rows: Sequence[Row]
) -> Iterator[str]:
    """Who is ahead of whom, by which of the metrics that count, and whether a test says so."""
    if len(lines) < 2 or not counted:
        return
    base = next((system_name(row["baseline"]) for row in rows if row.get("baseline") is not None), None)
    if base is not None:
        alike: dict[tuple[str, str], list[str]] = {}
        for system, cells in lines.items():
            said = [
                (words, [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == how])
                for how, words in ((_AHEAD, "clearly better than"), (_BEHIND, "clearly worse than"))
            ]
            level = [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == _LEVEL]
            parts = [f"{words} {base} by {_all_of(own, counted)}" for words, own in said if own]
            if parts or level:
                rest = _all_of(level, counted, both=False) if level else ""
                alike.setdefault((", and ".join(parts), rest), []).append(system)
        for (clear, rest), systems in alike.items():
            if clear:
                tail = f"; no clear difference by {rest}" if rest else ""
                yield f"{listed(systems)} {'is' if len(systems) == 1 else 'are'} {clear}{tail}."
            else:
                yield f"No clear difference between {base} and {listed(systems, 'or')} by {rest}."
        return
    if any(row.get("rank") is not None for row in rows):
        first = {
            spec: [system_name(row["system"]) for row in rows if row["metric"] == spec and row.get("rank") == 1]
            for spec in counted
        }
        for named in dict.fromkeys(map(tuple, first.values())):
            by = _all_of([spec for spec in counted if tuple(first[spec]) == named], counted)
            yield f"{listed(named)} {'share the first rank' if len(named) > 1 else 'is first'} by {by}."
        return
    ahead = {spec: [s for s, cells in lines.items() if (c := cells[i]) and c.is_best] for i, spec in enumerate(specs)}
    for named in dict.fromkeys(tuple(names) for names in ahead.values() if names):
        by = _all_of([spec for spec in specs if tuple(ahead[spec]) == named], counted)
        yield f"{listed(named)} {'has' if len(named) == 1 else 'have'} the best value by {by}."
    yield "No test was made, so the order may be chance; score with --significance randomization."


def _people(trust: Mapping[str, Trust], criteria: Mapping[str, None]) -> Iterator[str]:
    """Which metrics agree with people."""
    if not criteria:
        yield "How well these metrics agree with people is not known here: add a result of nlgauge meta."
    for one in criteria:
        known = {spec: fact for spec, own in trust.items() if (fact := _first(own.agreement, one)) is not None}
        clear = [spec for spec, fact in known.items() if fact.clear]
        odd = {spec: fact.doubt for spec, fact in known.items() if fact.doubt}
        rest = [spec for spec in known if spec not in clear and spec not in odd]
        others = f"; {listed(rest)} may do so by chance" if clear and rest else ""
        others += "".join(f"; the agreement of {spec} does not count: {why}" for spec, why in odd.items())
        agreed = f"{listed(clear)} {'agrees' if len(clear) == 1 else 'agree'}"
        shares = {spec: share for spec in clear if (share := known[spec].share) is not None}
        if shares:
            best = max(shares, key=lambda spec: shares[spec])
            n = round(100 * shares[best])
            agreed += f": of 100 pairs that people rate apart {best} has about {n} in their order, and chance 50"
        yield f"With people's {one} {agreed if clear else 'no metric agrees more than chance does'}{others}."


def _blind(specs: Sequence[str], others: Mapping[str, Result], audited: bool) -> Iterator[str]:
    """The errors that all audited metrics miss, of those that count."""
    if not audited:
        yield "Which errors they miss is not known here: add a result of nlgauge audit."
        return
    for other in others.values():
        if other.kind != "audit" or not other.rows:
            continue
        own = by_keys((row for row in measured(other.rows) if row["metric"] in specs), "metric")
        missed = [{name for _, name, _, clear in faults_of(rows) if clear} for rows in own.values()]
        sizes: dict[str, float] = {}
        for size, name, _, _ in (fault for rows in own.values() for fault in faults_of(rows)):
            sizes[name] = sizes.get(name, 0.0) + size
        kind = "phenomenon" if "phenomenon" in other.rows[0] else "template"
        names = dict.fromkeys(row[kind] for row in other.rows)
        shared = [name for name in names if missed and all(name in one for one in missed)]
        shared.sort(key=lambda name: -sizes[name])
        if not shared:
            continue
        audited_here, one = [spec for (spec,) in own], len(own) == 1
        whose = listed(audited_here) if one or len(own) < len(specs) else "Both" if len(own) == 2 else "All"
        named = [name.replace("_", " ") for name in shared]
        errors = listed(few(named))
        if kind == "phenomenon":
            yield f"{whose} {'prefers' if one else 'prefer'} the worse text where it has {errors}."
        else:
            yield f"{whose} {'punishes' if one else 'punish'} these errors less than people do: {errors}."


def _careful(scored: Result, doubts: Mapping[str, str]) -> Iterator[str]:
    """Reasons to doubt the numbers: few items, texts that guards distrust, texts that were cut or have no score."""
    rows = measured(scored.rows)
    items = min((row["n"] for row in rows), default=0)
    if any(not absent(row.get("low")) for row in rows) and items < _FEW:
        yield f"{items} items are few: intervals are too narrow, and only large differences show."
    flagged = {row["system"]: row.get("n_flagged", 0) for row in rows}
    if sum(flagged.values()):
        yield f"Guards distrust {sum(flagged.values())} outputs; see the column \u201cflagged\u201d."
    for flag, one, several in _ODD:
        specs = [m["spec"] for m in scored.metrics if m.get("flags", {}).get(flag) and m["spec"] not in doubts]
        if specs:
            yield f"{listed(specs)} {one if len(specs) == 1 else several}."


def _all_of(some: Sequence[str], specs: Sequence[str], *, both: bool = True) -> str:
    """Metrics in words: which, or all of several; after a "no", where not `both`, any of them."""
    if len(some) < len(specs) or len(specs) == 1:
        return listed(some)
    if len(specs) == 2:
        return "both metrics" if both else "either metric"
    return f"all {len(specs)} metrics" if both else f"any of the {len(specs)} metrics"


# --- The table of segments that a reader filters and sorts: its data, packed, and the script that draws it

_DIGITS = 6  # significant, of the scores on the page; the rows files have all


def explorer_of(segments: Segments) -> dict[str, Any]:
    """The table of some segments; the same segments give the same bytes.

    Returns:
        `data`, the segments as JSON, gzip and base64; `script`, the program, which is the same for all data; `hash`,
        the digest by which the policy of the page allows this script and no other; and `n_strange`, the pairs of an
        audit that are about other texts.
    """
    told = json.dumps(_data(segments), separators=(",", ":"), allow_nan=False).encode("ascii")
    script = resources.files("nlgauge.report").joinpath("templates/explorer.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return {
        "data": Markup(base64.b64encode(gzip.compress(told, 6, mtime=0)).decode("ascii")),
        "script": Markup(script),
        "hash": f"sha256-{digest}",
        "n_strange": segments.n_strange,
    }


def _data(segments: Segments) -> dict[str, object]:
    """The segments as columns; texts stand once and are named by their place."""
    texts: dict[str, int] = {}

    def placed(text: str | None) -> int:
        return -1 if text is None else texts.setdefault(visible(text, "\n\t"), len(texts))

    known, systems = segments.known, list(map(_shown, segments.systems))
    names = list(dict.fromkeys(systems))
    return {
        "ids": [_shown(key.id) for key in segments.keys],
        "items": segments.items,
        "systems": names,
        "system": list(map({name: i for i, name in enumerate(names)}.__getitem__, systems)),
        "scores": [
            {"name": _label(name, segments), "falls": name in segments.falling, "values": _rounded(values)}
            for name, values in segments.main.items()
        ],
        "hyps": [placed(None if s is None else s.hypothesis) for s in known],
        "srcs": [placed(None if s is None else s.source) for s in known],
        "refs": [[] if s is None else list(map(placed, s.references)) for s in known],
        "buckets": [
            {"name": one.name, "labels": list(map(_shown, one.labels)), "places": one.places.tolist()}
            for one in segments.buckets
        ],
        "failures": [_failure(place, pair, list(segments.main), placed) for place, pair in segments.failures],
        "texts": list(texts),
    }


def _failure(
    place: int, pair: ScoredPair, columns: Sequence[str], placed: Callable[[str | None], int]
) -> dict[str, object]:
    """A pair that metrics failed: its segment, its texts by their place, and the scores of both by each metric."""
    return {
        "of": place,
        "name": _shown(pair.phenomenon),
        "better": placed(pair.better or None),
        "worse": placed(pair.worse or None),
        "by": [[columns.index(spec), *_rounded(np.array(own[:2]))] for spec, own in pair.scores.items()],
    }


def _label(name: str, segments: Segments) -> str:
    if name.startswith(PEOPLE):
        return f"{_shown(name.removeprefix(PEOPLE))} (people)"
    return _shown(name) + (f" {FALLS}" if name in segments.falling else "")


def _shown(name: str | None) -> str:
    return "" if name is None else visible(name)


def _rounded(values: Array) -> list[float | None]:
    return [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in values.tolist()]


# --- Several results as one page: a contents list, and the page of each as a section

_MOST_FIGURES = 9  # figures of one sort
_AGAINST = "Each point is an item that both systems wrote about; on the dashed line both have the same score."
_BUCKETED = (
    "Mean scores of segments with their 95 % intervals (Student's); n counts segments. For metrics of whole corpora,"
    " such as BLEU, they are no corpus scores."
)
_QUARTERED = "All segments by their score, cut into quarters: how many segments of each system are in each."
# What rows of another kind do to the making of a page.
_PAGE_ODD = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TemplateError, TypeError, ValueError,
)  # fmt: skip
_HEADING = re.compile(r"(</?h)([1-5])(?=[ >])")


@dataclass(frozen=True)
class _Part:
    """One result on the page: where it stands, what it is about, its markup, and of scores what they come to."""

    anchor: str
    name: str
    about: str
    heading: Markup
    body: Markup
    rows: str
    verdict: MetricVerdict | None


def bundle_html(results: Mapping[str, Result], title: str | None = None, segments: Segments | None = None) -> str:
    """Results as one self-contained HTML file; beside each score stands what the others say of its metric.

    Args:
        results: file -> its result, in the order of the page; those with a ranking of people come first.
        title: what the page is called; None says what its scores are of.
        segments: scores of segments, shown behind the results.

    Raises:
        InputError: the rows of a result are not those of its kind.
    """
    results = dict(sorted(results.items(), key=lambda one: not one[1].people))
    names = names_of(list(results))
    anchors = {f"result-{i}": without_folders(result) for i, result in enumerate(results.values(), 1)}
    parts = [
        _part(anchor, path, names[path], result, anchors)
        for path, (anchor, result) in zip(results, anchors.items(), strict=True)
    ]
    shown = segments and _of_segments(segments)
    said = [sentence for result in anchors.values() for sentence in in_short(result)]
    title = _title(parts) if title is None else title
    return render_template("bundle.html", title=title, parts=parts, people=said, segments=shown)


def _title(parts: Sequence[_Part]) -> str:
    """What the page is about: the scores on it, or else its first part."""
    first = next((part for part in parts if part.verdict), parts[0] if parts else None)
    if first is None:
        return "Segments"
    return first.heading.striptags() + (f" by {first.about}" if first.verdict else "")


def _part(anchor: str, path: str, name: str, result: Result, anchors: Mapping[str, Result]) -> _Part:
    try:
        verdict = verdict_of(anchor, result, anchors) if result.kind == "score" else None
        whole = page(result, None, **_beside(anchor, result, anchors))
        rows = data_url("text/csv", csv(replace(result, metrics=()), spreadsheet=True))  # signatures stand above
    except _PAGE_ODD as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{path}: its rows are not those of a result of kind {result.kind!r} ({reason:.200}); write it again with"
            " --json"
        ) from None
    heading, body = _inside(whole)
    about = ", ".join(str(metric["spec"]) for metric in result.metrics)
    return _Part(anchor, name, about, heading, body, rows, verdict)


def _beside(anchor: str, result: Result, anchors: Mapping[str, Result]) -> dict[str, Any]:
    """The parts of a result's section that its own page does not have; and the names of its places, here of many."""
    if result.kind != "score":
        return {}
    ranks = rank_figure(result)
    figures = [bar_figures(result), *([[ranks]] if ranks else [])]
    return {"trust": trust_of(result, anchors), "figures": figures}


def _of_segments(segments: Segments) -> dict[str, Any]:
    """The content of the section of segments."""
    main, systems = segments.main, segments.systems
    groups = [
        ("Metrics and people", "", scatter_figures(main, systems)),
        ("System against system", _AGAINST, system_figures(main, systems, segments.items, segments.falling)),
        *((f"By {one.name}", _BUCKETED, bucket_figures(main, systems, one)) for one in segments.buckets),
        ("In quarters", _QUARTERED, quarter_figures(main, systems, segments.falling)),
    ]
    return {
        "n": len(segments.keys),
        "explorer": explorer_of(segments),
        "matrix": correlation_figure(main),
        "groups": [(title, note, figures[:_MOST_FIGURES], len(figures)) for title, note, figures in groups if figures],
    }


def _inside(whole: str) -> tuple[Markup, Markup]:
    """The heading of a page of ours, and all that it holds, with headings one level deeper.

    Tags can be told apart from the texts of users, in which every `<` is escaped.
    """
    body = whole.partition("<main>\n")[2].rpartition("</main>")[0]
    heading = body.partition("<h1>")[2].partition("</h1>")[0]
    return Markup(heading), Markup(_HEADING.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", body))
