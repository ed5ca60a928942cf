import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of, spec_of
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.base import trained_on
from nlgauge.metrics.nli.menli import DIRECTIONS, FORMULAS, Nli, pool
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

FORTH, BACK = (0.5, 0.25, 0.25), (0.125, 0.125, 0.75)  # sums of eighths: exact in binary
TABLE = {("ref", "hyp"): FORTH, ("hyp", "ref"): BACK}


def score(segments, runtime=None, **options):
    return Nli(**options).score(segments, runtime or Runtime(device="cpu"))


def one(*references, hypothesis="hyp", **options):
    return score([Segment("s", hypothesis, references, source="ref")], **options)


@pytest.mark.parametrize(
    ("formula", "direction", "value"),
    [
        ("e", "forward", 0.5),
        ("-c", "forward", -0.25),
        ("e-n", "forward", 0.25),
        ("e-c", "forward", 0.25),
        ("e-n-2c", "forward", -0.25),
        ("e", "backward", 0.125),
        ("-c", "backward", -0.75),
        ("e-n", "backward", 0.0),
        ("e-c", "backward", -0.625),
        ("e-n-2c", "backward", -1.5),
        # the mean of both is (0.3125, 0.1875, 0.5)
        ("e", "both", 0.3125),
        ("-c", "both", -0.5),
        ("e-n", "both", 0.125),
        ("e-c", "both", -0.1875),
        ("e-n-2c", "both", -0.875),
        # the square root of 0.5 * 0.125, and the smaller of the two
        ("e", "both-geometric", 0.25),
        ("e", "both-smaller", 0.125),
        ("-c", "both-smaller", -0.75),
        ("e-n-2c", "both-smaller", -1.5),
    ],
)
def test_the_fifteen_strategies_by_hand(told, formula, direction, value):
    told(TABLE)
    assert one("ref", formula=formula, direction=direction).values.tolist() == [value]


def test_the_geometric_mean_is_of_the_distances_from_the_worst_value(told):
    told(TABLE)
    # -c is -0.25 and -0.75, its worst value -1: -1 + sqrt(0.75 * 0.25); e-c is 0.25 and -0.625: -1 + sqrt(1.25 * 0.375)
    for formula, value in (("-c", -0.5669873), ("e-c", -0.3153468)):
        assert one("ref", formula=formula, direction="both-geometric").values == pytest.approx([value], abs=1e-7)


def test_a_failure_in_one_direction_is_not_saved_by_the_other(told):
    # more is said than in the reference: it entails the reference, the reference does not entail it
    told({("ref", "hyp"): (0.0, 1.0, 0.0), ("hyp", "ref"): (1.0, 0.0, 0.0)})
    values = {way: one("ref", direction=way).values[0] for way in ("both", "both-geometric", "both-smaller")}
    assert values == {"both": 0.5, "both-geometric": 0.0, "both-smaller": 0.0}


def test_heads_of_the_package_take_the_geometric_mean_and_other_models_the_mean(tiny_head):
    head = str(tiny_head())
    ways = {model: dict(signature_of(Nli(model=model), Runtime(device="cpu")).entries) for model in ("nli", head)}
    assert [entries["direction"] for entries in ways.values()] == ["both-geometric", "both"]
    assert signature_of(Nli(model=head)).spec == f"nli:model={quote(str(head))}"


def test_parts_are_the_probabilities_behind_the_formula(told):
    told(TABLE)
    parts = one("ref", formula="e-c").parts  # the means of both directions, however these are joined
    assert {name: column.tolist() for name, column in parts.items()} == {"e": [0.3125], "n": [0.1875], "c": [0.5]}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=2), st.sampled_from(sorted(FORMULAS)))
def test_formulas_are_linear_so_averaging_before_or_after_is_the_same(rows, formula):
    # the two readings of "both" in the paper's versions
    triples = np.array([(e * x, e * (1 - x), 1 - e) for e, x in rows])
    before = pool(formula, *triples.mean(axis=0))
    after = np.mean([pool(formula, *row) for row in triples])
    assert before == pytest.approx(after, abs=1e-12)
    low, high = Nli(formula=formula).info.range
    assert low - 1e-12 <= before <= high + 1e-12


