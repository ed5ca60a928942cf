"""Results in words: how far a metric can be trusted, each form of a result, and where two texts differ."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.core.scores import MEANINGS, TRAINED, Note, Scores, in_brief
from nlgauge.core.spec import model_line
from nlgauge.core.suite import Suite
from nlgauge.report.tables import (
    DATA,
    FORMS,
    MEAN,
    MEAN_PREFIX,
    WIDE,
    Paper,
    Part,
    Row,
    Table,
    Worst,
    absent,
    between,
    by_keys,
    csv,
    first_rows,
    is_of_people,
    kind_of,
    listed,
    markdown,
    measured,
    number,
    tsv,
    with_interval,
)

_MOST = 3  # failures that are named
CHANCE = 0.5  # of a preference between two texts
_MUCH = 0.1  # share of texts that a metric cannot read from which on its number says nothing
_SOME = r"((?:the sources of )?(\d+) of (\d+) [a-z ]+?) (?:\(.*\) )?"  # 577 of 600 segments (1, 2, ...)
_FOREIGN = re.compile(f"{_SOME}look ([^:]+): ([^;]+)")
_CUT = re.compile(f"{_SOME}have {MEANINGS['truncated']}")


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a metric.

    Attributes:
        about: the criterion of people, or the error.
        short: the number, or the error in a word.
        text: what is known, with its number.
        clear: whether chance does not explain it, and nothing makes it doubtful.
        where: on which texts it was found.
        link: the part of the page that says more.
        doubt: why it may say nothing, see `doubts_of`; mostly empty.
        share: of the pairs that people rate apart, ties aside, that which a metric has in their order; None where an
            agreement is none of pairs.
    """

    about: str
    short: str
    text: str
    clear: bool
    where: str
    link: str
    doubt: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Trust:
    """The evidence on a metric.

    Attributes:
        agreement: correlations with people.
        faults: what it failed worst in audits.
        audited: whether an audit is about it.
        texts: how many texts it scored, and how many of them were cut, empty or undefined.
        doubt: why its scores say nothing, see `doubts_of`; mostly empty.
    """

    agreement: tuple[Fact, ...]
    faults: tuple[Fact, ...]
    audited: bool
    texts: str
    doubt: str = ""


DESCRIBES = "it describes outputs, and judges none"


def doubts_of(result: Result) -> dict[str, str]:
    """Metric -> why its numbers in a result say nothing; without those of which nothing is known.

    It judges nothing. Or a tenth of the texts, or more, are in a language that it does not read, or too long for its
    model; or its agreement with people is asked for, and it was trained on ratings. The notes of a result say so,
    whichever verb made it.
    """
    found = {m["spec"]: [DESCRIBES] for m in result.metrics if m.get("judges") is False}
    for note in result.notes:
        for spec, doubt in _doubts(result, note):
            found.setdefault(spec, []).append(doubt)
    return {m["spec"]: "; ".join(dict.fromkeys(found[m["spec"]])) for m in result.metrics if m["spec"] in found}


def is_doubt(result: Result, note: str) -> bool:
    """Whether a note of a result says that numbers in it say nothing."""
    return any(True for _ in _doubts(result, note))


def _doubts(result: Result, note: str) -> Iterator[tuple[str, str]]:
    """Specification and doubt of each metric that a note is about."""
    for spec in (metric["spec"] for metric in result.metrics):
        said = _behind(f"{spec}: ", note)
        if (found := _FOREIGN.match(said)) and int(found[2]) >= _MUCH * int(found[3]):
            yield spec, f"{found[1]} look {found[4]}, and {found[5]}"
        elif (found := _CUT.match(said)) and int(found[2]) >= _MUCH * int(found[3]):
            yield spec, f"{found[1]} are longer than its model reads"
        elif result.kind == "meta" and TRAINED in said:
            yield spec, f"it was {TRAINED}, perhaps on these"


def _behind(name: str, note: str) -> str:
    """What a note says of a metric; the name of a set may stand before that of the metric."""
    before, found, said = note.partition(name)
    return said if found and (not before or before.endswith(": ")) else ""


def trust_of(scored: Result, others: Mapping[str, Result]) -> dict[str, Trust]:
    """The evidence that some results hold on the metrics of another.

    Args:
        others: anchor of its part of the page -> result, for all results of the page.
    """
    doubts = doubts_of(scored)
    return {m["spec"]: _trust(m, scored, others, doubts.get(m["spec"], "")) for m in scored.metrics}


