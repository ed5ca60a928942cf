from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of, spec_of, trained_on
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.nli import (
    FORMULAS,
    BertNli,
    Nli,
    Questions,
    SummaC,
    anchors,
    packed,
    pool,
    premise_windows,
)
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.metric import SEGMENTS

torch = pytest.importorskip("torch")


def test_anchors_are_the_only_reference_or_the_source():
    segments = [Segment("1", "h", ("r",), source="s"), Segment("2", "h", ("q",))]
    assert anchors(segments, "reference") == ["r", "q"]
    assert anchors(segments, "source") == ["s", ""]


def test_questions_know_their_pairs(told):
    model = told({("a", "b"): (1, 0, 0), ("c", "d"): (0, 1, 0), ("e", "f"): (0, 0, 1)}, long=[("c", "d")])
    questions = Questions()
    questions.ask(0, [("a", "b")])
    questions.ask(2, [("c", "d"), ("e", "f")])
    found, cut = questions.judged(model, None, Runtime(), "nli")
    assert questions.owners == [0, 2, 2]
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert cut.tolist() == [False, True, False]


@pytest.mark.parametrize("metric", [Nli, SummaC])
def test_models_that_are_none_are_refused_by_any_metric(tiny_model, tiny_nli, metric):
    segments = [Segment("s", "a cat", ("a dog",), source="a dog")]
    for model, message in (
        (str(tiny_nli("bert", ("positive", "negative"))), r"calls its labels positive, negative, expected supported"),
        (
            str(tiny_nli("bert", ("LABEL_0", "LABEL_1", "LABEL_2"))),
            r"calls its labels LABEL_0, LABEL_1, LABEL_2.* say the order: labels=",
        ),
        (str(tiny_model("bert")), r"calls its labels LABEL_0, LABEL_1, expected supported"),
        ("/no/such/folder", r"^model folder /no/such/folder does not exist$"),
        ("absent.safetensors", r"^head file absent\.safetensors does not exist"),
    ):
        with pytest.raises(InputError, match=message):
            metric(model=model).score(segments, Runtime(device="cpu"))


LONG = "the cat sat. a dog lay. Rain fell today. Snow fell on the dog. Good morning."


def tokenizer(folder, limit):
    from nlgauge.models.entailment import PairTokenizer
    from nlgauge.models.locate import locate

    return PairTokenizer(locate(str(folder)), limit)


def test_sentences_are_packed_by_hand():
    # room 5: 2 + 3 fit, 4 alone, 9 alone though too long, 1 + 1 together
    assert packed([2, 3, 4, 9, 1, 1], 5) == [(0, 2), (2, 3), (3, 4), (4, 6)]
    assert packed([], 5) == []


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 15))
def test_packing_leaves_nothing_out_and_never_overfills(lengths, room):
    parts = packed(lengths, room)
    assert [i for a, b in parts for i in range(a, b)] == list(range(len(lengths)))
    assert all(b == a + 1 or sum(lengths[a:b]) <= room for a, b in parts)


def test_a_premise_that_fits_is_one_part_and_a_long_one_several(tiny_model):
    # pieces: "the cat sat." 4, "a dog lay." 4 (they join: no capital follows), "Rain fell today." 4, "Snow fell on the
    # dog." 6, "Good morning." 3
    pairs = [("a cat", "a dog"), (LONG, "a dog"), (LONG, "the cat sat on a rug")]
    parts, contents = premise_windows(pairs, tokenizer(tiny_model("bert"), 18))  # room 15
    assert parts[0] == ["a cat"]
    assert parts[1] == ["the cat sat. a dog lay. Rain fell today.", "Snow fell on the dog. Good morning."]
    assert parts[2] == [
        "the cat sat. a dog lay.",
        "Rain fell today.",
        "Snow fell on the dog. Good morning.",
    ]  # 9 pieces left
    assert {*parts[1], *parts[2], "a cat", "a dog"} <= contents.keys()