def test_both_directions_are_asked_in_one_go(told):
    model = told({**TABLE, ("a", "b"): FORTH, ("b", "a"): BACK})
    score([Segment("1", "hyp", ("ref",)), Segment("2", "b", ("a",))])
    assert model.asked == [("ref", "hyp"), ("a", "b"), ("hyp", "ref"), ("b", "a")]


def test_against_the_source_no_reference_is_needed(told):
    told(TABLE)
    found = score([Segment("s", "hyp", source="ref")], anchor="source", direction="forward", formula="-c")
    assert found.values.tolist() == [-0.25]
    assert Nli(anchor="source").info.needs == {"source"}
    with pytest.raises(InputError, match=r"^nli needs source; segment 's' has none$"):
        score([Segment("s", "hyp", ("ref",))], anchor="source")
    with pytest.raises(InputError, match=r"^nli needs references; segment 's' has none$"):
        score([Segment("s", "hyp", source="ref")])


SEVERAL = {("one", "hyp"): (0.5, 0.25, 0.25), ("two", "hyp"): (0.625, 0.0, 0.375)}


@pytest.mark.parametrize(
    ("references", "formula", "value"),
    [
        ("mean", "e-c", 0.25),  # of 0.25 and 0.25
        ("mean", "e", 0.5625),
        ("best", "e", 0.625),
        ("best", "-c", -0.25),
        ("first", "e", 0.5),
        ("parts", "e", 0.625),
        ("parts", "-c", -0.375),  # the highest c
        ("parts", "e-c", 0.25),  # 0.625 - 0.375
        ("parts", "e-n", 0.375),  # 0.625 - 0.25: from two references
        ("parts", "e-n-2c", -0.375),  # 0.625 - 0.25 - 2 * 0.375
    ],
)
def test_several_references_by_hand(told, references, formula, value):
    told(SEVERAL)
    assert one("one", "two", references=references, formula=formula, direction="forward").values.tolist() == [value]


def test_parts_takes_the_highest_in_each_direction_before_the_mean_of_both(told):
    # reference one: forward 0.875, backward 0.125; two: 0.25 and 0.75. Highest: 0.875 and 0.75, mean 0.8125. The mean
    # of directions is 0.5 for both references.
    table = {("one", "hyp"): 0.875, ("hyp", "one"): 0.125, ("two", "hyp"): 0.25, ("hyp", "two"): 0.75}
    told({pair: (e, 1 - e, 0.0) for pair, e in table.items()})
    found = one("one", "two", references="parts", direction="both")
    assert found.values.tolist() == [0.8125]
    assert one("one", "two", references="parts", direction="both-geometric").values == pytest.approx([0.65625**0.5])
    assert found.parts["n"].tolist() == [0.8125]  # 1 - 0.125 and 1 - 0.25 are higher: (0.875 + 0.75) / 2
    assert one("one", "two", references="best", direction="both").values.tolist() == [0.5]


def test_the_signature_tells_where_the_highest_are_taken():
    def signature(**options):
        return str(signature_of(Nli(**options), Runtime(device="cpu")))

    assert "highest_in:each direction" in signature(references="parts")
    assert "highest_in" not in signature(references="parts", direction="forward")
    assert "highest_in" not in signature()


def test_the_policies_agree_on_one_reference(told):
    told(TABLE)
    values = {policy: one("ref", references=policy).values[0] for policy in ("mean", "best", "first", "parts")}
    assert set(values.values()) == {0.25}  # the square root of 0.5 * 0.125