def _trust(metric: Mapping[str, Any], scored: Result, others: Mapping[str, Result], doubt: str) -> Trust:
    agreement: list[Fact] = []
    faults: list[tuple[float, Fact]] = []
    audited = False
    for link, other in others.items():
        own = next((m for m in other.metrics if m["signature"] == metric["signature"]), None)
        own = own or next((m for m in other.metrics if m["spec"] == metric["spec"]), None)
        if own is None or other.kind not in ("meta", "audit"):
            continue
        rows = [row for row in measured(other.rows) if row["metric"] == own["spec"]]
        where = _where(scored, other) + ("" if own["signature"] == metric["signature"] else ", by another signature")
        if other.kind == "meta":
            why = doubts_of(other).get(own["spec"], "")
            agreement += [
                Fact(about, short, f"{text}; {why}" if why else text, clear and not why, where, link, why, share)
                for about, short, text, clear, share in _agreements(rows)
            ]
        else:
            known = (row.get("accuracy", row.get("deviation")) for row in rows)
            audited = audited or not all(map(absent, known))
            faults += [
                (size, Fact(name, name, text, clear, where, link)) for size, name, text, clear in faults_of(rows)
            ]
    worst: dict[str, Fact] = {}
    for _, fact in sorted(faults, key=lambda fault: -fault[0]):
        worst.setdefault(fact.short, fact)  # an error may stand in two audits, or for two criteria
    return Trust(tuple(agreement), tuple(worst.values())[:_MOST], audited, _texts(metric, scored), doubt)


def _where(scored: Result, other: Result) -> str:
    """Whether two results are about the same texts."""
    if {entry["sha256"] for entry in scored.inputs} & {entry["sha256"] for entry in other.inputs}:
        return "on these texts"
    names = ", ".join(entry["path"] for entry in other.inputs)
    return f"on other texts: {names}" if names else "on other texts"


_WON_LESS_LOST = ("kendall_b", "kendall_c", "wmt_kendall_like", "rr_kendall")  # of pairs
_WON = ("pairwise_accuracy", "preference_accuracy")


def _share_of_pairs(stat: str, value: float | None) -> float | None:
    if value is None or stat not in (*_WON_LESS_LOST, *_WON):
        return None
    return value if stat in _WON else (1 + value) / 2  # won less lost is 2 won - 1


def _agreements(rows: Sequence[Row]) -> list[tuple[str, str, str, bool, float | None]]:
    """For each criterion, level and statistic the number, the whole, if it is beyond chance, and its share of pairs.

    The number is the mean of groups.
    """
    said = []
    for (criterion, level, stat), own in by_keys(
        (row for row in rows if not is_of_people(row)), "criterion", "level", "stat"
    ).items():
        mean = next((row for row in own if row["group"] == MEAN), None)
        if mean is None or criterion == MEAN:
            continue
        groups = [row for row in own if row["group"] != MEAN]
        n = f"n {groups[0]['n_used']}" if len(groups) == 1 else f"mean of {len(groups)} groups"
        value = with_interval(mean, number(mean["value"]), 3)
        chance = mean.get("chance")
        known = not absent(mean["low"]) and not absent(chance)
        by_luck = known and mean["low"] <= chance <= mean["high"]
        text = f"{stat} {value} with {criterion}, level {level}, {n}{'; may be chance' if by_luck else ''}"
        short = f"{stat} {with_interval(mean, number(mean['value'], 2), 2)}"
        said.append((criterion, short, text, known and mean["low"] > chance, _share_of_pairs(stat, mean["value"])))
    return said