def test_a_long_hypothesis_leaves_half_of_the_room(tiny_model):
    (parts,), _ = premise_windows([(LONG, "the cat " * 20)], tokenizer(tiny_model("bert"), 18))
    assert parts == [
        "the cat sat. a dog lay.",
        "Rain fell today.",
        "Snow fell on the dog.",
        "Good morning.",
    ]  # 7 pieces; the first will be cut


def test_a_text_without_sentences_is_one_part(tiny_model):
    (parts,), _ = premise_windows([("cat " * 40, "a dog")], tokenizer(tiny_model("bert"), 18))
    assert [part.strip() for part in parts] == [("cat " * 40).strip()]


def test_without_a_limit_nothing_is_parted(tiny_model):
    reader = tokenizer(tiny_model("t5, bytes"), None)
    reader.max_tokens = None
    assert premise_windows([(LONG, "a dog")], reader)[0] == [[LONG]]


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
        # the mean of both is (0.3125, 0.1875, 0.5)
        ("e", "both", 0.3125),
        ("e-n-2c", "both", -0.875),
        # the square root of 0.5 * 0.125, and the smaller of the two
        ("e", "both-geometric", 0.25),
        ("e", "both-smaller", 0.125),
        ("-c", "both-smaller", -0.75),
    ],
)
def test_formulas_and_directions_by_hand(told, formula, direction, value):
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
        ({"direction": "forwards"}, r"^nli:direction is 'forwards'; did you mean 'forward'"),
        ({"max_tokens": 3}, r"^nli:max_tokens is 3, expected 8 or more$"),
    ],
)
def test_options_off_the_list_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        Nli(**options)


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
    assert ng.metric("0.5*paper/menli-r + 0.5*bleu").terms[0][1] == ng.metric("paper/menli-r")


def test_the_terms_of_a_papers_sum_take_options():
    built = ng.metric(
        'paper/menli-r:nli_model="my nli",bertscore_model=/b,bertscore_like=roberta-large', nli_long="windows"
    )
    nli = '0.2*paper/nli-r:model="my nli",long=windows'
    assert built == ng.metric(f"{nli} + 0.8*paper/bertscore:idf=true,model=/b,like=roberta-large")
    assert ng.metric(built.spec) == built
    twice = ng.metric("paper/menli-d:bertscore_idf=false,nli_model=x@main")
    assert twice == ng.metric("0.2*paper/nli-d:model=x@main + 0.8*paper/bertscore")
    summed = ng.metric("0.5*paper/menli-d:bertscore_idf=false,nli_model=x@main + 0.5*bleu")
    assert summed.terms[0][1] == twice
    no = r"^paper/menli-d is the sum '0\.2\*paper/nli-d .*' and has no option '{}'; of its terms nli_model=\.\.\. and b"
    for option in ("model", "formula", "bleu_model", "nli"):
        with pytest.raises(SpecError, match=no.format(option)):
            ng.metric(f"paper/menli-d:{option}=e")
    with pytest.raises(SpecError, match="paper/nli-d has no option 'modell'; did you mean 'model'"):
        ng.metric("paper/menli-d:nli_modell=e")


@pytest.mark.parametrize(
    "options",
    [
        {"references": "parts", "formula": "e-n-2c"},
        {"direction": "both-geometric", "formula": "-c", "long": "windows"},
    ],
)
def test_nli_keeps_the_contract_of_a_metric(tiny_head, options):
    check_metric(Nli(model=str(tiny_head()), **options), runtime=Runtime(device="cpu"))


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


MENLI_LONG = (
    "the cat sat on the mat. A dog lay on the rug. Rain fell today. Snow fell on the dog. Good morning to the cat."
)


