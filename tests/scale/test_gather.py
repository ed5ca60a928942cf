"""Metrics that depend on all segments: in parts they get the statistics of all, and the scores of one piece."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.spec import quote
from nlgauge.io.read import open_data, read
from nlgauge.io.spans import Inputs
from nlgauge.metrics.base import is_pooled, rounds
from nlgauge.metrics.learned.blend import Blend
from nlgauge.metrics.learned.linear import LinearModel, Term
from nlgauge.metrics.learned.ruber import Ruber
from nlgauge.metrics.registry import list_metrics, metric, named
from nlgauge.metrics.scoring.job import ComparisonOptions, score_source
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.pool import Counts, Incidence, Pool
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.gather import Gathered, Settled, gather, gathered_path, merge, settled_path, texts_path
from nlgauge.scale.parts import Scorer, rows_path, sums_path
from nlgauge.scale.plan import PLAN, make_plan
from nlgauge.scale.run import progress_of, score_in_parts

parquet = pytest.importorskip("pyarrow.parquet")
WORDS = "the cat sat on a red mat while two dogs ran over green hills and slept".split()


@pytest.fixture
def data(tmp_path):
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


def one_by_one(plan, folder, parts):
    """An engine that scores in this process."""
    scorer = Scorer(plan, folder)
    for part in parts:
        yield scorer.score(part)


def backwards(plan, folder, parts):
    """An engine whose parts come last first, each from a process of its own."""
    for part in reversed(parts):
        yield Scorer(plan, folder).score(part)


def files_of(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


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
        "nist",
        "nist:information=call",
        "yisi0",
        "qnist",
        "0.5*bleu + 0.5*chrf[norm=zscore]",
        "0.5*cider + 0.5*(0.3*bleu + 0.7*yisi0)",
        "0.5*(1*bleu + 1*yisi0[norm=none]) + 0.5*guarded(ter)",
    ],
)
def test_scores_of_words_are_those_of_one_piece(data, tmp_path, metric):
    check(data, tmp_path / "run", [metric, "chrf"])


def test_comparison_takes_what_the_parts_keep(data, tmp_path):
    check(data, tmp_path / "run", ["nist"], test="bootstrap", draws=20)


@pytest.mark.parametrize(
    "metric",
    [
        "bertscore:idf=true,model={}",
        "yisi1:model={}",
        "sentsim:model={}",
        "0.5*moverscore:idf=true,model={} + 0.5*bertscore:model={}",
        "guarded(matching:idf=both,model={})",
        "baryscore:idf=true,model={}",
    ],
)
def test_scores_of_models_are_those_of_one_piece(data, tmp_path, tiny_model, metric):
    pytest.importorskip("torch")
    specs = [spec.replace("{}", quote(str(tiny_model("bert")))) for spec in (metric, "bertscore:model={}")]
    check(data, tmp_path / "run", specs, Runtime(device="cpu"), atol=1e-5)  # float32, in batches of other shapes


def test_terms_of_a_sum_are_scored_in_one_pass_alone(data, tmp_path, tiny_model, monkeypatch):
    """Their scores are kept; the pass that writes rows encodes nothing."""
    from nlgauge.metrics.embedding.bertscore import BertScore

    calls = []
    score = BertScore.score
    spy = lambda self, segments, runtime: calls.append(len(segments)) or score(self, segments, runtime)  # noqa: E731
    monkeypatch.setattr(BertScore, "score", spy)
    spec = f"0.5*bertscore:model={quote(str(tiny_model('bert')))} + 0.5*chrf"
    plan = make_plan(Inputs(str(data)), named([spec]), Runtime(), rows=9)
    score_in_parts(plan, tmp_path / "run", one_by_one, Runtime())
    assert [n for n in calls if n] == [9, 9]


def test_parts_without_a_segment_that_is_left_have_no_kept_scores(data, tmp_path, tiny_model):
    """The first two parts are of the system that is left out alone."""
    pytest.importorskip("torch")
    inputs = Inputs(str(data), exclude=("a",))
    spec = f"0.5*bertscore:model={quote(str(tiny_model('bert')))} + 0.5*chrf"
    plan = make_plan(inputs, named([spec]), Runtime(), rows=4)
    assert [row["n"] for row in score_in_parts(plan, tmp_path / "run", one_by_one, Runtime()).rows] == [9]


def test_what_a_part_gathers_is_in_the_order_of_the_metrics(data):
    """The hashes of texts differ between processes, and the order of a set with them."""
    specs = ["cider", "nist", "yisi0", "qnist", "nist:max_ngram_order=2", "cider:clip=false", "cider:sigma=none"]
    for order in (specs, specs[::-1]):
        pool = Pool()
        gather(named(order), read(data).segments[:9], Runtime(), pool)
        told = [f"{name}" for name in pool.gathered]
        alone = []
        for spec in order:
            one = Pool()
            gather(named([spec]), read(data).segments[:9], Runtime(), one)
            alone += one.gathered
        assert told == list(dict.fromkeys(alone))


METRIC = "0.5*cider + 0.5*yisi0"  # two passes


@pytest.fixture
def plan(data):
    return make_plan(Inputs(str(data)), named([METRIC]), Runtime(), rows=4)


def test_the_bytes_do_not_depend_on_the_order_of_the_work(plan, tmp_path):
    score_in_parts(plan, tmp_path / "one", one_by_one, Runtime())
    score_in_parts(plan, tmp_path / "other", backwards, Runtime())
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    assert plan.passes == len(json.loads((tmp_path / "one" / PLAN).read_text())["pools"]) == 2


@pytest.mark.parametrize("after", [1, 5, 7, 10, 14])
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
    gathered_path(run, 2, plan.parts[3]).write_bytes(b"0" * 99)
    texts_path(run, "first-references", plan.parts[2]).write_text("[]")
    settled_path(run, 1).write_bytes(b"0" * 99)
    sums_path(run, plan.parts[3]).unlink()
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


def test_scales_are_saved_as_in_one_piece(data, tmp_path):
    bounds = [tmp_path / name for name in ("parts.json", "whole.json")]
    plan = make_plan(Inputs(str(data)), named([METRIC]), Runtime(), rows=4)
    score_in_parts(plan, tmp_path / "run", one_by_one, Runtime(), save_norm=str(bounds[0]))
    score_source(open_data(data), [METRIC], save_norm=str(bounds[1]))
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
def segments(data):
    query = ({"speaker": "A", "text": "where is the cat"},)
    return [replace(segment, context=query) for segment in read(data).segments]


@pytest.mark.parametrize("mix", ["min", "mean"])
def test_ruber_is_scaled_over_all_parts(segments, tiny_regressor, tiny_model, mix):
    pytest.importorskip("torch")
    head = str(tiny_regressor(features="hyp,src,hyp*src,|hyp-src|", low="0", high="1"))
    metric = Ruber(model=head, encoder=str(tiny_model("bert")), mix=mix)
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
            assert not is_pooled(built) or rounds(built), name