@pytest.mark.parametrize("policy", ["mean", "best", "first", "parts"])
@pytest.mark.parametrize("formula", sorted(FORMULAS))
def test_an_empty_side_gets_the_worst_value_and_asks_nothing(told, formula, policy):
    model = told(TABLE)
    segments = [
        Segment("1", " \n", ("ref",)),
        Segment("2", "hyp", ("",)),
        Segment("3", "", ("",)),
        Segment("4", "hyp", ("ref",)),
    ]
    found = score(segments, formula=formula, references=policy, direction="both")
    assert found.flags["empty"].tolist() == [True, True, True, False]
    geometric = score(segments, formula=formula, references=policy, direction="both-geometric")
    assert (found.values[:3] == FORMULAS[formula][1][0]).all()
    assert (geometric.values[:3] == FORMULAS[formula][1][0]).all()
    assert found.values[3] > FORMULAS[formula][1][0]
    assert set(model.asked) == set(TABLE)
    np.testing.assert_array_equal(found.values, pool(formula, *(found.parts[name] for name in "enc")))


def test_beside_others_an_empty_reference_has_no_highest_c(told):
    told({("one", "hyp"): (0.5, 0.25, 0.25)})
    found = one("", "one", references="parts", formula="-c", direction="forward")
    assert found.values.tolist() == [-0.25]
    assert found.flags["empty"].tolist() == [False]


def test_a_cut_in_either_direction_is_flagged(told):
    told(TABLE, long=[("hyp", "ref")])
    assert one("ref").flags["truncated"].tolist() == [True]
    assert one("ref", direction="forward").flags["truncated"].tolist() == [False]


@pytest.mark.parametrize("formula", sorted(FORMULAS))
def test_the_range_is_that_of_the_formula_and_reached(formula):
    corners = [pool(formula, *(np.array([float(i == k)]) for k in range(3)))[0] for i in range(3)]
    assert (min(corners), max(corners)) == Nli(formula=formula).info.range


def test_parts_of_two_references_reach_further_down():
    assert Nli(formula="e-n-2c", references="parts").info.range == (-3.0, 1.0)  # n 1 of one, c 1 of the other


def test_directions_have_the_names_of_the_paper():
    for theirs, ours in (("rh", "forward"), ("hr", "backward"), ("avg", "both")):
        assert ng.metric(f"nli:direction={theirs}") == Nli(direction=theirs) == Nli(direction=ours)
        assert f"direction:{ours}|" in str(signature_of(Nli(direction=theirs), Runtime()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formula": "c"}, r"^nli:formula is 'c'; "),
        ({"direction": "forwards"}, r"^nli:direction is 'forwards'; did you mean 'forward'"),
        ({"anchor": "src"}, r"^nli:anchor is 'src'; did you mean 'source'"),
        ({"references": "max"}, r"^nli:references is 'max'; "),
        ({"long": "cut"}, r"^nli:long is 'cut'; "),
        ({"max_tokens": 3}, r"^nli:max_tokens is 3, expected 8 or more$"),
        ({"dtype": "int8"}, r"^nli:dtype is 'int8'; known: auto, bfloat16, float16, "),
    ],
)
def test_options_off_the_list_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        Nli(**options)


@pytest.mark.parametrize("formula", sorted(FORMULAS))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_strategy_is_a_specification(formula, direction):
    built = ng.metric(f"nli:formula={formula},direction={direction}")
    assert (built.formula, built.direction) == (formula, direction)
    assert ng.metric(spec_of(built)) == built


def test_presets_are_what_the_paper_used():
    def chosen(name):
        built = ng.metric(name)
        return built.model.rpartition("/")[2], built.formula, built.joining, built.anchor

    assert chosen("paper/nli-r") == ("roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli", "e", "both", "reference")
    assert chosen("paper/nli-d") == ("deberta-large-mnli", "e", "both", "reference")
    assert chosen("paper/nli-d-sum") == ("deberta-large-mnli", "e-c", "backward", "reference")
    assert chosen("paper/nli-r-src")[1:] == ("-c", "forward", "source")
    assert chosen("paper/xnli-d") == ("mDeBERTa-v3-base-mnli-xnli", "e", "both", "source")
    assert chosen("nli-robust") == ("nli-robust", "e", "both-geometric", "reference")
    assert spec_of(ng.metric("nli-robust")) == "nli:model=nli-robust"


