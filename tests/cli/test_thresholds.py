"""`score --thresholds`: a table is read and said in every form; bad use is refused."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from tests.cli.command import run, write

REFERENCES = ["the cat sat on the mat", "it is raining today", "the red house is old"]
SYSTEMS = {
    "best": REFERENCES,
    "good": ["the cat sat on a mat", "it is raining now", "the red house was old"],
    "poor": ["cats on mats", "rain comes", "an old house"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Writes rated systems of a group."""

    def rated(group):
        rows = [
            {"id": f"{s}{i}", "system": s, "seg": str(i), "lp": group, "refs": [REFERENCES[i]], "hyp": text}
            | {"human": {"da": 90 - 20 * k + i}}
            for k, (s, texts) in enumerate(SYSTEMS.items())
            for i, text in enumerate(texts)
        ]
        return write(tmp_path_factory.mktemp("data") / f"{group}.jsonl", rows)

    return rated


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table for chrF alone: the shipped one as if it had seen 3 segments, and differences of all sizes."""
    path = tmp_path_factory.mktemp("table") / "t.json"
    shipped = json.loads(files("nlgauge.data").joinpath("thresholds", "translation.json").read_text())
    (chrf,) = (one for one in shipped["metrics"] if one["spec"] == "chrf")
    path.write_text(json.dumps({**shipped, "metrics": [{**chrf, "n": [3, 3], "largest": 100.0}]}))
    return path


def test_every_difference_says_how_often_people_agree(table, data, tmp_path, capsys):
    target = tmp_path / "r.json"
    line = ("score", data("x-en"), "-m", "chrf", "-m", "bleu", "--significance", "bootstrap", "--thresholds", table)
    assert run(*line, "-v", "--json", target, "--html", tmp_path / "r.html") == 0
    shown = capsys.readouterr().out
    assert "of such pairs" in shown
    assert "bleu: " in shown
    assert "does not say how often people agree: it was fitted for chrf" in shown
    found = json.loads(target.read_text())
    chrf = [row for row in found["rows"] if row["metric"] == "chrf" and row["delta"] is not None]
    assert [0.5 <= row["agreement_low"] <= row["agreement"] <= row["agreement_high"] <= 1 for row in chrf] == [True] * 2
    assert all("agreement" not in row for row in found["rows"] if row["metric"] == "bleu")
    assert found["inputs"][-1]["path"] == str(table)
    assert "of such pairs" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("form", ["markdown", "latex", "tsv"])
def test_pairs_in_every_form(table, data, capsys, form):
    capsys.readouterr()
    line = ("score", data("x-en"), "-m", "chrf", "--significance", "bootstrap", "--pairs", "--thresholds", table)
    assert run(*line, "-f", form) == 0
    assert ("agreement_low" if form == "tsv" else "of such pairs") in capsys.readouterr().out


def test_no_file_is_written_over(table, data, capsys):
    before = table.read_text()
    line = ("score", data("x-en"), "-m", "chrf", "--significance", "bootstrap", "--thresholds", table, "--json", table)
    assert run(*line) == 2
    assert table.read_text() == before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("score DATA -m chrf --thresholds TABLE", "it goes with --significance"),
        ("score DATA -m ter --significance bootstrap --thresholds TABLE", "nothing is known of ter"),
        ("score DATA -m chrf --significance bootstrap --thresholds none.json", "cannot read thresholds none.json"),
        ("score DATA -m chrf --significance bootstrap --thresholds DATA", "expected a table of thresholds in JSON"),
    ],
)
def test_bad_use_is_refused(table, data, capsys, line, said):
    capsys.readouterr()
    path = str(data("x-en"))
    words = [path if word == "DATA" else str(table) if word == "TABLE" else word for word in line.split()]
    assert run(*words) == 2
    assert said.replace("DATA", path) in capsys.readouterr().err


@pytest.mark.usefixtures("pool_here")
def test_parts_say_what_one_process_says_of_differences(table, data, tmp_path, capsys):
    pytest.importorskip("pyarrow")
    line = ("score", data("x-en"), "-m", "chrf", "--significance", "bootstrap", "--thresholds", table)
    capsys.readouterr()
    assert run(*line) == 0
    wanted = capsys.readouterr().out
    assert "agree" in wanted
    assert run(*line, "--engine", "pool:workers=1", "-o", tmp_path / "parts") == 0
    assert capsys.readouterr().out == wanted


GERMAN = ["der Zug fährt um neun Uhr ab", "wir haben heute drei Brote gekauft", "niemand hat den Fuchs gesehen"]


@pytest.mark.parametrize("form", ["text", "tsv", "markdown"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_the_shipped_table_says_nothing_of_other_languages(language, form, tmp_path, capsys):
    # 60 segments; the table has seen 50 at least.
    texts = [f"{text} {i}" for i, text in enumerate((GERMAN if language == "de" else REFERENCES) * 20)]
    rows = [
        {"system": system, "seg": str(i), "refs": [text], "hyp": text.rsplit(" ", cut)[0]}
        for system, cut in (("A", 1), ("B", 2))
        for i, text in enumerate(texts)
    ]
    line = ("score", write(tmp_path / "d.jsonl", rows), "-m", "chrf", "--significance", "bootstrap", "-f", form)
    assert run(*line, "--thresholds", "shipped", "-v", "--json", tmp_path / "r.json") == 0
    told = "".join(capsys.readouterr())
    result = json.loads((tmp_path / "r.json").read_text())
    assert any("agreement" in row for row in result["rows"]) == (language == "en")
    refused = "does not say how often people agree: it is of translation into English"
    assert any(refused in note for note in result["notes"]) == (language == "de")
    assert ("of such pairs" in told) == (language == "en" and form != "tsv")