def faults_of(rows: Sequence[Row]) -> list[tuple[float, str, str, bool]]:
    """How bad at least, from 0 to 1; the error, what happened, and whether the metric misses it clearly.

    Faults are wrong preferences, and drops that are not people's. The end of the interval counts that is kinder to the
    metric, so that failures on few texts do not come first. An error is missed clearly if the metric is wrong in more
    than half of the pairs, or drops less than people do, beyond chance.
    """
    found = []
    for row in rows:
        if "phenomenon" in row:
            if not row["phenomenon"].startswith(MEAN_PREFIX) and not absent(row["accuracy"]) and row["accuracy"] < 1:
                about = f"right on {row['wins']} of {row['n']} pairs, {number(row['accuracy'], 2)}"
                interval = between(row["low"], row["high"], 2)
                where = "" if row["group"] is None else f", {row['group']}"
                most = row["accuracy"] if absent(row["high"]) else row["high"]
                text = f"{row['phenomenon']}{where}: {about}{f' ({interval})' if interval else ''}"
                found.append((1 - most, row["phenomenon"], text, not absent(row["high"]) and row["high"] < CHANCE))
        elif not absent(row["deviation"]):
            kind = "too little" if row["deviation"] < 0 else "too much"
            drops = f"drops by {number(row['drop'], 2)} and people by {number(row['penalty'], 2)}"
            ends = [row["deviation"]] if absent(row["low"]) else [row["low"], row["high"]]
            least = min(map(abs, ends)) if min(ends) * max(ends) > 0 else 0.0
            missed = row["expect"] == "lower" and least > 0 and row["deviation"] < 0
            found.append((least, row["template"], f"{row['template']}: {drops}, {kind} (n {row['n']})", missed))
    return found


def _texts(metric: Mapping[str, Any], scored: Result) -> str:
    """How many texts, and how many of them the metric flagged; a text with a flag is scored all the same."""
    rows = [row for row in measured(scored.rows) if row["metric"] == metric["spec"]]
    flags = {**metric.get("flags", {})}
    undefined = flags.pop("undefined", sum(row["n_undefined"] for row in rows))
    counts = {"empty": flags.pop("empty", 0), "truncated": flags.pop("truncated", 0), "undefined": undefined, **flags}
    return f"{sum(row['n'] for row in rows)} scored: " + ", ".join(f"{n} {name}" for name, n in counts.items())


# --- Results in words and tables: text for a terminal, Markdown and LaTeX for papers; TSV, CSV and JSON for programs


def check_form(form: str) -> None:
    """Refuse an unknown form before anything is scored."""
    if form not in FORMS:
        raise InputError(f"unknown format {form!r} of what is printed{nearest(form, FORMS)}")


def render(
    result: Result,
    form: str = "text",
    digits: int | None = None,
    *,
    quiet: bool = False,
    columns: int = WIDE,
    worst: Worst | None = None,
    full: bool = False,
    spreadsheet: bool = False,
    brief: bool = False,
    hints: bool = True,
) -> str:
    """A result in one form.

    Args:
        result: a result of any kind but `align`, which has a picture of its own.
        form: `text`, `json`, `tsv`, `csv`, `markdown` or `latex`.
        digits: the number of decimals; None is 3, and for scores 2 or 4 by the scale of each metric.
        quiet: leave out signatures, which LaTeX keeps as comments, and all notes but one line of those that say that a
            number means nothing.
        columns: the width of the terminal. A table of scores that is wider has metrics as rows and systems as columns,
            or is split, by systems or by metrics; a table of values loses its intervals.
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        full: show intervals in the tables of an audit, and what corpus numbers are made of.
        spreadsheet: put `'` before cells of TSV and CSV that a spreadsheet takes for formulas.
        brief: in text, leave out the p-values of every two systems, signatures, the names of texts in notes, and notes
            beyond three, unless they say that a number means nothing; in LaTeX, p-values of every two systems or
            metrics, and intervals.
        hints: say by which options of the command these are shown.

    Raises:
        InputError: the form is unknown.
    """
    check_form(form)
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form in DATA:
        return {"tsv": tsv, "csv": csv}[form](result, spreadsheet)
    kind = kind_of(result.kind)
    if kind.parts is None:
        raise InputError(f"a result of kind {result.kind!r} has no tables; write it as .json or .tsv")
    is_brief = brief and form in ("text", "latex")
    paper = Paper(result, form, digits, columns, worst or {}, full, is_brief, hints)
    signed = _explained(paper, quiet) if kind.signed or not paper.is_text else []
    return "\n\n".join(part for part in [*map(paper.shown, kind.parts(paper)), *signed] if part)


def parts_of(result: Result) -> Sequence[Part]:
    """The tables of a result, and what is said of them in words; its first rows where the kind has no tables."""
    kind = kind_of(result.kind)
    return [first_rows(result)] if kind.parts is None else kind.parts(Paper(result, "markdown"))