def test_windows_of_a_long_premise_take_the_surest(tiny_nli):
    options = {"model": str(tiny_nli("bert")), "direction": "forward", "max_tokens": 20}
    segment = [Segment("s", "a dog sat", (MENLI_LONG,))]
    cut, read = score(segment, **options), score(segment, **options, long="windows")
    assert cut.flags["truncated"].tolist() == [True]
    assert read.flags["truncated"].tolist() == [False]
    from nlgauge.metrics.nli import premise_windows

    model = Nli(**options).loaded(Runtime(device="cpu"))
    (parts,), _ = premise_windows([(MENLI_LONG, "a dog sat")], model.tokenizer)
    assert len(parts) > 1
    triples = model.judge([(part, "a dog sat") for part in parts]).probabilities
    expected = triples[triples[:, 1].argmin()]
    assert [read.parts[name][0] for name in "enc"] == pytest.approx(expected.tolist(), abs=1e-6)


ABOUT_A_CAT = [Segment("s", "the cat sat on a mat", ("a cat sat on the mat",), "the cat sat on the mat")]


@pytest.mark.parametrize(
    ("labels", "supported"),
    [
        (("unsupported", "supported"), 0.75),
        (("supported", "unsupported"), 0.25),
        (("entailment", "not_entailment"), 0.25),
        (("hallucination", "consistent"), 0.75),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {"direction": "forward"},
        {"direction": "both"},
        {"direction": "both-geometric"},
        {"references": "parts"},
        {"anchor": "source", "long": "windows"},
    ],
)
def test_of_two_labels_the_value_is_the_probability_of_supported(tiny_checker, labels, supported, options):
    found = score(ABOUT_A_CAT, model=tiny_checker(*labels), **options)
    assert found.values == pytest.approx([supported], abs=1e-6)  # float32
    assert {name: part.tolist() for name, part in found.parts.items()} == {"e": found.values.tolist()}  # no n, no c
    assert not any(flags.any() for flags in found.flags.values())


def test_two_labels_without_names_need_their_order_which_the_signature_has(tiny_checker):
    model = tiny_checker("LABEL_0", "LABEL_1")
    with pytest.raises(InputError, match=r'say the order: labels="unsupported,supported"'):
        score(ABOUT_A_CAT, model=model)
    for labels, supported in (("unsupported,supported", 0.75), ("supported,unsupported", 0.25)):
        found = score(ABOUT_A_CAT, model=model, labels=labels)
        assert found.values == pytest.approx([supported], abs=1e-6)
        assert dict(found.signature.entries)["labels"] == labels
    named = signature_of(Nli(model=tiny_checker("entailment", "not_entailment")), Runtime(device="cpu"))
    assert dict(named.entries)["labels"] == "supported,unsupported"


@pytest.mark.parametrize(
    "metric",
    [
        *(Nli(formula=formula) for formula in FORMULAS if formula != "e"),
        SummaC(variant="c"),
        SummaC(variant="e-c"),
        BertNli(anchor="source", formula="-c"),
    ],
)
def test_formulas_of_n_or_c_are_refused_with_two_labels(tiny_checker, metric):
    option = "variant" if isinstance(metric, SummaC) else "formula"
    metric = replace(metric, model=tiny_checker("unsupported", "supported"))
    message = (
        rf"^model '.*' has two labels, and {option}={getattr(metric, option)} needs neutral or contradiction alone; use"
        rf" {option}=e, the probability of supported$"
    )
    for ask in (lambda: metric.score(ABOUT_A_CAT, Runtime(device="cpu")), lambda: signature_of(metric, Runtime())):
        with pytest.raises(InputError, match=message):
            ask()
    assert replace(metric, **{option: "e"}).score(ABOUT_A_CAT, Runtime(device="cpu")).values[0] > 0.7


def test_with_two_labels_an_empty_side_gets_the_worst_value(tiny_checker):
    segments = [*ABOUT_A_CAT, Segment("t", "", ("a cat",), "a cat"), Segment("u", "a cat", ("", "a cat"), "a cat")]
    model = tiny_checker("unsupported", "supported")
    for metric in (Nli(), Nli(references="parts"), Nli(references="best"), SummaC(anchor="reference"), SummaC()):
        found = replace(metric, model=model).score(segments, Runtime(device="cpu"))
        assert found.values[:2] == pytest.approx([0.75, 0], abs=1e-6)
        assert found.flags["empty"].tolist() == [False, True, False]
        assert found.parts.keys() <= {"e", "reference"}
        assert found.parts["e"].tolist() == found.values.tolist()