def test_the_papers_combinations_are_sums():
    built = ng.metric("paper/menli-d")
    assert [weight for weight, _ in built.terms] == [0.2, 0.8]
    assert ng.metric(built.spec) == built
    assert built == ng.metric("0.2*paper/nli-d + 0.8*paper/bertscore:idf=true")
    with pytest.raises(
        SpecError, match=r"^paper/menli-d is the sum '0\.2\*paper/nli-d .*' and takes no options; write the sum out"
    ):
        ng.metric("paper/menli-d:formula=e")
    assert ng.metric("0.5*paper/menli-r + 0.5*bleu").terms[0][1] == ng.metric("paper/menli-r")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"anchor": "source", "direction": "forward", "formula": "-c"},
        {"references": "parts", "formula": "e-n-2c"},
        {"long": "windows"},
        {"direction": "both-geometric", "formula": "-c"},
    ],
)
def test_nli_keeps_the_contract_of_a_metric(tiny_head, options):
    check_metric(Nli(model=str(tiny_head()), **options), runtime=Runtime(device="cpu"))


def test_a_checkpoint_keeps_it_too(tiny_nli):
    check_metric(Nli(model=str(tiny_nli("roberta"))), runtime=Runtime(device="cpu"))


def test_the_order_of_labels_is_in_the_signature(tiny_nli):
    folder = str(tiny_nli("bert", ("LABEL_0", "LABEL_1", "LABEL_2")))
    built = Nli(model=folder, labels="contradiction,neutral,entailment")
    left = check_options(
        built, runtime=Runtime(device="cpu"), alternatives={"labels": "entailment,neutral,contradiction"}
    )
    assert set(left) <= {"model", "revision", "dtype", "max_tokens"}
    first, second = (
        Nli(model=folder, labels=order)
        for order in ("contradiction,neutral,entailment", "entailment,neutral,contradiction")
    )
    segments = [Segment("s", "a cat sat", ("the dog lay",))]
    one, other = (m.score(segments, Runtime(device="cpu")).parts for m in (first, second))
    assert one["e"] == pytest.approx(other["c"], abs=1e-12)


def test_precision_and_model_stand_in_the_signature(tiny_head):
    built = Nli(model=str(tiny_head()))
    plain = dict(signature_of(built, Runtime(device="cpu")).entries)
    assert (plain["dtype"], plain["max_tokens"], plain["labels"]) == (
        "float32",
        "32",
        "entailment,neutral,contradiction",
    )
    assert plain["head"].startswith("sha256:")
    assert dict(signature_of(built, Runtime(device="cpu", dtype="bfloat16")).entries)["dtype"] == "bfloat16"


def test_what_a_head_was_trained_on_can_be_asked(tiny_head, tiny_nli):
    head = f"nli:model={quote(str(tiny_head()))}"
    assert trained_on(ng.metric(head)) == ("negation", "number_error")
    assert trained_on(ng.metric(f"0.5*bleu + 0.5*{head}")) == ("negation", "number_error")
    assert trained_on(ng.metric(f"nli:model={quote(str(tiny_nli('bert')))}")) == ()
    assert trained_on(ng.metric("bleu")) == ()


def test_a_sum_with_nli_is_a_direct_computation(tiny_head):
    refs, hyps = (
        ["the cat sat on the mat", "rain fell", "a good morning"],
        ["a cat sat on a mat", "snow fell today", "not a good day"],
    )
    nli = f"nli:model={quote(str(tiny_head()))}"
    found = ng.score(hyps, refs, metrics=[f"0.3*{nli} + 0.7*chrf", nli, "chrf"], runtime=Runtime(device="cpu"))
    summed, one, other = (scores.values for scores in found.values())

    def scaled(values):
        return (values - values.min()) / (values.max() - values.min())

    assert summed == pytest.approx(0.3 * scaled(one) + 0.7 * scaled(other), abs=1e-12)