def printed(result: Result) -> str:
    """A result as `print` shows it: the text of the command, or the rows where a kind has no tables."""
    kind = kind_of(result.kind)
    return tsv(result) if kind.parts is None else render(result, brief=True, hints=False)


def _explained(paper: Paper, quiet: bool) -> list[str]:
    result = paper.result
    notes = doubt_line(result) if quiet else _notes(paper)
    if quiet and paper.form != "latex":
        return [paper.line(f"note: {note}") for note in notes]
    command = [result.command] if result.command and not paper.is_text else []
    models = [line] if (line := model_line(result.metrics)) else []
    if paper.form == "markdown":
        signed = [f"- {markdown(name)}: `{signature}`" for name, signature in _signed(result.metrics)]
        said = [*(f"- {markdown(n)}" for n in notes), *(f"- `{c}`" for c in command)]
        return ["\n".join([*(f"- {markdown(line)}" for line in models), *signed, *said])]
    signed = [] if paper.brief and paper.is_text else [f"{name} = {value}" for name, value in _signed(result.metrics)]
    noted = [*models, *(f"note: {note}" for note in notes)]
    return ["\n".join(map(paper.line, lines)) for lines in (signed, noted, command) if lines]


def doubt_line(result: Result) -> list[str]:
    """In one line, which numbers mean nothing, and why; no line where there is no such doubt."""
    doubts = [f"{spec}: {doubt}" for spec, doubt in doubts_of(result).items() if doubt != DESCRIBES]
    return [f"do not rely on {'; '.join(doubts)}"] if doubts else []