def test_with_two_labels_the_window_that_supports_most_counts(tiny_nli):
    options = {"model": str(tiny_nli("bert", ("unsupported", "supported"))), "direction": "forward", "max_tokens": 20}
    read = score([Segment("s", "a dog sat", (MENLI_LONG,))], **options, long="windows")
    model = Nli(**options).loaded(Runtime(device="cpu"))
    (parts,), _ = premise_windows([(MENLI_LONG, "a dog sat")], model.tokenizer)
    supports = model.judge([(part, "a dog sat") for part in parts]).probabilities[:, 0]
    assert len(parts) > 1
    assert supports.argmax() > 0  # or the first one of all would do
    assert read.values == pytest.approx([supports.max()], abs=1e-6)


@pytest.mark.parametrize("metric", [Nli(references="parts"), SummaC(), BertNli()])
def test_metrics_keep_the_contract_with_two_labels(tiny_nli, metric):
    model = str(tiny_nli("bert", ("unsupported", "supported")))
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(replace(metric, model=model), short, Runtime(device="cpu"))


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


SOURCE, SUMMARY = "One. Two.\nThree.", "First. Second."
SUMMAC_TABLE = {
    ("One.", "First."): (0.5, 0.25, 0.25),
    ("Two.", "First."): (0.25, 0.5, 0.25),
    ("Three.", "First."): (0.125, 0.125, 0.75),
    ("One.", "Second."): (0.25, 0.25, 0.5),
    ("Two.", "Second."): (0.75, 0.125, 0.125),
    ("Three.", "Second."): (0.0, 1.0, 0.0),
}


def summac_score(segments, **options):
    return SummaC(**options).score(segments, Runtime(device="cpu"))


@pytest.mark.parametrize(
    ("variant", "value"),
    [
        ("e", 0.625),  # highest e of the two sentences 0.5 and 0.75
        ("c", 0.375),  # highest c 0.75 and 0.5: 1 - 0.625
        ("e-c", 0.0),  # 0.5 - 0.75 and 0.75 - 0.5
    ],
)
def test_two_sentences_against_three_by_hand(told, variant, value):
    told(SUMMAC_TABLE)
    found = summac_score([Segment("s", SUMMARY, source=SOURCE)], variant=variant)
    assert found.values.tolist() == [value]
    assert {name: column.tolist() for name, column in found.parts.items()} == {"e": [0.625], "c": [0.625]}


def test_the_source_is_always_the_premise_and_segments_do_not_mix(told):
    model = told({**SUMMAC_TABLE, ("Only.", "First."): (1.0, 0.0, 0.0)})
    segments = [
        Segment("1", SUMMARY, source=SOURCE),
        Segment("2", " ", source=SOURCE),
        Segment("3", "First.", source="Only."),
    ]
    found = summac_score(segments)
    assert model.asked == [
        *sorted(SUMMAC_TABLE, key=lambda pair: (("One.", "Two.", "Three.").index(pair[0]), pair[1])),
        ("Only.", "First."),
    ]
    assert found.values.tolist() == [0.625, 0.0, 1.0]
    assert found.flags["empty"].tolist() == [False, True, False]


@pytest.mark.parametrize(("variant", "worst"), [("e", 0.0), ("c", 0.0), ("e-c", -1.0)])
def test_an_empty_side_gets_the_worst_value(told, variant, worst):
    told({})
    found = summac_score(
        [Segment("1", "", source=SOURCE), Segment("2", SUMMARY, source="\n"), Segment("3", "", source="")],
        variant=variant,
    )
    assert found.values.tolist() == [worst] * 3
    assert found.flags["empty"].all()
    assert SummaC(variant=variant).info.range[0] == worst


def test_a_sentence_that_is_cut_flags_its_segment(told):
    told(SUMMAC_TABLE, long=[("Two.", "Second.")])
    assert summac_score([Segment("s", SUMMARY, source=SOURCE), Segment("t", "First.", source=SOURCE)]).flags[
        "truncated"
    ].tolist() == [True, False]


