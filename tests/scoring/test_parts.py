from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.scoring.runs import files_of, one_by_one

from nlgauge.core import options
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import rounds
from nlgauge.core.scores import mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.io.read import open_data, read
from nlgauge.io.segments import TableSource
from nlgauge.io.spans import Inputs, cut
from nlgauge.metrics.learned.linear import Blend, LinearModel, Term
from nlgauge.metrics.learned.ruber import Ruber
from nlgauge.metrics.lexical.sacrebleu import ChrF
from nlgauge.metrics.likelihood import Perplexity
from nlgauge.metrics.registry import list_metrics, metric, named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.pool import Counts, Incidence, Pool
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import ComparisonOptions, score_source
from nlgauge.scoring.parts import (
    PLAN,
    ROWS,
    STATS,
    SUMS,
    About,
    Gathered,
    Recorded,
    Scorer,
    Settled,
    _finish_of,
    gather,
    gathered_path,
    make_plan,
    merge,
    metrics_of,
    read_plan,
    read_signature,
    rows_path,
    settled_path,
    sums_of,
    sums_path,
    texts_path,
)
from nlgauge.scoring.workers import progress_of, score_in_parts

parquet = pytest.importorskip("pyarrow.parquet")


PLAN_ROWS = [{"id": f"i{i}", "system": None if i % 2 else "s", "hyp": f"h {i // 2}", "refs": ["h"]} for i in range(10)]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in PLAN_ROWS))
    return path


def plan_of(data, metric="chrf", rows=4):
    return make_plan(Inputs(str(data)), named([metric]), Runtime(), rows=rows)


def test_a_plan_counts_rows_parts_and_distinct_segments(data):
    plan = plan_of(data)
    assert [part.span.rows for part in plan.parts] == [4, 4, 2]
    assert (plan.summary.n, plan.distinct) == (10, 5)
    assert plan.summary.systems == {"s": 5, None: 5}


