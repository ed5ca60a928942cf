"""The direction of scores made elsewhere: recorded, known by the name, or guessed aloud."""

import dataclasses
import hashlib
import subprocess
import sys
from contextlib import suppress
from typing import get_type_hints

import numpy as np
import pytest
from tests.gating.sides import BASE

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote_always
from nlgauge.io.scores import write_beside
from nlgauge.metrics.function import RatingColumn
from nlgauge.metrics.registry import METRICS, named, own_function
from nlgauge.metrics.stored import (
    BY_NAME,
    GUESSED,
    NEGATED,
    Direction,
    Stored,
    _is_choice,
    by_name,
    check_shipped,
    direction_of,
    metric_of_file,
)
from nlgauge.runtime.runtime import Runtime

RISING, FALLING = np.array([0.1, 0.9]), np.array([20.0, np.nan])


def test_what_is_recorded_counts_and_needs_no_word():
    assert direction_of("ter", FALLING, recorded=True) == Direction(True)
    assert direction_of("anything", FALLING, recorded=False) == Direction(False)


@pytest.mark.parametrize("name", ["ter", "TER", "ter:normalized=true", "WER", "perplexity", "MetricX-24", "TER-refA"])
def test_an_error_rate_falls_by_its_name(name):
    assert direction_of(name, FALLING) == Direction(False, BY_NAME)


def test_an_error_rate_that_was_negated_rises():
    assert direction_of("ter", -FALLING) == Direction(True, NEGATED)
    assert direction_of("ter", np.array([0.0, np.nan])) == Direction(False, BY_NAME)  # no errors, not negated ones


@pytest.mark.parametrize(
    "name",
    ["bleu", "chrF++", "bertscore:layer=5", "COMET", "BLEU-refA.refB", "xcomet-src", "0.5*ter + 0.5*bleu", "BLEURT"],
)
def test_a_known_metric_that_rises_needs_no_word(name):
    assert direction_of(name, RISING) == Direction(True)


@pytest.mark.parametrize(
    "name",
    [
        "mine",
        "InfoLM",
        "bertscore.precision",
        "human.adequacy",
        "scores",
        "a column, oddly named",
        "glossy",
        "people",
        "error",
    ],
)
def test_an_unknown_name_is_guessed_aloud(name):
    assert by_name(name) is None
    assert direction_of(name, RISING) == Direction(True, GUESSED)


@pytest.mark.parametrize(
    "name",
    [
        *("WER", "word error rate", "Character Error Rate", "extended edit distance", "characTER"),
        *("ppl", "PPL", "gpt2_ppl", "nll", "loss", "val_loss", "HTER", "hter-refA", "toxicity", "detoxify.toxicity"),
        *("error_rate", "phone error rate", "edit-distance", "log perplexity"),
    ],
)
def test_error_rates_are_known_by_other_names_too(name):
    assert by_name(name) is False


# --- Ratings of the data as metrics of a gate: pass flags of a log, means of several, and what is missing


def dataset(passed, name, runs=1):
    return ng.Dataset(
        tuple(
            Segment(
                f"{i}#{k}", f"{text} {name}", item=str(i), human={"pass": passed[i]} if passed[i] is not None else {}
            )
            for i, text in enumerate(BASE)
            for k in range(runs)
        )
    )


OLD = [float(i % 10 != 0) for i in range(60)]


def test_pass_flags_of_logs_are_a_rate():
    new = [0.0 if i % 3 == 0 else one for i, one in enumerate(OLD)]
    found = ng.gate(dataset(OLD, "a"), dataset(new, "b"), metrics="human.pass", allow=0.05)
    assert (found.verdict, found.rows[0]["method"], found.rows[0]["metric"]) == ("FAIL", "tango", "human.pass")
    assert found.metrics[0]["signature"].startswith("metric:human.pass|criterion:pass")


def test_an_error_is_never_a_zero():
    new = [None if i == 7 else one for i, one in enumerate(OLD)]
    found = ng.gate(dataset(OLD, "a"), dataset(new, "b"), metrics="human.pass", allow=0.3)
    assert found.verdict == "FAIL"
    assert "no score in NEW and had one in BASE (7)" in found.reasons[0]