@pytest.mark.parametrize(("policy", "value"), [("mean", 0.3125), ("best", 0.5)])
def test_against_references_they_are_folded(told, policy, value):
    told(SUMMAC_TABLE)
    found = summac_score([Segment("s", "First.", ("One.", "Three."))], anchor="reference", references=policy)
    assert found.values.tolist() == [value]  # of 0.5 and 0.125


def test_what_it_needs_is_what_it_is_held_against():
    assert SummaC().info.needs == {"source"}
    assert SummaC(anchor="reference").info.needs == {"references"}
    with pytest.raises(InputError, match=r"^summac needs source; segment 's' has none$"):
        summac_score([Segment("s", SUMMARY, ("One.",))])


def test_summac_keeps_the_contract_of_a_metric(tiny_head):
    # A budget of one token judges each pair of sentences alone; the longest segment has hundreds of pairs.
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(SummaC(model=str(tiny_head()), variant="e-c"), short, Runtime(device="cpu"))


def test_one_sentence_each_is_nli_forward(tiny_head):
    head = tiny_head()
    segments = [Segment("s", "a cat sat on the mat", source="the dog lay on the rug")]
    forward = ng.metric("nli", model=str(head), anchor="source", direction="forward")
    nli = forward.score(segments, Runtime(device="cpu"))
    assert summac_score(segments, model=str(head)).values == pytest.approx(nli.values, abs=1e-6)  # float32


def test_summac_a_text_of_which_the_tokenizer_keeps_nothing_is_empty(tiny_head):
    metric = SummaC(model=str(tiny_head()))
    rows = [Segment("1", "\ufffd", source="The cat sat."), Segment("2", "The cat sat.", source="\ufffd\u0301")]
    found = metric.score([*rows, Segment("3", "A cat.\n\ufffd", source="The cat sat.")], Runtime(device="cpu"))
    assert found.flags["empty"].tolist() == [True, True, False]
    assert found.values[:2].tolist() == [0.0, 0.0]
    alone = metric.score([Segment("3", "A cat.", source="The cat sat.")], Runtime(device="cpu"))
    assert found.values[2] == pytest.approx(alone.values[0], abs=1e-6)  # float32


TURNS = ("Do you like snow?", "I love it.", "Why?")


def dialogue(*texts, response="It is white.", name="d"):
    turns = tuple({"speaker": "AB"[i % 2], "text": text} for i, text in enumerate(texts))
    return Segment(name, response, context=turns)


def dialogue_score(segments, **options):
    return BertNli(**options).score(segments, Runtime(device="cpu"))


def test_the_turns_in_order_are_the_premise_and_the_response_the_hypothesis(told):
    model = told({(" ".join(TURNS), "It is white."): (0.5, 0.25, 0.25), ("Why?", "Because."): (0.25, 0.25, 0.5)})
    found = dialogue_score([dialogue(*TURNS), dialogue("Why?", response=" Because. ", name="short")])
    assert model.asked == [(" ".join(TURNS), "It is white."), ("Why?", "Because.")]
    assert found.values.tolist() == [0.5, 0.25]
    assert {name: part.tolist() for name, part in found.parts.items()} == {
        "e": [0.5, 0.25],
        "n": [0.25, 0.25],
        "c": [0.25, 0.5],
    }
    assert found.signature.spec == "bert-nli"


@pytest.mark.parametrize(("formula", "value"), [("-c", -0.5), ("e-c", -0.25), ("e-n-2c", -1.0)])
def test_formulas_are_those_of_nli(told, formula, value):
    told({("Why?", "It is white."): (0.25, 0.25, 0.5)})
    assert dialogue_score([dialogue("Why?")], formula=formula).values.tolist() == [value]


def test_only_the_last_turns_are_read_if_asked_and_blank_ones_do_not_count(told):
    model = told({("I love it. Why?", "It is white."): (1.0, 0.0, 0.0)})
    assert dialogue_score([dialogue(TURNS[0], TURNS[1], " \u200b", TURNS[2])], turns=2).values.tolist() == [1.0]
    assert model.asked == [("I love it. Why?", "It is white.")]


