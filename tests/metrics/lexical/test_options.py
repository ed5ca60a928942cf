import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.metrics.lexical.bleu import Bleu
from nlgauge.metrics.lexical.chrf import ChrF
from nlgauge.metrics.lexical.options import check_choice, check_switches, check_whole
from nlgauge.metrics.lexical.rouge import Rouge
from nlgauge.metrics.lexical.ter import Ter


def test_a_wrong_choice_is_answered_with_the_nearest():
    with pytest.raises(SpecError, match=r"bleu:tokenize is '13b'.*13a"):
        check_choice("bleu:tokenize", "13b", ("none", "13a", "intl"))


def test_a_choice_among_the_allowed_passes():
    check_choice("x:y", "b", ("a", "b"))


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 0, -1])
def test_what_is_no_whole_number_of_the_least_is_refused(value):
    with pytest.raises(SpecError, match=r"x:y is .*, expected a whole number, 1 or more"):
        check_whole("x:y", value, 1)


def test_the_least_passes():
    check_whole("x:y", 1, 1)


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_what_is_neither_true_nor_false_is_refused(value):
    with pytest.raises(SpecError, match=r"x:y is .*, expected true or false"):
        check_switches("x", z=True, y=value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bleu(tokenize="13A"),
        lambda: Bleu(smooth_method="add_k"),
        lambda: Bleu(average="mean"),
        lambda: Bleu(max_ngram_order=0),
        lambda: Bleu(lowercase=1),
        lambda: Bleu(effective_order="yes"),
        lambda: Bleu(trg_lang=1),
        lambda: ChrF(char_order=-1),
        lambda: ChrF(word_order=2.0),
        lambda: ChrF(beta=-1),
        lambda: ChrF(whitespace=None),
        lambda: ChrF(char_order=0),
        lambda: Ter(normalized="true"),
        lambda: Ter(case_sensitive=0),
        lambda: Rouge(variant="0"),
        lambda: Rouge(variant=2),
        lambda: Rouge(variant="l"),
        lambda: Rouge(tokenizer="13a"),
        lambda: Rouge(references="max"),
        lambda: Rouge(value="f"),
        lambda: Rouge(use_stemmer="yes"),
    ],
)
def test_every_option_is_checked_when_the_metric_is_made(make):
    with pytest.raises(SpecError, match=r"^(bleu|chrf|ter|rouge):\w+"):
        make()


@pytest.mark.parametrize(
    "spec",
    [
        "bleu:tokenise=13a",
        "bleu:smooth_method=florr",
        "chrf:beta=1.5",
        "ter:normalized=2",
        "rouge:variant=10",
        "rougeM",
        "chrf+",
    ],
)
def test_every_option_is_checked_where_it_is_typed(spec):
    with pytest.raises(SpecError):
        ng.metric(spec)
