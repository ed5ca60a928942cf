"""Ratings of an ESA campaign in the form in which WMT24 published them."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.tables import Key
from nlgauge.io import read_esa_scores
from nlgauge.io.wmt.esa import is_esa

MINOR = '"[{""start_i"":8,""end_i"":11,""severity"":""minor""}]"'
MISSING = '"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""major"",""error_type"":null}]"'
ROWS = [
    f"engjpn7904,ende-tutorial2,1000006,TGT,eng,jpn,0,ende-tutorial2,False,{MINOR},1724108648.696,1724108648.696",
    "engjpn7904,NTTSU,688,TGT,eng,jpn,98,test-en-speech_-u_000,False,[],1724108687.807,1724108688.639",
    "engjpn7905,NTTSU,688,TGT,eng,jpn,90,test-en-speech_-u_000#incomplete,False,[],1724108687.807,1724108688.639",
    f"engjpn7904,Aya23,43,TGT,eng,jpn,77.5,doc,False,{MISSING},1724108687.807,1724108688.639",
    "engjpn7905,Aya23,43,BAD,eng,jpn,18,doc#bad,False,[],1724111006.824,1724111112.084",
    "engzho7902,Aya23,43,TGT,eng,zho,60,doc,False,[],1,2",
]


@pytest.fixture
def path(tmp_path):
    def write(*rows):
        (tmp_path / "wave.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        return tmp_path / "wave.csv"

    return write


def test_scores_and_spans_by_hand(path):
    table = read_esa_scores(path(*ROWS))
    assert table.keys == (
        Key(None, "NTTSU", "688", "en-ja"), Key(None, "Aya23", "43", "en-ja"), Key(None, "Aya23", "43", "en-zh")
    )  # fmt: skip
    assert table.column("esa").tolist() == [94.0, 77.5, 60.0]  # (98 + 90) / 2
    assert table.column("esa_spans").tolist() == [0.0, -5.0, 0.0]
    assert [note.split(": ")[1] for note in table.notes] == [
        "1 row of the tutorial left out",
        "1 row with planted errors left out",
        "1 segment rated more than once, with the mean",
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROWS[1].replace(",98,", ",198,"), "wave.csv:1: score 198, expected 0 to 100"),
        (ROWS[1].replace(",98,", ",good,"), "wave.csv:1: score 'good', expected a number"),
        (ROWS[1].replace(",[],", ",x,"), "wave.csv:1: spans 'x', expected a JSON list"),
        (ROWS[0].replace("minor", "grave").replace("tutorial", "x"), "expected a JSON list of objects with a severity"),
        ("a,b\rc,d", "wave.csv:1: 1 cell, expected 12 with TGT or BAD as 4th"),
        (ROWS[1].replace("TGT", "TG\rT"), "wave.csv:1: 1 cell, expected 12"),
        ("a,b,c", "wave.csv:1: 3 cells, expected 12 with TGT or BAD as 4th"),
        (ROWS[0], "wave.csv: no rating in it"),
    ],
)
def test_bad_rows_are_named(path, row, message):
    with pytest.raises(InputError) as told:
        read_esa_scores(path(row))
    assert message in str(told.value)


def test_its_rows_are_known_without_a_header():
    assert is_esa(ROWS[0])
    assert not is_esa("system,seg,score")
    assert not is_esa("")