def test_the_source_may_hold_what_was_said(told):
    told({("Why?", "It is white."): (0.5, 0.25, 0.25)})
    metric = BertNli(anchor="source")
    assert metric.info.needs == {"source"}
    assert metric.score([Segment("s", "It is white.", source="Why?")], Runtime()).values.tolist() == [0.5]


@pytest.mark.parametrize(("formula", "worst"), [("e", 0.0), ("-c", -1.0), ("e-n-2c", -2.0)])
def test_a_blank_side_gets_the_worst_value(told, formula, worst):
    told({})
    found = dialogue_score([dialogue("Why?", response=""), dialogue(" ", "\n", name="silent")], formula=formula)
    assert found.values.tolist() == [worst, worst]
    assert found.flags["empty"].all()
    assert BertNli(formula=formula).info.range[0] == worst


def test_a_context_that_does_not_fit_loses_its_oldest_turns(tiny_head):
    # Of 32 pieces a frame of special tokens takes 3: 29 are left. Every turn is 6 pieces, the response 9, so that
    # three turns fit (18 + 9 = 27) and a fourth does not.
    model = str(tiny_head())
    turns = [f"the {animal} sat on the mat" for animal in ("cat", "dog", "rain", "snow")]
    response = "the dog sat on the mat not on the"
    whole, three = (dialogue_score([dialogue(*said, response=response)], model=model) for said in (turns, turns[1:]))
    assert whole.flags["truncated"].tolist() == [True]
    assert three.flags["truncated"].tolist() == [False]
    assert whole.values == pytest.approx(three.values, abs=1e-6)  # float32
    long = dialogue("rain " * 40, response=response)  # a last turn that is too long alone is cut, as by nli
    source = Segment("s", response, source="rain " * 40)
    nli = ng.metric("nli", model=model, anchor="source", direction="forward")
    alike = nli.score([source], Runtime(device="cpu"))
    assert dialogue_score([long], model=model).values == pytest.approx(alike.values, abs=1e-6)
    assert dialogue_score([long], model=model).flags["truncated"].all()


def test_a_segment_without_context_is_refused_with_the_way_out():
    with pytest.raises(
        InputError,
        match=r"^bert-nli needs context; segment 's' has none; with what was said before as the source, use"
        r" bert-nli:anchor=source$",
    ):
        dialogue_score([Segment("s", "Yes", source="Why?")])
    with pytest.raises(SpecError, match=r"^bert-nli:turns=2 changes nothing under anchor=source; leave it out$"):
        BertNli(anchor="source", turns=2)
    with pytest.raises(SpecError, match=r"^bert-nli:turns is 0, "):
        BertNli(turns=0)


def test_bert_nli_keeps_the_contract_of_a_metric(tiny_head):
    check_metric(BertNli(model=str(tiny_head()), turns=1, formula="e-c"), SEGMENTS[:12], Runtime(device="cpu"))


def test_an_audit_scores_the_pairs_that_have_a_context(told):
    told({("Why?", "It is white."): (0.75, 0.25, 0.0), ("Why?", "It is not white."): (0.25, 0.25, 0.5)})
    better, worse = "It is white.", "It is not white."
    pair = Pair(id="1", phenomenon="negation", better=better, worse=worse, context=dialogue("Why?").context)
    suite = Suite((pair, replace(pair, id="2", context=())), "made")
    (row,) = [row for row in ng.audit(suite, metrics="bert-nli").rows if row["phenomenon"] == "negation"]
    assert (row["n"], row["wins"]) == (1, 1)


def test_contexts_in_scripts_that_the_model_does_not_read_are_noted(tiny_head):
    metric = BertNli(model=str(tiny_head(languages="en")))
    with pytest.warns(ng.ScoreWarning, match="Cyrillic"):
        ng.score(ng.Dataset((dialogue("Почему снег белый?"),)), metrics=[metric], runtime=Runtime(device="cpu"))
