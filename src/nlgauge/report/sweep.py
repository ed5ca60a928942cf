"""A sweep as a page: robustness against agreement, gains by weight; of a pooling study, what wins where and what choosing elsewhere costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.result import Result, replacing
from nlgauge.report.colours import shade
from nlgauge.report.drawing import Cell, heat_map
from nlgauge.report.html import render
from nlgauge.report.plots import Curve, curves_plot

Row = Mapping[str, Any]
_MEAN = "mean"
_ATTACKS = {"mean-all": "all phenomena", "mean-adequacy": "adequacy phenomena"}
_KINDS = {"correlation": "agreement with people", "accuracy": "accuracy under attack"}
_MOST_LABELS = 6


def write_html(result: Result, path: str | Path) -> None:
    """Write a result of kind `sweep` as one self-contained page, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(sweep_html(result).encode("utf-8", "backslashreplace").decode())


def sweep_html(result: Result) -> str:
    """The page of a result of kind `sweep`, of weights or of pooling strategies."""
    pooling = bool(result.rows) and "table" in result.rows[0]
    return render(
        "sweep.html",
        inputs=result.inputs,
        pooling=pooling,
        sections=list(_pooling(result.rows) if pooling else _weights(result.rows)),
        metrics=[{**metric, "signature": str(metric["signature"]).split("|")} for metric in result.metrics],
        notes=result.notes,
    )