def _signed(metrics: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each metric with its signature, and with that of the package that it equals."""
    for metric in metrics:
        yield directed(metric), metric["signature"]
        if "peer_signature" in metric:
            peer = "bert-score" if "(hug_trans=" in metric["peer_signature"] else "sacrebleu"
            yield f"{metric['spec']} in {peer}", metric["peer_signature"]


_WITHOUT_V = ("select", "sweep", "spans")  # kinds whose verbs have no -v


def _notes(paper: Paper) -> list[str]:
    """The notes; in brief three, those first that matter most, and the last one says how to see what is left out."""
    result, whole = paper.result, [*paper.result.notes]
    if paper.lean:  # its tables have no intervals
        return [note for note in whole if not note.startswith(("[low, high]", "intervals from "))]
    if not (paper.brief and paper.is_text):
        return whole
    doubts = [note for note in whole if is_doubt(result, note)]
    counts = [n for n in whole if isinstance(n, Note) and n != f"{n.about}: {n.said}" and n not in doubts]
    short = in_brief([*doubts, *counts, *(note for note in whole if note not in doubts and note not in counts)])
    most = max(_MOST, len(in_brief(doubts)))
    more = len(short) - most
    left = [
        *(["signatures"] if result.metrics else []),
        *([f"{more} more note{'s' * (more > 1)}"] if more > 0 else []),
        *(["the texts that notes count"] if counts or doubts else []),
    ]
    option = "-f json" if result.kind in _WITHOUT_V else "-v"
    return [*short[:most], *([f"{option} shows {listed(left)}"] if paper.hints and left else [])]


def directed(metric: Mapping[str, Any]) -> str:
    """A metric as typed, with its direction where that is not the usual one."""
    return str(metric["spec"]) + (" (lower is better)" if rises(metric) is False else "")


def rises(metric: Mapping[str, Any]) -> bool | None:
    """Whether a higher score is better; None for what judges nothing."""
    return bool(metric["higher_is_better"]) if metric.get("judges", True) else None


# --- Where two texts differ: the newer one in pieces, for a mark around what is new

_BESIDE = 50  # pieces that are alike on either side of what differs
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


def marked(before: str, after: str) -> str:
    """`after` with brackets around what is not in `before`, and `[]` where something of `before` is gone."""
    return "".join(f"[{part}]" if new else part for part, new in pieces(before, after))


def shared(before: str, after: str) -> float:
    """The share of the longer text that both have, in [0, 1]; white space does not count."""
    both = sum(len("".join(text.split())) for text, new in pieces(before, after) if not new)
    longer = max(len("".join(text.split())) for text in (before, after))
    return both / longer if longer else 1.0


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """`after`, cut into pieces that it shares with `before` and pieces that are new.

    An empty new piece marks a place where something is gone. New pieces with nothing but a space between them are one.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    # Long texts often differ in one place, and matching is quadratic: what is alike far from it is not looked at.
    same = _alike(old, new)
    head = max(0, same - _BESIDE)
    tail = max(0, _alike(old[same:][::-1], new[same:][::-1]) - _BESIDE)
    looked_at = old[head : len(old) - tail], new[head : len(new) - tail]
    out: list[tuple[str, bool]] = []
    for op, _, _, start, end in difflib.SequenceMatcher(None, *looked_at, autojunk=False).get_opcodes():
        piece = "".join(looked_at[1][start:end])
        if op == "equal" or len(out) < 2 or not out[-2][1] or not out[-1][0].isspace():
            out.append((piece, op != "equal"))
        else:
            out[-2:] = [(out[-2][0] + out[-1][0] + piece, True)]
    if head:  # both ends of what was looked at are alike
        out[0] = "".join(new[:head]) + out[0][0], False
    if tail:
        out[-1] = out[-1][0] + "".join(new[len(new) - tail :]), False
    return out


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many pieces two texts begin with alike."""
    least = min(len(one), len(other))
    return next((i for i in range(least) if one[i] != other[i]), least)


# --- Scores, results and suites as a notebook shows them: small tables in HTML, every text escaped


def scores_html(*metrics: Scores) -> str:
    """The corpus-level scores by each metric, one line per system where systems are known, and the signatures."""
    first = metrics[0]
    known = any(name is not None for name in first.systems)
    numbers: list[Mapping[str | None, float]] = [
        scores.by_system() if known else {None: scores.system} for scores in metrics
    ]
    digits = [2 if max(map(abs, own.values()), default=0.0) > 1.5 else 4 for own in numbers]
    counts = {name: sum(system == name for system in first.systems) for name in numbers[0]}
    body = [
        (
            "-" if name is None else name,
            *(number(own.get(name), places) for own, places in zip(numbers, digits, strict=True)),
            str(n or len(first)),
        )
        for name, n in counts.items()
    ]
    header = ("system", *(scores.name or scores.signature.spec for scores in metrics), "n")
    notes = [note for scores in metrics for note in (str(scores.signature), *(scores.notes or scores.flag_notes()))]
    return _table(Table("", header, tuple(body))) + _lines([*dict.fromkeys(notes)])


def result_html(result: Result) -> str:
    """The tables of a result, its signatures and its notes."""
    shown = parts_html(parts_of(result))
    signatures = [f"{directed(metric)} = {metric['signature']}" for metric in result.metrics]
    models = [line] if (line := model_line(result.metrics)) else []
    return shown + _lines([*models, *signatures, *(f"note: {note}" for note in result.notes)])


def parts_html(parts: Iterable[Part]) -> str:
    """Tables, and what is said of them in words."""
    return "".join(_table(part) if isinstance(part, Table) else _lines(part.split("\n")) for part in parts if part)


def suite_html(suite: Suite) -> str:
    """How many pairs there are of each phenomenon, and the first pair of each."""
    first = {pair.phenomenon: pair for pair in reversed(suite.pairs)}
    counts = dict.fromkeys(suite.phenomena, 0)
    for pair in suite:
        counts[pair.phenomenon] += 1
    body = [(name, first[name].better, first[name].worse, str(n)) for name, n in counts.items()]
    header = ("phenomenon", "better, of the first pair", "worse", "pairs")
    return _table(Table(f"{suite.name} ({suite.design})", header, tuple(body), left=3)) + _lines(suite.notes)


def _table(table: Table) -> str:
    def line(cells: Sequence[str], tag: str, i: int | None = None) -> str:
        shown = (
            f'<{tag} style="text-align:{"left" if j < table.left else "right"}">'
            + (f"<b>{escape(cell)}</b>" if (i, j) in table.marked else escape(cell))
            + f"</{tag}>"
            for j, cell in enumerate(cells)
        )
        return f"<tr>{''.join(shown)}</tr>"

    title = f"<p><b>{escape(table.title)}</b></p>" if table.title else ""
    body = "".join(line(cells, "td", i) for i, cells in enumerate(table.body))
    whole = f"{title}<table><thead>{line(table.header, 'th')}</thead><tbody>{body}</tbody></table>"
    return whole + _lines(table.signs("bold:"))


def _lines(lines: Sequence[str]) -> str:
    return f"<p><small>{'<br>'.join(map(escape, lines))}</small></p>" if lines else ""