def test_a_baseline_keeps_them(tmp_path):
    ng.gate(dataset(OLD, "a"), dataset(OLD, "a"), metrics="human.pass").save(tmp_path / "base.json")
    again = ng.gate(tmp_path / "base.json", dataset(OLD, "b"), metrics="human.pass", allow=0.1)
    assert (again.rows[0]["delta"], again.rows[0]["method"]) == (0, "worst-case")


def test_several_ratings_are_averaged():
    segments = [Segment("a", "x", human={"q": [1, 2]}), Segment("b", "y")]
    values = RatingColumn(criterion="q").score(segments, ng.Runtime()).values
    assert np.array_equal(values, [1.5, np.nan], equal_nan=True)


def test_a_column_that_is_not_there_names_those_that_are():
    with pytest.raises(ng.InputError, match="no text has a rating 'pas'; did you mean 'pass'"):
        ng.gate(dataset(OLD, "a"), dataset(OLD, "b"), metrics="human.pas")
    with pytest.raises(ng.InputError, match="there are no ratings"):
        ng.gate(["a"], ["b"], metrics="human.pass")


def test_other_metrics_stay_as_typed():
    assert [*named(["chrf", "human.pass", ng.metric("ter")], None)] == ["chrf", "human.pass", "ter"]
    with pytest.raises(ng.SpecError, match="named twice"):
        named(["human.pass", "human.pass"], None)


# --- What a file may name: metrics that run in this process on what ships. Nothing is opened to say so

SHIPPED = [
    "chrf", "BLEU", "chrf:word_order=2", "bleu:tokenize=intl", "bertscore", "bertscore:layer=5,idf=true,model=embedded",
    "0.3*nli + 0.7*bertscore", "0.5*chrf + 0.5*ter[norm=none]", "nli-robust", "nli:model=nli-robust",
    "sescore", "sescore:model=rated", "rated", "qbleu1", "qmetric:base=rougeL",
    "moverscore", "supert", "parent", "fluency", "blanc",
]  # fmt: skip
OTHERS = [
    'spice:jar="x.jar"', 'SPICE:jar="x.jar"', "0.5*chrf + 0.5*spice:jar=x",
    "bleurt", "comet", 'comet-qe:model="x"', "metricx", "metricx-qe", 'meteor15:jar="x.jar"', "spice",
    'scores:file="x.tsv"', 'blend:model="x.json"', 'beer:model="x.json"', 'sentinel:model="x"',
    "bertscore:model=roberta-large", 'bertscore:model="x"', "bartscore", 'bertscore:idf_file="x"',
    'bertscore:baseline="x"', "paper/bertscore", "paper/menli-d", 'greedy:vectors="x"', 'nli:model="x.safetensors"',
    "regressor:model=x", 'meteor:wordnet="x"', 'moverscore:stopwords="x"', 'qmetric:base="spice:jar=x"',
    '0.5*chrf + 0.5*ter[norm=file("x.json")]', "bleu:tokenize=flores200",
    # names of models that ship, where they would name a file or a model of the hub
    "bertscore:idf_file=nli", "bertscore:model=nli", "moverscore:stopwords=rated", "greedy:vectors=embedded",
    "meteor:wordnet=embedded", "nli:model=sescore", "nli:labels=nli", "bertscore:revision=embedded",
    "bertscore:lang=de", "bertscore:language=de",  # an encoder that is fetched
]  # fmt: skip


@pytest.mark.parametrize("spec", SHIPPED)
def test_what_ships_is_taken(spec):
    check_shipped(spec)
    assert metric_of_file(spec).info.name


@pytest.mark.parametrize("spec", OTHERS)
def test_everything_else_is_refused_in_one_line(spec):
    with pytest.raises(SpecError, match=r"stands in a file, and .*; a file may name only metrics that run on") as said:
        metric_of_file(spec)
    assert "\n" not in str(said.value)