def _weights(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    from markupsafe import Markup

    tasks = list(dict.fromkeys((r["stat"], r["criterion"], r["level"]) for r in rows if r["stat"] is not None))
    for stat, criterion, level in tasks:
        own = [r for r in rows if (r["stat"], r["criterion"], r["level"]) == (stat, criterion, level)]
        about = f"{stat} with {criterion}, level {level}"
        for phenomenon, shown in _ATTACKS.items():
            points = [
                r
                for r in own
                if r["metric"] != _MEAN and None not in (r["dataset"], r["suite"]) and r["phenomenon"] == phenomenon
            ]
            whole = [r for r in points if r["dataset"] == _MEAN] or points
            if whole:
                title = f"Robustness against agreement: {shown}"
                picture = Markup(trade_off(whole, stat))
                yield {
                    "title": title,
                    "about": about,
                    "pictures": [("", picture)],
                    "table": _table(whole, stat),
                    "folded": False,
                }
            parts = list(dict.fromkeys((r["dataset"], r["suite"]) for r in points if r["dataset"] != _MEAN))
            if len(parts) > 1:
                pictures = [
                    (
                        f"{dataset} and {suite}",
                        Markup(trade_off([r for r in points if (r["dataset"], r["suite"]) == (dataset, suite)], stat)),
                    )
                    for dataset, suite in parts
                ]
                yield {
                    "title": f"Each data set and suite: {shown}",
                    "about": about,
                    "pictures": pictures,
                    "table": None,
                    "folded": True,
                }
        mean = [r for r in own if r["metric"] == _MEAN]
        for partner in dict.fromkeys(r["partner"] for r in mean):
            mine = [r for r in mean if r["partner"] == partner]
            with_what = "NLI metrics" if partner == "nli" else "metrics that are no NLI metrics"
            table = _gains_table(mine)
            pictures = [("", Markup(gains(mine, stat)))]
            yield {
                "title": f"Gains by weight: mixed with {with_what}",
                "about": about,
                "pictures": pictures,
                "table": table,
                "folded": False,
            }


def trade_off(rows: Sequence[Row], stat: str) -> str:
    """Correlation over accuracy as SVG, a curve a pair of metrics: a star where the metric stands alone, a cross where the other does.

    The best weight is ringed; curves of metrics mixed with others than NLI metrics are dotted.

    References:
        Chen and Eger (2023), figures 2 and 4.
    """
    pairs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        pairs.setdefault((row["metric"], row["with"]), []).append(row)
    curves = []
    for (metric, partner), own in pairs.items():
        best = next((i for i, r in enumerate(own) if r["best"]), None)
        every = math.ceil(len(own) / _MOST_LABELS)
        labels = [
            f"{r['weight']:g}" if i == best or i % every == 0 or i == len(own) - 1 else "" for i, r in enumerate(own)
        ]
        titles = [f"{r['spec']}: accuracy {r['accuracy']:.3f}, {stat} {r['correlation']:.3f}" for r in own]
        points = [(r["accuracy"], r["correlation"]) for r in own]
        curves.append(
            Curve(
                f"{metric} with {partner}",
                points,
                labels,
                titles,
                dotted=own[0]["partner"] != "nli",
                ends=True,
                bold=best,
            )
        )
    return curves_plot(f"{stat} over accuracy under attack", curves, "accuracy under attack", stat)


def gains(rows: Sequence[Row], stat: str) -> str:
    """Mean gains over weights as SVG, with bands of 95 % intervals over pairs of metrics and sets.

    References:
        Chen and Eger (2023), figure 3.
    """
    phenomena = list(dict.fromkeys(r["phenomenon"] for r in rows))
    first = [r for r in rows if r["phenomenon"] == phenomena[0]]
    curves = [_gain(f"{stat} ({_over(first, 'correlation')})", first, "correlation")]
    for phenomenon in phenomena:
        own = [r for r in rows if r["phenomenon"] == phenomenon]
        curves.append(_gain(f"accuracy, {_ATTACKS[phenomenon]} ({_over(own, 'accuracy')})", own, "accuracy"))
    return curves_plot("gains by weight", curves, "weight of the other metric", "gain", percent=True)


def _over(rows: Sequence[Row], name: str) -> str:
    n = max(r[f"n_{name}"] for r in rows)
    return f"mean of {n}" if n > 1 else "one pair, one set: no interval"


def _gain(label: str, rows: Sequence[Row], name: str) -> Curve:
    key = f"gain_{name}"
    band = [(r[f"{key}_low"], r[f"{key}_high"]) for r in rows]
    return Curve(
        label,
        [(r["weight"], r[key]) for r in rows],
        titles=[f"{r['weight']:g}: {100 * r[key]:+.1f} %" for r in rows],
        band=band,
    )


def _table(rows: Sequence[Row], stat: str) -> dict[str, Any]:
    body = [
        [
            r["metric"],
            r["with"],
            f"{r['weight']:g}" + (" (best)" if r["best"] else ""),
            _number(r["correlation"]),
            _interval(r["low"], r["high"]),
            _number(r["accuracy"]),
            _interval(r["accuracy_low"], r["accuracy_high"]),
            _percent(r["gain_correlation"]),
            _percent(r["gain_accuracy"]),
        ]
        for r in rows
    ]
    header = [
        "metric",
        "with",
        "weight",
        stat,
        "95 % interval",
        "accuracy",
        "95 % interval",
        f"gain, {stat}",
        "gain, accuracy",
    ]
    return {"header": header, "words": 2, "rows": body}


def _gains_table(rows: Sequence[Row]) -> dict[str, Any]:
    body = [
        [_ATTACKS[r["phenomenon"]], f"{r['weight']:g}", *_gain_cells(r, "correlation"), *_gain_cells(r, "accuracy")]
        for r in rows
    ]
    header = [
        "phenomena",
        "weight",
        "gain, correlation",
        "95 % interval",
        "median",
        "gain, accuracy",
        "95 % interval",
        "median",
    ]
    return {"header": header, "words": 1, "rows": body}


def _gain_cells(row: Row, name: str) -> list[str]:
    key = f"gain_{name}"
    return [
        _percent(row[key]),
        _interval(row[f"{key}_low"], row[f"{key}_high"], percent=True),
        _percent(row[f"{key}_median"]),
    ]


def _pooling(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    from markupsafe import Markup

    values, wins, left = ([r for r in rows if r["table"] == table] for table in ("values", "wins", "left-out"))
    for setup, kind in dict.fromkeys((r["setup"], r["kind"]) for r in wins):
        own = [r for r in wins if (r["setup"], r["kind"]) == (setup, kind)]
        about = f"{'with references' if setup == 'ref' else 'against the source'}, {own[0]['n']} contests"
        picture = Markup(_grid(f"wins, {_KINDS[kind]}", own, "wins", "g"))
        yield {
            "title": f"How often each strategy wins: {_KINDS[kind]}",
            "about": about,
            "pictures": [("", picture)],
            "table": None,
            "folded": False,
        }
    if left:
        body = [
            [
                r["metric"],
                r["set"],
                r["criterion"] or "",
                "all sets" if r["among"] == "all" else "sets of its kind",
                f"{r['formula']} {r['direction']}",
                f"{r['best_formula']} {r['best_direction']}",
                _number(r["value"]),
                _number(r["best_value"]),
                _number(r["cost"]),
            ]
            for r in left
        ]
        header = [
            "metric",
            "set left out",
            "criterion",
            "chosen on the other",
            "strategy",
            "best on the set",
            "value",
            "best value",
            "cost",
        ]
        table = {"header": header, "words": 6, "rows": body}
        about = "what the strategy with the best mean elsewhere loses here"
        yield {"title": "Chosen without the set", "about": about, "pictures": [], "table": table, "folded": False}
    contests = list(dict.fromkeys((r["metric"], r["kind"], r["set"], r["stat"], r["criterion"]) for r in values))
    pictures = []
    for contest in contests:
        own = [r for r in values if (r["metric"], r["kind"], r["set"], r["stat"], r["criterion"]) == contest]
        metric, kind, where, stat, criterion = contest
        what = f"{stat} with {criterion}" if kind == "correlation" else "accuracy under attack"
        pictures.append((f"{metric}, {where}: {what}", Markup(_grid(what, own, "value", ".3f"))))
    yield {
        "title": "Every strategy on every set",
        "about": "darker is better within a picture",
        "pictures": pictures,
        "table": None,
        "folded": False,
    }


def _grid(label: str, rows: Sequence[Row], key: str, form: str) -> str:
    formulas, directions = (list(dict.fromkeys(r[name] for r in rows)) for name in ("formula", "direction"))
    known = [r[key] for r in rows if not _absent(r[key])]
    low, high = min(known, default=0.0), max(known, default=0.0)
    cells = {(r["direction"], r["formula"]): _cell(r[key], low, high, form) for r in rows}
    return heat_map(
        label,
        formulas,
        [("", way) for way in directions],
        [[cells[way, formula] for formula in formulas] for way in directions],
    )


def _cell(value: float | None, low: float, high: float, form: str) -> Cell:
    if value is None or _absent(value):
        return Cell("undefined")
    return Cell(f"{round(value, 3):{form}}", shade(0.8 * (value - low) / (high - low) if high > low else 0.0))


def _number(value: float | None) -> str:
    return "undefined" if value is None or _absent(value) else f"{value:.3f}"


def _percent(share: float) -> str:
    return "undefined" if _absent(share) else f"{100 * share:+.1f} %"


def _interval(low: float, high: float, percent: bool = False) -> str:
    show = _percent if percent else _number
    return "" if _absent(low) else f"{show(low)} to {show(high)}"


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
