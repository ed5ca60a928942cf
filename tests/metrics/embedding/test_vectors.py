"""What a metric over one encoder says of itself comes from the options it was given, before any model is loaded."""

import csv
import gzip
import json
import math
from importlib.resources import files

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.embedding.vectors import ByEncoder, best_layer
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import known_writings

pytest.importorskip("tokenizers")


SPECS = ("bertscore", "cosine", "wmd")


@pytest.mark.parametrize("name", SPECS)
def test_the_layer_asked_for_is_the_one_that_is_read_from_one_source(name):
    runtime = Runtime()
    sources = [ng.metric(f"{name}:layer={layer}").vectors_of(runtime) for layer in (1, 2)]
    assert [list(source.values()) for source in sources] == [[(1,)], [(2,)]]
    assert sources[0].keys() == sources[1].keys()
    assert ng.metric(f"{name}:dtype=bfloat16").vectors_of(runtime).keys() != sources[0].keys()


@pytest.mark.parametrize("name", SPECS)
def test_a_text_that_the_model_does_not_read_is_named_with_the_model(name):
    metric = ng.metric(name)
    assert isinstance(metric, ByEncoder)
    assert metric.notes == locate("embedded", None).notes
    writings = {writing.script: writing for writing in known_writings()}
    assert metric.unread(writings["Latin"]) is None
    assert "the model reads English" in metric.unread(writings["Cyrillic"])


CAT, DOG, THE = 4937, 3899, 1996  # pieces of the embedded model, whose ends are 101 and 102


@pytest.fixture(scope="module")
def tokenizer():
    return TextTokenizer(locate("embedded"))


def test_by_hand(tokenizer):
    # three documents: "the" in all, "cat" twice (once doubled inside a document), "dog" in one
    table = vectors.from_documents(["the cat cat", "the cat", "the dog"], tokenizer)
    found = table.weights(np.array([THE, CAT, DOG, 101, 102, 7, 30_000, 10**9]))
    expected = [math.log(4 / 4), math.log(4 / 3), math.log(4 / 2), 0, 0, math.log(4), math.log(4), math.log(4)]
    assert table.n_documents == 3
    assert found == pytest.approx(expected, abs=1e-6)  # float32


@pytest.mark.parametrize("documents", [[], ["the only document"]])
def test_fewer_than_two_documents_are_refused(tokenizer, documents):
    # from one document every piece of it gets log(2/2) = 0, and every weighted mean 0/0
    with pytest.raises(InputError, match=f"at least two documents, found {len(documents)}.*idf_file=PATH"):
        vectors.from_documents(documents, tokenizer)


def test_the_table_is_that_of_bert_score(tokenizer):
    utils = pytest.importorskip("bert_score.utils")
    transformers = pytest.importorskip("transformers")
    documents = [
        "The cat sat on the mat.",
        "The cat sat.",
        "A dog, a cat!",
        "The cat sat on the mat.",
        "今天有雨。",
        "so " * 600,
    ]
    theirs = utils.get_idf_dict(
        documents, transformers.AutoTokenizer.from_pretrained(str(locate("embedded").folder)), nthreads=0
    )
    ours = vectors.from_documents(documents, tokenizer)
    pieces = np.arange(30_522)
    # float32 of numbers below 2: half a unit in the last place is 6e-8
    np.testing.assert_allclose(ours.weights(pieces), [theirs[int(p)] for p in pieces], atol=2e-7)


@pytest.mark.parametrize("name", ["documents.txt", "documents.txt.gz"])
def test_a_file_is_read_a_document_a_line(tokenizer, tmp_path, name):
    content = "the cat\n\n  \nthe dog\u2028still the same line\r\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    table = vectors.from_file(str(tmp_path / name), tokenizer)
    expected = vectors.from_documents(["the cat", "the dog still the same line"], tokenizer)
    assert table.n_documents == 2  # blank lines are no documents
    assert np.array_equal(table.values, expected.values)


