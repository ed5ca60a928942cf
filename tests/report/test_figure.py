"""What a figure gives away: numbers for a spreadsheet, and the figure for Vega-Lite."""

import base64
import json
import math

from nlgauge.report.figure import DIVERGING, Figure, banded, data_url, shaded, with_intervals

FIGURE = Figure(
    "BLEU & <b>",
    [{"system": "=HYPERLINK()", "value": -0.5}, {"system": "a,b", "value": math.nan}],
    {"mark": "bar", "encoding": {}},
)


def test_the_csv_holds_every_number_and_no_formula():
    assert FIGURE.csv == 'system,value\n\'=HYPERLINK(),-0.5\n"a,b",\n'


def test_the_chart_holds_its_numbers():
    made = json.loads(FIGURE.vega)
    assert made["data"] == {
        "values": 'system,value\n=HYPERLINK(),-0.5\n"a,b",\n',
        "format": {"type": "csv", "parse": {"system": "string", "value": "number"}},
    }
    assert made["mark"] == "bar"


def test_a_chart_rounds_to_six_digits_and_the_csv_does_not():
    figure = Figure("t", [{"value": 1 / 3}], {"mark": "bar"})
    assert json.loads(figure.vega)["data"]["values"] == "value\n0.333333\n"
    assert figure.csv == "value\n0.3333333333333333\n"


def test_charts_name_their_fields():
    bars = with_intervals("bucket", "accuracy", by="system")
    assert [bars["encoding"][axis]["field"] for axis in ("y", "yOffset", "color")] == ["bucket", "system", "system"]
    assert [layer["encoding"]["x"]["field"] for layer in bars["layer"]] == ["accuracy", "low"]
    assert "yOffset" not in with_intervals("system")["encoding"]
    cells = shaded("metric", "template", "deviation", "set", scale=DIVERGING)["encoding"]
    assert [cells[axis]["field"] for axis in ("x", "y", "row", "color")] == ["metric", "template", "set", "deviation"]
    curves = banded("layer", "model")
    assert [layer["encoding"]["y"]["field"] for layer in curves["layer"]] == ["low", "value"]


def test_links_hold_the_files():
    (kind, name, url), (_, other, _) = FIGURE.links
    assert (kind, name, other) == ("CSV", "bleu-b.csv", "bleu-b.vl.json")
    assert base64.b64decode(url.removeprefix("data:text/csv;base64,")).decode() == FIGURE.csv
    assert data_url("text/plain", "\ud800").isascii()  # half of a pair is no text that UTF-8 can hold
