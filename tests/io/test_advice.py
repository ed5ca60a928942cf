"""What an error offers of columns with other names can be pasted, and is no label, number, path or address."""

from __future__ import annotations

import json
import re
import shlex

import pytest

import nlgauge as ng
from nlgauge.cli.options import columns_of
from nlgauge.core.errors import InputError
from nlgauge.io.advice import advice, lacks
from nlgauge.io.read import open_data

PROMPT = "[gpt, temp=0] Say {{it}}"
SETS = {  # the rows, and what is offered
    "answers": (
        [
            {"question": "Who is it?", "answer": "Ann", "golds": "Ann Lee", "correct": 1},
            {"question": "Where?", "answer": "in Rome", "golds": "Rome", "correct": 0},
        ],
        "hyp=answer,ref=golds,src=question,human.correct=correct",
    ),
    "a constant": (
        [
            {"prompt": "v1", "completion": "a b", "gold": "c"},
            {"prompt": "v1", "completion": "d e", "gold": "f"},
        ],
        "hyp=completion,ref=gold",
    ),
    "speech": ([{"audio_filepath": "x.wav", "s": 1.5, "text": "a b", "pred_text": "a"}], "hyp=pred_text,ref=text"),
    "pictures": (
        [{"image": "https://a.org/1", "file": "d/1.png", "caption": "a cat", "references": ["a cat sat", "a pet"]}],
        "hyp=caption,ref=references",
    ),
    "labels": (
        [{"verdict": word, "mood": tone, "said": f"text {word} {tone}"} for word in ("PASS", "FAIL") for tone in "xy"],
        "hyp=said",
    ),
    "commas": (
        [
            {"nr": "7", "expected": "b c", PROMPT: "b d", f"{PROMPT} - Status": "PASS", f"{PROMPT} - Score": "1"},
            {"nr": "8", "expected": "c c", PROMPT: "c d", f"{PROMPT} - Status": "PASS", f"{PROMPT} - Score": "1"},
        ],
        f'hyp="{PROMPT}",ref=expected',
    ),
    "an object": (
        [{"question": "Who?", "prediction_text": "", "answers": {"text": ["Ann"], "answer_start": [3]}}],
        "hyp=prediction_text,ref=answers.text,src=question",
    ),
    "a passage": (
        [{"context": "It is late.", "question": "Why?", "answer": "late", "gold": "it is late"}],
        "hyp=answer,ref=gold,src=context",
    ),
    "systems": (
        [{"url": "http://a/b", "bart": "a b", "t5": "c d", "highlights": "e f", "article": "e f g"}],
        "hyp=bart,hyp=t5,ref=highlights,src=article",
    ),
    "no texts": ([{"x": 1, "id": "a1", "lang": "en", "path": "a/b.txt"}], ""),
    "nothing": ([{}], ""),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_texts_are_offered_and_nothing_else(name):
    rows, wanted = SETS[name]
    _, _, option = advice(rows).partition(" give ")
    words = shlex.split(option.removesuffix(" (each hyp is a system)"))
    assert words == (["--columns", wanted] if wanted else [])


@pytest.mark.parametrize("name", [name for name, (_, wanted) in SETS.items() if wanted])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_what_an_error_offers_is_read_when_it_is_pasted(tmp_path, name, form):
    rows, _ = SETS[name]
    if form == "csv":
        flat = all(type(value) in (str, int, float) for row in rows for value in row.values())
        if not flat or "context" in rows[0]:  # which cells of CSV cannot hold
            return
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(rows).to_csv(tmp_path / "d.csv", index=False)
    else:
        (tmp_path / "d.json").write_text(json.dumps(rows))
    path = tmp_path / f"d.{form}"
    with pytest.raises(InputError) as error:
        ng.read(path)
    typed = re.search(r"give (--columns .*?)(?: \(each hyp is a system\))?(?:; \d+ rows are bad.*)?$", str(error.value))
    columns = columns_of(shlex.split(typed[1])[1:])
    assert len(open_data(path, columns=columns).dataset()) == len(rows) * typed[1].count("hyp=")


@pytest.mark.parametrize("name", [name for name, (_, wanted) in SETS.items() if wanted])
def test_what_python_is_offered_is_read(name):
    pandas = pytest.importorskip("pandas")
    rows, wanted = SETS[name]
    frame = pandas.DataFrame(rows)
    with pytest.raises(InputError) as error:
        ng.read(frame)
    columns = eval(re.search(r"give columns=({.*})", str(error.value))[1])
    assert len(ng.read(frame, columns=columns)) == len(rows) * wanted.count("hyp=")


@pytest.mark.parametrize(
    ("row", "columns", "told"),
    [
        ({"prediction": "a b", "answer": "a c", "n": 1}, {}, "'answer' holds them, give --columns ref=answer"),
        ({"output": "a b", "golden": "a c"}, {}, "'golden' holds them, give --columns ref=golden"),
        ({"out": "a b", "target": "c"}, {"hyp": "out"}, "give --columns hyp=out,ref=target"),
        ({"hyp": "a b", "what we want": "c", "n": 1}, {}, "give --columns 'ref=what we want'"),
        ({"hyp": "a b", "one": "c", "other": "d"}, {}, ""),
        ({"hyp": "a b", "ref, mine": "c"}, {}, "give --columns 'ref=\"ref, mine\"'"),
        ({"hyp": "a b", "ref_len": "3", "target_lang": "de"}, {}, ""),
        ({"hyp": "a b", "gold": ["a c", "b c"]}, {}, "give --columns ref=gold"),
    ],
)
def test_a_column_that_may_hold_missing_references_is_named(row, columns, told):
    found = lacks([row], columns).get("references", "")
    assert (told in found) if told else not found