def test_a_file_is_pinned_by_its_content_not_by_its_compression(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    (tmp_path / "c.txt").write_bytes(b"one\nthree\n")
    a, b, c = (vectors.file_identity(str(tmp_path / name)) for name in ("a.txt", "b.txt.gz", "c.txt"))
    assert a == b != c
    assert a == "sha256:c3f9c8c283a2b1f2"  # printf 'one\ntwo\n' | sha256sum | cut -c1-16


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.txt", None, "cannot read the idf documents"),
        ("latin.txt", b"caf\xe9\n", r"latin\.txt:1: not UTF-8 \(byte 3\)"),
        ("latin.txt", b"one\ntwo\ncaf\xe9", r"latin\.txt:3: not UTF-8"),
        ("broken.txt.gz", b"no gzip", "cannot read the idf documents"),
        ("cut.txt.gz", gzip.compress(b"one\ntwo\n" * 1000)[:-9], "cannot read the idf documents"),
        ("damaged.txt.gz", gzip.compress(b"one\ntwo\n" * 1000)[:12] + b"\xff" * 20, "cannot read the idf documents"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as refused:
        vectors.file_identity(str(tmp_path / name))
    assert "\n" not in str(refused.value)


def test_a_file_that_has_changed_is_read_again(tokenizer, tmp_path):
    path = tmp_path / "documents.txt"
    path.write_bytes(b"the cat\nthe dog\n")
    before = vectors.from_file(str(path), tokenizer).n_documents, vectors.file_identity(str(path))
    path.write_bytes(b"\xef\xbb\xbfthe cat\nthe dog\na mat\n")  # with a byte order mark, which is not part of the text
    assert vectors.from_file(str(path), tokenizer).n_documents == before[0] + 1
    assert vectors.file_identity(str(path)) != before[1]


TABLE = json.loads(files("nlgauge.data").joinpath("best_layers.json").read_text(encoding="utf-8"))["layers"]


@pytest.mark.parametrize(
    ("model", "depth", "layer"),
    [
        ("embedded", 6, 4),
        ("roberta-large", 24, 17),
        ("bert-base-uncased", 12, 9),
        ("FacebookAI/roberta-large", 24, 17),  # the owner is not in the table
        ("/models/roberta-large", 24, 17),
        ("google-bert/bert-base-uncased", 12, 9),
        ("microsoft/deberta-xlarge-mnli", 48, 40),
    ],
)
def test_known_models(model, depth, layer):
    assert best_layer(model, depth) == layer


@pytest.mark.parametrize(("depth", "layer"), [(12, 9), (24, 18), (6, 4), (4, 3), (3, 2), (2, 1), (1, 1), (0, 0)])
def test_an_unknown_model_is_matched_at_three_quarters_of_its_depth(depth, layer):
    # the paper found 9 of 12 for BERT base and 18 of 24 for BERT large; a model of one layer still runs it
    assert best_layer("someone/unknown", depth) == layer


def test_a_folder_of_a_known_name_but_less_depth_follows_the_rule():
    assert best_layer("/distilled/roberta-large", 6) == 4


def test_the_table_is_bert_scores():
    theirs = pytest.importorskip("bert_score.utils").model2layers
    assert {name: layer for name, layer in TABLE.items() if name not in ENCODERS} == theirs


ROWS = {0: (0.1, 0.2, 0.15), 4: (0.5, 0.25, 0.75)}


def test_baseline_by_hand():
    # (0.8 - 0.6) / 0.4, what unrelated text gets, identity, an empty text
    assert vectors.rescale(np.array([0.8, 0.6, 1, 0]), 0.6) == pytest.approx([0.5, 0, 1, -1.5])


def test_a_file_is_read_with_commas_or_tabs(tmp_path):
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        lines = [["LAYER", "P", "R", "F"], *([str(n), *map(str, row)] for n, row in ROWS.items())]
        (tmp_path / name).write_text("\n".join(mark.join(line) for line in lines), encoding="utf-8")
        found = vectors.find(str(tmp_path / name), "any", "xx")
        assert found.rows == ROWS
        assert found.identity.startswith("sha256:")
        assert found.at(4).tolist() == [0.5, 0.25, 0.75]


def test_a_file_of_a_spreadsheet_begins_with_a_byte_order_mark(tmp_path):
    (tmp_path / "a.csv").write_text(vectors.as_text(ROWS), encoding="utf-8-sig")
    assert vectors.find(str(tmp_path / "a.csv"), "any", "xx").rows == ROWS


def test_what_is_written_is_read_back_by_us_and_by_bert_score(tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_text(vectors.as_text(ROWS), encoding="utf-8")
    assert vectors.find(str(path), "any", "xx").rows == ROWS
    pandas = pytest.importorskip("pandas")
    # as bert_score 0.3.13 reads it: the row whose index is the layer, all columns but the first
    assert pandas.read_csv(path).iloc[0].to_numpy()[1:].tolist() == [0.1, 0.2, 0.15]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("LAYER,P,R\n0,1,2\n", r"baseline\.csv:2: expected the columns LAYER,P,R,F"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.1,much,0.3\n", r"baseline\.csv:3: expected"),
        ("LAYER,P,R,F\n1.5,0.1,0.2,0.3\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,0.2\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n", "no rows"),
        ("", "no rows"),
        ("LAYER,P,R,F\n0,nan,0.2,0.3\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3\n0,0.1,0.2,0.4\n", r"baseline\.csv:3: layer 0 for the second time"),
        (None, "cannot read baseline"),
        (b"\xff\xfe", "cannot read baseline"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "baseline.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as refused:
        vectors.find(str(path), "any", "en")
    assert "\n" not in str(refused.value)


def test_a_layer_without_a_row_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no layer 3, only 0, 4; make one with 'nlgauge train baseline'"):
        vectors.Baseline(ROWS, "own").at(3)


def test_a_baseline_of_one_or_more_would_turn_the_order_round():
    with pytest.raises(InputError, match=r"is 1\.000 at layer 0, expected below 1"):
        vectors.Baseline({0: (0.5, 1.0, 0.5)}, "own").at(0)


def test_bundled_baselines_are_bert_scores_own():
    bert_score = pytest.importorskip("bert_score")
    from pathlib import Path

    folder = Path(bert_score.__file__).parent / "rescale_baseline"
    checked = 0
    for path in sorted(folder.glob("*/**/*.tsv")):
        language, name = (
            path.relative_to(folder).parts[0],
            "/".join(path.relative_to(folder).parts[1:]).removesuffix(".tsv"),
        )
        with path.open(encoding="utf-8") as file:
            theirs = {int(row["LAYER"]): tuple(float(row[c]) for c in "PRF") for row in csv.DictReader(file)}
        assert vectors.find(None, name, language).rows == theirs
        checked += 1
    assert checked == sum(1 for (_, name) in vectors._bundled() if name not in ENCODERS)


def test_a_model_is_found_by_its_last_name_too():
    known = vectors.find(None, "roberta-large", "en")
    assert vectors.find(None, "FacebookAI/roberta-large", "en") == known
    assert known.identity == "en/roberta-large"


def test_a_model_without_a_baseline_is_refused_with_a_way_out():
    # bert_score leaves the values unscaled there and says "rescaled" in its signature
    with pytest.raises(
        InputError,
        match=(
            r"no baseline comes with the package for model 'my-model' .*nlgauge train baseline TEXTS --model my-model"
        ),
    ):
        vectors.find(None, "my-model", "en")
    with pytest.raises(InputError, match=r"language 'fr'; bundled for it: en;"):
        vectors.find(None, "embedded", "fr")


@pytest.mark.parametrize(("name", "depth"), [("embedded", 6), ("multilingual", 12)])
def test_a_baseline_of_our_own_has_every_layer_below_one(name, depth):
    found = [one for (_, model), one in vectors._bundled().items() if model == name]
    for rows in (one.rows for one in found):
        assert sorted(rows) == list(range(depth + 1))
        assert all(0 < value < 1 for row in rows.values() for value in row)
    assert files("nlgauge.data").joinpath("baselines", "nlgauge.tsv").is_file()


def test_the_multilingual_baseline_is_that_of_the_language():
    german = vectors.find(None, "multilingual", "de")
    assert german.identity == "de/multilingual" != vectors.find(None, "multilingual", "en").identity
    with pytest.raises(InputError, match=r"language 'ja'; bundled for it: cs, de, en, .*nlgauge train baseline TEXTS"):
        vectors.find(None, "multilingual", "ja")


def test_a_lone_carriage_return_is_told_in_one_line(tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_bytes(b"LAYER,P,R,F\n0,1\r2,3,4\n")
    with pytest.raises(InputError, match=r"baseline\.csv: .*; expected LAYER,P,R,F") as told:
        vectors.find(str(path), "any", "xx")
    assert "\n" not in str(told.value)