def test_every_name_is_either_plainly_shipped_or_refused():
    """A metric that comes later with a path in its options is refused until somebody says otherwise."""
    for name in METRICS.entries:
        try:
            check_shipped(name)
        except SpecError as error:
            assert "stands in a file" in str(error)  # noqa: PT017 (most names pass)


def test_an_option_that_is_left_out_names_no_file_or_model_that_does_not_ship():
    """What a class has as its default is taken unseen, so that its texts stand here; add one only if it ships."""
    ship = {None, "", "{}", *"embedded nli nli-robust infill sescore rated bleu4 en english references".split()}
    for name in METRICS.entries:
        with suppress(SpecError):
            check_shipped(name)
            cls, _ = METRICS.lookup(name)
            hints = get_type_hints(cls)
            for field in dataclasses.fields(cls):
                if field.init and not _is_choice(hints[field.name]):
                    assert field.default in ship, (name, field.name)


def test_metrics_in_metrics_without_an_end_are_refused():
    spec = "chrf"
    for _ in range(20):
        spec = f"qmetric:base={quote_always('1*(' * 9 + '1*' + spec + ')' * 9)}"
        if len(spec) > 40_000:
            break
        metric_of_file(spec)
    with pytest.raises(SpecError, match="more than 10 brackets"):
        metric_of_file("1*(" * 5000)


def test_what_the_user_typed_is_no_leave_for_a_file(monkeypatch):
    def mine(hypothesis):
        return 1

    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    own_function(mine, "module:mine")
    with pytest.raises(SpecError, match="'mine' is no metric of this package"):
        check_shipped("mine")