def test_texts_of_another_source_are_another_segment(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [{"id": str(i), "hyp": "h", "refs": ["r"], "src": src} for i, src in enumerate("aba")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = plan_of(path)
    assert (plan.distinct, plan.texts) == (2, 4)  # a and b with the same texts; h, r, a, b


def test_rows_of_a_table_are_read_once(data, monkeypatch):
    monkeypatch.setattr(TableSource, "blocks", None)  # which checks first, and then reads again
    assert plan_of(data).summary.n == 10


def test_a_plan_comes_back_from_its_file(data, tmp_path):
    plan = plan_of(data)
    plan.write(tmp_path)
    again = read_plan(tmp_path)
    assert again.parts == plan.parts
    assert again.summary.systems == plan.summary.systems
    assert (again.signatures, again.stamps, again.inputs) == (plan.signatures, plan.stamps, plan.inputs)


def test_parts_take_other_names_with_other_metrics_texts_and_sizes(data):
    names = {part.name for part in plan_of(data).parts}
    assert {part.name for part in plan_of(data).parts} == names
    assert names.isdisjoint(part.name for part in plan_of(data, "chrf:word_order=2").parts)
    assert names.isdisjoint(part.name for part in plan_of(data, rows=5).parts)
    without = make_plan(Inputs(str(data), exclude=("s",)), named(["chrf"]), Runtime(), rows=4)
    whole = plan_of(data)
    assert [part.span for part in without.parts] == [part.span for part in whole.parts]  # the same rows are read
    assert names.isdisjoint(part.name for part in without.parts)
    renamed = make_plan(Inputs(str(data), columns={"src": "system"}), named(["chrf"]), Runtime(), rows=4)
    assert names.isdisjoint(part.name for part in renamed.parts)
    half = make_plan(Inputs(str(data)), named(["chrf"]), Runtime(dtype="float16"), rows=4)
    assert names.isdisjoint(part.name for part in half.parts)
    data.write_text(data.read_text().replace("h 4", "g 4"))
    assert names.isdisjoint(part.name for part in plan_of(data).parts)


def test_texts_in_other_roles_and_metrics_in_another_order_are_other_runs(data, tmp_path):
    """Rows name systems after their files, and the statistics of a part are kept in the order of the metrics."""
    for name in ("one", "two", "three", "renamed"):
        (tmp_path / name).write_text("two\n" if name == "renamed" else f"{name}\n")
    one, two, three, renamed = (str(tmp_path / name) for name in ("one", "two", "three", "renamed"))
    inputs = [
        Inputs(hypotheses=(one,), references=(two, three)),
        Inputs(hypotheses=(one, two), references=(three,)),
        Inputs(hypotheses=(one, renamed), references=(three,)),
        Inputs(hypotheses=(one,), references=(two,), source=three),
    ]
    plans = [make_plan(one, named(["chrf"]), Runtime(), rows=100) for one in inputs]
    plans += [
        make_plan(Inputs(str(data)), named(metrics), Runtime(), rows=99) for metrics in (["chrf", "ter"], ["ter"])
    ]
    plans += [make_plan(Inputs(str(data)), named(["ter", "chrf"]), Runtime(), rows=99)]
    assert len({plan.parts[0].digest for plan in plans}) == len(plans)


def test_what_is_odd_about_texts_stands_in_the_plan(data):
    odd = data.read_text().replace('"h 1"', '"the road is closed"')
    data.write_text(odd.replace('"refs"', '"src": "the road is closed", "refs"'))
    assert any("a hypothesis that is its source" in note for note in plan_of(data).summary.notes)


def test_a_pooled_metric_that_does_not_say_how_parts_are_merged_is_refused(data, monkeypatch):
    monkeypatch.delattr("nlgauge.metrics.lexical.ngrams.Cider.rounds")
    for spec in ("cider", "0.5*cider + 0.5*chrf"):
        with pytest.raises(InputError, match=r"cider.* depends on all segments at once, and does not say how"):
            plan_of(data, spec)


def test_a_field_that_is_lacking_is_refused_before_anything_is_scored(data):
    with pytest.raises(InputError, match="summac needs source; segment 'i0' has none"):
        plan_of(data, "summac")


def test_texts_that_change_while_the_plan_is_made_are_refused(tmp_path, monkeypatch):
    paths = [tmp_path / "hyp", tmp_path / "ref"]

    def late(inputs, rows):
        spans = cut(inputs, rows)
        for path in paths:
            path.write_text("one\ntwo\n")
        return spans

    for path in paths:
        path.write_text("one\n")
    monkeypatch.setattr("nlgauge.scoring.parts.cut", late)
    inputs = Inputs(hypotheses=(str(paths[0]),), references=(str(paths[1]),))
    with pytest.raises(InputError, match="hyp changed while it was being read; run again when it is complete"):
        make_plan(inputs, named(["chrf"]), Runtime(), rows=4)


def test_a_file_that_changed_is_refused(data):
    plan = plan_of(data)
    plan.check_unchanged()
    data.write_text(data.read_text() + "\n")
    with pytest.raises(InputError, match="is not what it was when the plan was made"):
        plan.check_unchanged()


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"summary": {"systems": 3}}'])
def test_another_file_is_no_plan(tmp_path, content):
    (tmp_path / PLAN).write_bytes(content)
    with pytest.raises(InputError, match="is no plan"):
        read_plan(tmp_path)


def test_a_file_is_no_folder_of_a_run(data):
    with pytest.raises(InputError, match=r"data\.jsonl holds no plan\.json"):
        read_plan(data)


def test_systems_that_cannot_be_compared_are_refused_before_anything_is_scored(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [{"system": s, "seg": i, "hyp": "h", "ref": "h"} for s, items in (("A", "12"), ("B", "13")) for i in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = Inputs(str(path)), named(["chrf"]), Runtime()
    assert make_plan(*asked, rows=4, comparison=ComparisonOptions(intervals=True)).summary.n == 4
    with pytest.raises(InputError, match="system 'B' lacks item '2', which 'A' has"):
        make_plan(*asked, rows=4, comparison=ComparisonOptions(test="bootstrap"))
    with pytest.raises(InputError, match="baseline 'C' is not among the systems"):
        make_plan(*asked, rows=4, comparison=ComparisonOptions(test="bootstrap", baseline="C"))


# --- Metrics that depend on all segments: in parts they get the statistics of all, and the scores of one piece

WORDS = "the cat sat on a red mat while two dogs ran over green hills and slept".split()


@pytest.fixture
def gather_data(tmp_path):
    """Two systems with the same items, so that references stand twice; some texts are empty."""
    rng = np.random.default_rng(5)
    path = tmp_path / "data.jsonl"
    rows = []
    for system in "ab":
        for i in range(9):
            item = np.random.default_rng(i)
            refs = [" ".join(item.choice(WORDS, 5)) for _ in range(2)]
            hyp = "" if (system, i) == ("a", 2) else " ".join(rng.choice(WORDS, 6))
            rows.append({"id": f"{system}{i}", "system": system, "seg": f"i{i}", "hyp": hyp, "refs": refs})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def backwards(plan, folder, parts):
    """An engine whose parts come last first, each from a process of its own."""
    for part in reversed(parts):
        yield Scorer(plan, folder).score(part)


def check(data, folder, metrics, runtime=None, atol=1e-12, **how):
    """Scores, rows and signatures in parts of four rows are those of one piece."""
    runtime = runtime or Runtime()
    plan = make_plan(Inputs(str(data)), named(metrics), runtime, rows=4)
    found = score_in_parts(plan, folder, one_by_one, runtime, ComparisonOptions(**how))
    values = {spec: [] for spec in metrics}
    keep = lambda block, scores: [values[spec].extend(one.values) for spec, one in scores.items()]  # noqa: E731
    wanted = score_source(open_data(data), metrics, ComparisonOptions(**how), runtime=runtime, on_block=keep).result()
    assert found.metrics == wanted.metrics
    for row, other in zip(found.rows, wanted.rows, strict=True):
        for name, value in other.items():
            assert row[name] == (pytest.approx(value, rel=1e-9, abs=atol) if isinstance(value, float) else value)
    tables = [parquet.ParquetFile(rows_path(folder, part)).read() for part in plan.parts]
    for spec, column in values.items():
        rows = np.concatenate([table.column(spec).to_numpy(zero_copy_only=False) for table in tables])
        np.testing.assert_allclose(rows, column, rtol=1e-9, atol=atol)
    return plan


@pytest.mark.parametrize(
    "metric",
    [
        "cider",
        "distinct:ngram=2",
        "self_bleu",
        "nist",
        "nist:information=call",
        "yisi0",
        "qnist",
        "0.5*bleu + 0.5*chrf[norm=zscore]",
        "0.5*cider + 0.5*(0.3*bleu + 0.7*yisi0)",
        "0.5*(1*bleu + 1*yisi0[norm=none]) + 0.5*ter",
    ],
)
def test_scores_of_words_are_those_of_one_piece(gather_data, tmp_path, metric):
    check(gather_data, tmp_path / "run", [metric, "chrf"])


def test_comparison_takes_what_the_parts_keep(gather_data, tmp_path):
    check(gather_data, tmp_path / "run", ["nist"], test="bootstrap", draws=20)


@pytest.mark.parametrize(
    "metric",
    [
        "bertscore:idf=true,model={}",
        "yisi1:model={}",
        "sentsim:model={}",
        "0.5*moverscore:idf=true,model={} + 0.5*bertscore:model={}",
        "0.5*matching:idf=both,model={} + 0.5*chrf[norm=none]",
        "baryscore:idf=true,model={}",
    ],
)
def test_scores_of_models_are_those_of_one_piece(gather_data, tmp_path, tiny_model, metric):
    pytest.importorskip("torch")
    spec = metric.replace("{}", quote(str(tiny_model("bert"))))
    check(
        gather_data, tmp_path / "run", [spec], Runtime(device="cpu"), atol=1e-5
    )  # float32, in batches of other shapes


def test_terms_of_a_sum_are_scored_in_one_pass_alone(gather_data, tmp_path, tiny_model, monkeypatch):
    """Their scores are kept; the pass that writes rows encodes nothing."""
    from nlgauge.metrics.embedding.bertscore import BertScore

    calls = []
    score = BertScore.score
    spy = lambda self, segments, runtime: calls.append(len(segments)) or score(self, segments, runtime)  # noqa: E731
    monkeypatch.setattr(BertScore, "score", spy)
    spec = f"0.5*bertscore:model={quote(str(tiny_model('bert')))} + 0.5*chrf"
    plan = make_plan(Inputs(str(gather_data)), named([spec]), Runtime(), rows=9)
    score_in_parts(plan, tmp_path / "run", one_by_one, Runtime())
    assert [n for n in calls if n] == [9, 9]


def test_parts_without_a_segment_that_is_left_have_no_kept_scores(gather_data, tmp_path, tiny_model):
    """The first two parts are of the system that is left out alone."""
    pytest.importorskip("torch")
    inputs = Inputs(str(gather_data), exclude=("a",))
    spec = f"0.5*bertscore:model={quote(str(tiny_model('bert')))} + 0.5*chrf"
    plan = make_plan(inputs, named([spec]), Runtime(), rows=4)
    assert [row["n"] for row in score_in_parts(plan, tmp_path / "run", one_by_one, Runtime()).rows] == [9]


def test_what_a_part_gathers_is_in_the_order_of_the_metrics(gather_data):
    """The hashes of texts differ between processes, and the order of a set with them."""
    specs = ["cider", "nist", "yisi0", "qnist", "nist:max_ngram_order=2", "cider:clip=false", "cider:sigma=none"]
    for order in (specs, specs[::-1]):
        pool = Pool()
        gather(named(order), read(gather_data).segments[:9], Runtime(), pool)
        told = [f"{name}" for name in pool.gathered]
        alone = []
        for spec in order:
            one = Pool()
            gather(named([spec]), read(gather_data).segments[:9], Runtime(), one)
            alone += one.gathered
        assert told == list(dict.fromkeys(alone))


METRIC = "0.5*cider + 0.5*yisi0"  # two passes


@pytest.fixture
def plan(gather_data):
    return make_plan(Inputs(str(gather_data)), named([METRIC]), Runtime(), rows=4)


def test_the_bytes_do_not_depend_on_the_order_of_the_work(plan, tmp_path):
    score_in_parts(plan, tmp_path / "one", one_by_one, Runtime())
    score_in_parts(plan, tmp_path / "other", backwards, Runtime())
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    assert plan.passes == len(json.loads((tmp_path / "one" / PLAN).read_text())["pools"]) == 2


@pytest.mark.parametrize("after", [1, 10, 14])
def test_a_run_that_was_killed_in_any_pass_goes_on(plan, tmp_path, after):
    """Five parts in two passes, and then their scores."""
    left = after

    def killed(plan, folder, parts):
        nonlocal left
        for n in one_by_one(plan, folder, parts):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            yield n

    with pytest.raises(KeyboardInterrupt):
        score_in_parts(plan, tmp_path / "killed", killed, Runtime())
    found = progress_of(tmp_path / "killed")
    assert (found.pass_now, found.parts_done) == ((after // 5 + 1) % 3, after % 5 + 1)
    score_in_parts(plan, tmp_path / "killed", one_by_one, Runtime())
    score_in_parts(plan, tmp_path / "whole", one_by_one, Runtime())
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")


def test_damaged_files_are_made_again(plan, tmp_path):
    run = tmp_path / "run"
    score_in_parts(plan, run, one_by_one, Runtime())
    before = files_of(run)
    gathered_path(run, 1, plan.parts[0]).write_bytes(b"")
    rows_path(run, plan.parts[1]).write_bytes(b"PAR1")
    gathered_path(run, 2, plan.parts[3]).write_bytes(b"0" * 99)
    texts_path(run, "first-references", plan.parts[2]).write_text("[]")
    settled_path(run, 1).write_bytes(b"0" * 99)
    sums_path(run, plan.parts[2]).write_bytes(b"{")
    sums_path(run, plan.parts[3]).unlink()
    assert [sums_of(run, part) is None for part in plan.parts] == [False, True, True, True, False]
    score_in_parts(plan, run, one_by_one, Runtime())
    assert files_of(run) == before


def test_statistics_that_were_changed_are_refused(plan, tmp_path):
    def forgetful(plan, folder, parts):
        if len(plan.pools) == 1:
            settled_path(folder, 1).write_bytes(b"0" * 99)
        yield from one_by_one(plan, folder, parts)

    with pytest.raises(InputError, match=r"1\.bin was changed; run the same command again"):
        score_in_parts(plan, tmp_path / "run", forgetful, Runtime())


def test_a_part_that_vanishes_in_a_pass_is_named(plan, tmp_path):
    def forgetful(plan, folder, parts):
        yield from one_by_one(plan, folder, parts)
        gathered_path(folder, 1, plan.parts[1]).unlink()

    with pytest.raises(InputError, match=r"pass 1 of part-000001-[0-9a-f]{16} is not done"):
        score_in_parts(plan, tmp_path / "run", forgetful, Runtime())


def test_what_a_pool_as_a_whole_lacks_is_refused(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"system": s, "hyp": "a", "refs": ["b"]}) + "\n" for s in "aab"))
    plan = make_plan(Inputs(str(path)), named(["cider"]), Runtime(), rows=1)
    with pytest.raises(InputError, match="cider needs at least two segments of system 'b', found 1"):
        score_in_parts(plan, tmp_path / "run", one_by_one, Runtime())


def gathered(keys, words):
    return Gathered({"n": Counts(2, {"a": 1, ("a", "b"): 2})}, {"d": Incidence.of("r", keys, words)}, {}, {}, {})


def test_documents_that_stand_in_two_parts_count_once():
    one, two = gathered([b"x", b"y"], [["a", "b"], ["b"]]), gathered([b"y", b"z", b""], [["b"], ["b", "c"], ["c"]])
    found = merge([one, two])
    assert found.counts["d"] == Counts(4, {"a": 1, "b": 3, "c": 2})  # the second document b is not counted again
    assert found.counts["n"] == Counts(4, {"a": 2, ("a", "b"): 4})


def test_scales_are_saved_as_in_one_piece(gather_data, tmp_path):
    bounds = [tmp_path / name for name in ("parts.json", "whole.json")]
    plan = make_plan(Inputs(str(gather_data)), named([METRIC]), Runtime(), rows=4)
    score_in_parts(plan, tmp_path / "run", one_by_one, Runtime(), save_norm=str(bounds[0]))
    score_source(open_data(gather_data), [METRIC], save_norm=str(bounds[1]))
    found, wanted = (json.loads(path.read_text())["bounds"] for path in bounds)
    assert {key: pytest.approx(pair) for key, pair in wanted.items()} == found


def in_parts(metric, segments, size=4):
    """Scores of parts by the passes of a run, without its files."""
    parts, known = [segments[i : i + size] for i in range(0, len(segments), size)], Settled()
    for number in range(metric.rounds):
        pools = [Pool(number, known.statistics) for _ in parts]
        found = [gather({"": metric}, part, Runtime(), pool) for part, pool in zip(parts, pools, strict=True)]
        known = known.joined(merge(found))
    pool = Pool(metric.rounds, known.statistics)
    return np.concatenate([score_segments({"": metric}, part, Runtime(pool=pool))[""].values for part in parts])


@pytest.fixture
def segments(gather_data):
    query = ({"speaker": "A", "text": "where is the cat"},)
    return [replace(segment, context=query) for segment in read(gather_data).segments]


def test_ruber_is_scaled_over_all_parts(segments, tiny_regressor, tiny_model):
    pytest.importorskip("torch")
    head = str(tiny_regressor(features="hyp,src,hyp*src,|hyp-src|", low="0", high="1"))
    metric = Ruber(model=head, encoder=str(tiny_model("bert")))
    wanted = metric.score(segments, Runtime()).values
    np.testing.assert_allclose(in_parts(metric, segments), wanted, atol=1e-4)  # a narrow scale spreads float32
    assert 0 in wanted  # one response is empty


def test_blend_takes_what_its_terms_take(segments, tmp_path):
    path = tmp_path / "blend.json"
    terms = (Term("yisi0", 0.5, 0.3, 0.1), Term("chrf", 0.5, 40.0, 10.0))
    path.write_text(LinearModel("blend", terms, 0.1, {"criterion": "da", "low": -2.5}).text())
    metric = Blend(model=str(path))
    np.testing.assert_allclose(in_parts(metric, segments), metric.score(segments, Runtime()).values, rtol=1e-12)


def test_every_pooled_metric_of_nlgauge_can_be_scored_in_parts():
    """Those that cannot be made without an option are tried above."""
    for name in list_metrics():
        with suppress(SpecError):
            built = metric(name)
            assert not built.pooled or rounds(built) or name == "compression", name  # gzip reads all at once


# --- Stand-ins for metrics that only a folder names: what they say, how they add up, and that they score nothing

SIGNED = "metric:spice|jar:x.jar|a:b:c|nlgauge:0.1.0"


def recorded(**about):
    return Recorded(read_signature("spice:jar=x", SIGNED), About(0.0, None, False, **about), mean_of_defined)


def test_a_signature_is_read_back_to_the_letter():
    assert str(read_signature("spice:jar=x", SIGNED)) == SIGNED
    assert dict(read_signature("s", SIGNED).entries)["a"] == "b:c"


def test_it_says_what_the_plan_says():
    one = recorded(parts={"p": True}, notes=("n",))
    assert (one.info.range, one.info.higher_is_better, one.info.parts) == ((0.0, np.inf), False, {"p": True})
    assert one.notes == ("n",)
    assert About.of(metric("ter")).higher_is_better is False
    assert About.of(metric("perplexity:model=x")).high is None


def test_it_scores_no_segment():
    assert len(recorded().score([], Runtime())) == 0
    with pytest.raises(InputError, match="spice:jar=x stands in the folder of a run; type the metric"):
        recorded().score([Segment("1", "a", ("b",))], Runtime())


def test_totals_become_a_number_by_the_rule_of_the_class_where_it_needs_no_object():
    # exp(total surprise / pieces): exp(2 / 4)
    finish = _finish_of("perplexity:model=somewhere")
    assert finish is Perplexity.corpus
    assert finish(np.array([2.0, 4.0])) == pytest.approx(np.exp(0.5))
    assert _finish_of("bertscore:model=somewhere") is mean_of_defined
    assert _finish_of("chrf") is mean_of_defined  # its rule has options: such a metric is made, for it ships
    assert isinstance(metric("chrf"), ChrF)
    assert _finish_of("my.module:Class") is mean_of_defined


@pytest.mark.parametrize("spec", ["planted", "0.5*chrf + 0.5*planted", "qmetric:base=planted"])
@pytest.mark.parametrize("encoder", ["embedded", "base"])
def test_a_plan_loads_no_plug_in_whatever_its_encoder(monkeypatch, spec, encoder):
    class Point:
        name, dist = "planted", None

        def load(self):
            raise SystemExit("it ran")

    monkeypatch.setattr(options.metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.metrics" else [])
    about = About(0.0, 1.0, True)
    plan = SimpleNamespace(signatures={spec: f"metric:{spec}|nlgauge:0.1.0"}, about={spec: about}, encoder=encoder)
    found = metrics_of(plan)[spec]
    assert (type(found), found.about) == (Recorded, about)


def test_what_ships_is_made_on_the_encoder_of_the_plan():
    specs = ["chrf", "bertscore", "qmetric:base=bertscore"]
    plan = SimpleNamespace(
        signatures={spec: f"metric:{spec}|model:base|nlgauge:0.1.0" for spec in specs},
        about=dict.fromkeys(specs, About(None, 1.0, True)),
        encoder="embedded",
    )
    assert metrics_of(plan) == {spec: metric(spec) for spec in specs}
    plan.encoder = "base"  # which does not ship: its numbers are read, and no model is opened
    on_base = metrics_of(plan)
    assert on_base["chrf"] == metric("chrf")
    assert {type(on_base[spec]) for spec in specs[1:]} == {Recorded}
    assert str(on_base["bertscore"].signature) == plan.signatures["bertscore"]


def test_a_part_is_its_rows_and_their_sums(tmp_path):
    """Five words of which three are right: per is 0.4; an identical text: 0."""
    rows = [
        {"id": "a", "system": "s", "hyp": "one two three four five", "refs": ["one two three x y"]},
        {"id": "b", "system": "s", "hyp": "one", "refs": ["one"]},
        {"id": "c", "system": "t", "hyp": "two", "refs": ["two"]},
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["wer"]), Runtime(), rows=2)
    for inside in (ROWS, STATS, SUMS):
        (tmp_path / inside).mkdir()
    first = plan.parts[0]
    assert sums_of(tmp_path, first) is None
    assert Scorer(plan, tmp_path).score(first) == 2
    table = parquet.read_table(rows_path(tmp_path, first)).to_pydict()
    assert (table["id"], table["wer"]) == (["a", "b"], [pytest.approx(0.4), 0.0])
    sums = sums_of(tmp_path, first)
    assert sums.n == 2
    group, system, totals, n, n_undefined = sums.metrics["wer"].cells[0]
    assert (group, system, n, n_undefined) == (None, "s", 2, 0)
    assert totals[0] / totals[1] == pytest.approx(2 / 6)  # two edits in six words of references
    assert sums_path(tmp_path, first).name == f"part-000000-{first.digest}.json"