def test_batches_change_nothing_and_precision_little(tiny_head):
    texts = ["the cat sat on the mat", "a dog", "rain fell today, not snow!", "good morning"]
    segments = [Segment(f"{i}", a, (b,)) for i, (a, b) in enumerate(itertools.product(texts, texts))]
    found = [
        score(segments, Runtime(device="cpu", token_budget=budget), model=str(tiny_head())).values
        for budget in (1, 50, None)
    ]
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)  # float32
    np.testing.assert_allclose(found[1], found[2], atol=1e-6)
    half = score(segments, Runtime(device="cpu"), model=str(tiny_head()), dtype="bfloat16").values
    np.testing.assert_allclose(half, found[2], atol=0.1)  # eight bits


LONG = "the cat sat on the mat. A dog lay on the rug. Rain fell today. Snow fell on the dog. Good morning to the cat."


def test_windows_of_a_long_premise_take_the_surest(tiny_nli):
    options = {"model": str(tiny_nli("bert")), "direction": "forward", "max_tokens": 20}
    segment = [Segment("s", "a dog sat", (LONG,))]
    cut, read = score(segment, **options), score(segment, **options, long="windows")
    assert cut.flags["truncated"].tolist() == [True]
    assert read.flags["truncated"].tolist() == [False]
    from nlgauge.metrics.nli.windows import premise_windows

    model = Nli(**options).loaded(Runtime(device="cpu"))
    (parts,), _ = premise_windows([(LONG, "a dog sat")], model.tokenizer)
    assert len(parts) > 1
    triples = model.judge([(part, "a dog sat") for part in parts]).probabilities
    expected = triples[triples[:, 1].argmin()]
    assert [read.parts[name][0] for name in "enc"] == pytest.approx(expected.tolist(), abs=1e-6)


def test_what_fits_is_the_same_with_windows(tiny_nli):
    segments = [Segment("s", "a dog sat", ("the cat lay. Rain fell.",))]
    one, other = (score(segments, model=str(tiny_nli("bert")), long=long).values for long in ("truncate", "windows"))
    assert one == pytest.approx(other, abs=1e-6)


def test_a_head_has_one_signature_whatever_its_path(tiny_head, tmp_path):
    head, copy = Path(tiny_head()), tmp_path / "copy.safetensors"
    copy.write_bytes(head.read_bytes())
    one, other = (str(signature_of(Nli(model=str(path)), Runtime(device="cpu"))) for path in (head, copy))
    assert one == other
    assert "|model:file|" in one
    assert "|model:nli|" in str(signature_of(Nli(), Runtime(device="cpu")))


def test_a_way_to_use_references_is_refused_where_none_is_read():
    with pytest.raises(SpecError, match="nli:references=best changes nothing under anchor=source; leave it out"):
        Nli(anchor="source", references="best")


@pytest.mark.parametrize("long", ["truncate", "windows"])
@pytest.mark.parametrize("policy", ["mean", "parts"])
def test_a_text_of_which_the_tokenizer_keeps_nothing_is_empty(tiny_head, policy, long):
    # BERT's tokenizer drops U+FFFD and a combining mark alone; the model would judge two special tokens
    metric = Nli(model=str(tiny_head()), references=policy, long=long, direction="both")
    pairs = [("\ufffd", "a cat"), ("a cat", "\u0301"), ("a cat", "a dog"), ("\ufffd", "\U0001f642")]
    found = metric.score([Segment(str(i), hyp, (ref,)) for i, (hyp, ref) in enumerate(pairs)], Runtime(device="cpu"))
    assert found.flags["empty"].tolist() == [True, True, False, True]
    assert not found.flags["nonfinite"].any()
    assert found.values[[0, 1, 3]].tolist() == [0.0] * 3
    assert found.values[2] > 0
    assert found.parts["c"][0] == 1