def test_nothing_is_opened_started_or_imported_to_refuse(tmp_path):
    """An audit hook of Python sees every process, file and import; what Python's own machinery reads is let through."""
    (tmp_path / "planted.py").write_text("raise SystemExit('it ran')")
    code = f"""
import sys
import nlgauge.metrics.registry as registry
from nlgauge.metrics.stored import check_shipped
for name in registry.METRICS.entries:
    registry.METRICS.lookup(name)
seen = []
def hook(event, args):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "socket.connect"):
        seen.append((event, args))
    if event == "open" and {str(tmp_path)!r} in str(args[0]):
        seen.append((event, args[0]))
    if event == "import" and args[0] == "planted":
        seen.append((event, args[0]))
sys.path.insert(0, {str(tmp_path)!r})
sys.addaudithook(hook)
for spec in {[spec.replace('"x', f'"{tmp_path}/planted').replace("=x", "=planted") for spec in OTHERS]!r}:
    try:
        check_shipped(spec)
        seen.append(spec)
    except registry.SpecError:
        pass
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


# --- Scores of a file as a metric: joined by id, signed by the file's digest, used like any other

SEGMENTS = tuple(Segment(i, f"text {i}", ("reference",), system="s", item=i) for i in "abc")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("id\tcomet\terrors\nc\t0.3\t1\na\t0.1\t3\nb\t0.2\t2\n")
    return path


def values(spec):
    return ng.metric(spec).score(SEGMENTS, Runtime()).values


def test_a_column_is_joined_by_id_whatever_its_order(file):
    np.testing.assert_array_equal(values(f'scores:file="{file}",column=comet'), [0.1, 0.2, 0.3])


def test_the_column_may_be_left_out_where_there_is_one(file):
    file.write_text("id\tm\na\t1\nb\t2\nc\t3\n")
    np.testing.assert_array_equal(values(f'scores:file="{file}"'), [1, 2, 3])


def test_several_columns_need_a_name(file):
    with pytest.raises(InputError, match="2 columns of scores"):
        values(f'scores:file="{file}"')


def test_what_the_file_lacks_is_nan_and_counted(file):
    file.write_text("id\tm\na\t1\nb\t\n")
    scores = Stored(file=str(file)).score(SEGMENTS, Runtime())
    np.testing.assert_array_equal(scores.values, [1, np.nan, np.nan])
    assert scores.n_undefined == 2


def test_a_file_about_other_segments_is_refused(file):
    file.write_text("id\tm\nx\t1\n")
    with pytest.raises(
        InputError,
        match=r"no row of .*x.tsv fits any of 3 segments: its first is about segment 'x', the first segment is 'a'",
    ):
        Stored(file=str(file)).score(SEGMENTS, Runtime())


def test_the_digest_is_that_of_the_numbers_that_are_kept(file):
    metric = Stored(file=str(file), column="comet")
    before = metric.score(SEGMENTS, Runtime())
    file.write_text("id\tcomet\na\t7\nb\t8\nc\t9\n")
    again = metric.score(SEGMENTS, Runtime())
    assert again.values.tolist() == before.values.tolist()
    assert str(again.signature) == str(before.signature)  # it was that of the new file
    assert Stored(file=str(file), column="comet").score(SEGMENTS, Runtime()).values.tolist() == [7, 8, 9]


def test_an_error_rate_says_so(file):
    metric = ng.metric(f'scores:file="{file}",column=errors,higher_is_better=false')
    assert not metric.info.higher_is_better
    assert not metric.score(SEGMENTS, Runtime()).higher_is_better
    assert Stored.info.higher_is_better  # of the others


def test_the_signature_holds_the_digest_and_rebuilds_the_metric(file):
    metric = Stored(file=str(file), column="comet")
    signature = signature_of(metric, Runtime())
    assert hashlib.sha256(file.read_bytes()).hexdigest()[:16] in str(signature)
    assert ng.metric(signature.spec) == metric


def test_the_signature_is_one_however_the_path_is_written(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    spellings = (str(file), "x.tsv", "./x.tsv", f"../{file.parent.name}/x.tsv")
    signatures = {str(signature_of(Stored(file=name, column="comet"), Runtime())) for name in spellings}
    assert len(signatures) == 1
    assert "|file:x.tsv|" in signatures.pop()


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("scores", SpecError, "scores needs the option 'file'"),
        ('scores:file="nowhere.tsv"', InputError, "nowhere.tsv"),
        ('scores:file="x.tsv",higher_is_better=maybe', SpecError, "expected true or false"),
        ('scores:file="x.tsv",colunm=m', SpecError, "no option 'colunm'; did you mean 'column'"),
    ],
)
def test_what_cannot_be_read_is_refused(spec, error, message):
    with pytest.raises(error, match=message):
        values(spec)


def test_a_missing_column_is_refused_with_those_there_are(file):
    with pytest.raises(InputError, match=r"no column 'commet'.*'comet'"):
        values(f'scores:file="{file}",column=commet')


def test_no_name_is_no_file():
    with pytest.raises(SpecError, match="expected the name of a file"):
        Stored(file="")


def test_the_direction_is_what_stands_beside_the_file(file):
    write_beside(file, [{"spec": "comet", "signature": "x", "higher_is_better": False}])
    metric = Stored(file=str(file), column="comet")
    assert not metric.info.higher_is_better
    assert not metric.score(SEGMENTS, Runtime()).higher_is_better
    assert "|higher_is_better:false|" in str(signature_of(metric, Runtime()))
    assert metric.notes == ()
    assert Stored(file=str(file), column="comet", higher_is_better=True).info.higher_is_better


def test_without_that_the_name_decides_or_it_rises_and_both_are_said(file):
    file.write_text("id\twer\tmine\na\t0.5\t1\n")
    assert Stored(file=str(file), column="wer").notes == (
        "taken to fall with quality, as the name says; higher_is_better=true if it rises",
    )
    assert Stored(file=str(file), column="mine").notes == (
        "taken to rise with quality; higher_is_better=false if it falls",
    )
    spec = f'1*scores:file="{file}",column=mine[norm=none]'
    assert (
        ng.metric(spec).notes[0].endswith("column=mine: taken to rise with quality; higher_is_better=false if it falls")
    )


def test_each_system_may_have_a_file_of_numbers(tmp_path):
    segments = [Segment(f"{system}:{i}", "h", system=system, item=str(i)) for i in (1, 2) for system in "AB"]
    (tmp_path / "comet.A").write_text("0.25\n0.5\n")
    (tmp_path / "comet.B").write_text("0.75\n1\n")
    metric = Stored(file=str(tmp_path / "comet.{system}"))
    assert metric.score(segments, Runtime()).values.tolist() == [0.25, 0.75, 0.5, 1.0]
    before = str(signature_of(metric, Runtime()))
    assert "file:comet.{system}|" in before
    (tmp_path / "comet.B").write_text("0.75\n2\n")
    assert str(signature_of(Stored(file=metric.file), Runtime())) != before
    for name in ("C", "B.old"):  # of no system of these
        (tmp_path / f"comet.{name}").write_text("no number\n")
    assert Stored(file=metric.file).score(segments, Runtime()).values.tolist() == [0.25, 0.75, 0.5, 2]
    with pytest.raises(InputError, match=r"comet.C: the format cannot be told"):
        Stored(file=metric.file).score([Segment("C:1", "h", system="C", item="1")], Runtime())
    with pytest.raises(InputError, match=r"there are those of 'A', 'B', and no '.*comet.x/D'; one file of rows"):
        Stored(file=metric.file).score([*segments, Segment("D:1", "h", system="x/D", item="1")], Runtime())
    with pytest.raises(InputError, match=r"no file of such a name for any system"):
        Stored(file=str(tmp_path / "bleurt.{system}")).score(segments, Runtime())


@pytest.mark.parametrize("name", ["m.txt", "m.{system}"])
def test_a_file_of_numbers_has_a_line_for_each_text_and_no_more(tmp_path, name):
    path = tmp_path / name.replace("{system}", "s")
    path.write_text("1\n2\n")
    metric = Stored(file=str(tmp_path / name))
    texts = [Segment(f"id{i}", "h", system="s", item=str(i)) for i in (1, 2, 3)]
    assert metric.score(texts[:2], Runtime()).values.tolist() == [1, 2]
    assert (
        metric.unfit(texts[:1])
        == "the file of its numbers has more lines than there are texts, and may be that of others"
    )
    assert metric.unfit(texts[1:2]) is None  # a part of the texts, with the last of them
    with pytest.raises(InputError, match=r"has 2 lines, line i for item i, and none for segment 'id3' \(item '3'\)"):
        metric.score(texts, Runtime())


def rated_by(*given):
    return [
        ng.Segment(str(i), "x", human={"q": [x for _, x in own]}, raters={"q": tuple(who for who, _ in own)})
        for i, own in enumerate(given)
    ]


def test_ratings_keep_who_gave_them_and_z_needs_all_segments_at_once():
    segments = rated_by((("ann", 1), ("bob", 4)), (("ann", 3),), ())
    plain, z = RatingColumn(criterion="q"), RatingColumn(criterion="q.z")
    scores = plain.score(segments, ng.Runtime())
    assert scores.ratings == ((("ann", 1.0), ("bob", 4.0)), (("ann", 3.0),), ())
    assert scores.take([1]).ratings == ((("ann", 3.0),),)
    np.testing.assert_array_equal(scores.values, [2.5, 3, np.nan])
    assert (plain.pooled, z.pooled) == (False, True)
    found = z.score(segments, ng.Runtime())  # ann: mean 2, deviation sqrt 2
    np.testing.assert_allclose(found.values, [-(0.5**0.5), 0.5**0.5, np.nan])
    assert found.notes == (
        "q.z: raters who gave one rating or always the same are left out: 1 of 2, with 1 of 3 ratings (bob)",
    )


def test_z_of_nothing_says_what_is_left_out():
    with pytest.raises(
        InputError, match=r"^no text has a rating 'q\.z': q\.z: raters who gave one rating or always the same"
    ):
        RatingColumn(criterion="q.z").score(rated_by((("ann", 1),)), ng.Runtime())
    with pytest.raises(InputError, match=r"^no text has a rating 'p\.z'; known: q$"):
        RatingColumn(criterion="p.z").score(rated_by((("ann", 1),)), ng.Runtime())
