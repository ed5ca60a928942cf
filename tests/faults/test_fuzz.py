"""Every reader gets damaged files: what comes out is a value, or an error of nlgauge in one line."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

_spec = importlib.util.spec_from_file_location("fuzz", Path(__file__).with_name("fuzz.py"))
fuzz = sys.modules["fuzz"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)

BROKE_ONCE = {  # reader -> files that ended in a traceback before
    "TSV": [b"ref" + b"1" * 5000 + b"\nb\n"],
    "bounds": [b'{"bounds": {"chrf": [0, 1' + b"0" * 400 + b"]}}", b'{"bounds":' + b"[" * 2000],
    "scores beside": [{"a.tsv": b"id\tm\na\t1\n", "a.tsv.meta.json": b"[" * 2000}],
    "head": [b'{"__metadata__": ' + b"[" * 2000],
    "penalties": [fuzz.lines({"template": "negation", "penalty": 10**400})],
    "triples": [fuzz.lines({"hyp": "a", "refs": ["b"], "score": -(10**400)})],
    "baseline": [b"LAYER,P,R,F\r0,1,1,1\n\r"],
    "journal": [fuzz.lines({"signature": "s"}, {"taken": 2}) + b"\xff\n"],
    "blend": [
        json.dumps({**fuzz.LINEAR, **odd}).encode()
        for odd in (
            {"low": 10**400},
            {"version": "a\nb"},
            {"terms": [{**fuzz.LINEAR["terms"][0], "name": "1*(" * 400}]},
        )
    ],
    "specification": [b"1*(" * 5000],
    "mtme": [{**fuzz.MTME, "meta.json": b'{"cs-uk": {"std_ref": ["refA"]}}'}],
}
WORDS = sorted(
    {word for token in fuzz.TOKENS if (word := token.decode("utf-8", "surrogatepass")).isascii() and len(word) < 9}
)
TEXTS = st.text(st.sampled_from('aZ1 é²\0\t\n\u202e\ufeff\ud800"'), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | TEXTS, inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("fuzz"))


def fields_of(reader):
    """The names of fields in a reader's examples of JSON lines."""
    found = set()
    for example in fuzz.examples_of(reader):
        for line in example.splitlines() if isinstance(example, bytes) else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            found |= row.keys() if isinstance(row, dict) else set()
    return sorted(found)


def files_for(reader):
    """Damaged examples, tables of odd cells, rows of known fields with odd values, and any bytes."""
    kinds = [st.integers(0, 2**32).map(lambda n: fuzz.damaged_example(reader, random.Random(n)))]
    if all(isinstance(example, bytes) for example in fuzz.examples_of(reader)):
        kinds.append(st.binary(max_size=60))
        cells = st.lists(st.sampled_from(fuzz.TOKENS), max_size=6)
        kinds.append(
            st.builds(
                lambda mark, rows: b"\n".join(map(mark.join, rows)),
                st.sampled_from([b"\t", b",", b" "]),
                st.lists(cells, max_size=4),
            )
        )
        if fields := fields_of(reader):
            row = st.dictionaries(st.sampled_from(fields), VALUES, max_size=6)
            kinds.append(st.lists(row, min_size=1, max_size=3).map(lambda rows: fuzz.lines(*rows)))
    return st.one_of(kinds)


@pytest.mark.parametrize("name", fuzz.READERS)
def test_damage_gives_a_value_or_an_error_of_ours(name, folder):
    reader = fuzz.READERS[name]

    @settings(max_examples=200 if fuzz.os.environ.get("NLGAUGE_SLOW") else 6, suppress_health_check=list(HealthCheck))
    @given(files_for(reader))
    def check(example):
        fault = fuzz.fault_of(reader, example, folder)
        if fault is not None:
            raise fault

    check()


@pytest.mark.parametrize("name", fuzz.READERS)
def test_what_is_damaged_is_sound_before(name, folder):
    """Else the damage would be refused for what is wrong already."""
    reader = fuzz.READERS[name]
    sound = 0
    for example in fuzz.examples_of(reader):
        try:
            reader.read(fuzz.written(reader, example, folder))
            sound += 1
        except fuzz.NlgaugeError:
            assert "arquet" in name or name == "head file"  # columns of wrong types; a header alone
    assert sound or name == "head file"


@pytest.mark.parametrize(("name", "example"), [(name, example) for name, of in BROKE_ONCE.items() for example in of])
def test_what_broke_once_is_refused(name, example, folder):
    reader = fuzz.READERS[name]
    path = fuzz.written(reader, example, folder)
    if name == "journal":
        assert reader.read(path) == []  # what follows the damage is done anew
    else:
        with pytest.raises(fuzz.NlgaugeError):
            reader.read(path)


@pytest.mark.slow  # a million calls, or as many as FUZZ_CALLS says
def test_much_damage_drawn_from_a_seed(seed, capsys):
    calls = int(fuzz.os.environ.get("FUZZ_CALLS", "20000"))
    kinds = fuzz.run(list(fuzz.READERS), calls, seed)
    assert kinds == 0, capsys.readouterr().out
