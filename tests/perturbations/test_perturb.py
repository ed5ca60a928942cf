"""What every perturbation rests on: edits that rebuild the text, draws that hang on nothing but their key."""

import dataclasses
import inspect
import random
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.perturbations.perturb import (
    BUG,
    NEEDS,
    PERTURBATIONS,
    Case,
    Change,
    Edit,
    Inapplicable,
    Perturbation,
    PerturbationInfo,
    apply_edits,
    as_good,
    info,
    make_cases,
    perturb,
    perturbation,
    stream,
    unmet,
    worse,
)
from nlgauge.perturbations.surface import JumbleWords, RemovePunctuation
from nlgauge.text.languages import language


def test_edits_are_made_in_offsets_of_the_text_as_it_came():
    assert apply_edits("one two three", [Edit(0, 3, "1"), Edit(4, 4, "and "), Edit(8, 13, "")]) == "1 and two "
    assert apply_edits("one", []) == "one"
    assert apply_edits("", [Edit(0, 0, "new")]) == "new"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(2, 1, "")],
        [Edit(0, 9, "")],
        [Edit(-1, 1, "")],
        [Edit(0, 2, "x"), Edit(1, 3, "y")],
        [Edit(2, 3, "x"), Edit(0, 1, "y")],
    ],
)
def test_edits_that_overlap_or_reach_beyond_the_text_are_a_fault(edits):
    with pytest.raises(ValueError, match="in a text of 3 characters"):
        apply_edits("abc", edits)


@given(text=st.text(), cuts=st.lists(st.integers(0, 30), max_size=6), new=st.text(max_size=3))
def test_what_no_edit_names_stays(text, cuts, new):
    at = sorted(min(c, len(text)) for c in cuts)
    at = at[: len(at) // 2 * 2]
    edits = [Edit(a, b, new) for a, b in zip(at[::2], at[1::2], strict=True)]
    kept = [text[a:b] for a, b in zip([0, *at[1::2]], [*at[::2], len(text)], strict=True)]
    assert apply_edits(text, edits) == new.join(kept)


def draws(*key: object) -> list[int]:
    rng = stream(*key)  # type: ignore[arg-type]
    return [rng.randrange(10**9) for _ in range(3)]


def test_draws_hang_on_seed_template_and_key_and_on_nothing_else():
    random.seed(1)
    first = draws(0, "typos", "seg-1")
    random.seed(2)
    assert draws(0, "typos", "seg-1") == first
    others = [
        draws(1, "typos", "seg-1"),
        draws(0, "typo", "sseg-1"),
        draws(0, "typos", "seg-2"),
        draws(0, "typosseg-1", ""),
    ]
    assert first not in others
    assert len({tuple(d) for d in others}) == len(others)


def test_a_case_has_the_text_of_its_document():
    known = language()
    assert Case(known.analyse("Some text."), known).text == "Some text."


def test_a_text_is_replaced_as_a_whole():
    known = language()
    change = Case(known.analyse("Some text."), known).replaced("Other words.", turn=2)
    assert (apply_edits("Some text.", change.edits), change.meta) == ("Other words.", {"turn": 2})


def test_any_class_with_info_and_a_call_is_a_template():
    class Mine:
        info = PerturbationInfo("mine", "do nothing", "same", ("a", "b"))

        def __call__(self, case, rng):
            raise NotImplementedError

    assert isinstance(Mine(), Perturbation)
    assert not isinstance("mine", Perturbation)
    assert set(Mine.info.needs) <= NEEDS.keys()


def test_a_perturbation_without_a_name_is_called_like_its_class():
    class DropOldWords:
        info = worse("drop old words", ("an old boat", "a boat"), needs=("english", "pool"))

    class Dropped(DropOldWords):
        pass

    class Other:
        info = as_good("change nothing", ("a", "b"))

    class Named:
        info = worse("drop old words", ("an old boat", "a boat"), name="old")

    assert DropOldWords.info == PerturbationInfo(
        "drop_old_words", "drop old words", "lower", ("an old boat", "a boat"), frozenset({"english", "pool"})
    )
    assert Dropped.info.name == "drop_old_words"  # what it is was declared there
    assert (Other.info.name, Other.info.expect, Named.info.name) == ("other", "same", "old")


# --- Which perturbations there are, and how specifications become templates

NAMES = list(PERTURBATIONS.entries)


def test_every_entry_leads_to_a_frozen_template_of_that_name():
    for name in NAMES:
        built = perturbation(name)
        assert isinstance(built, Perturbation), name
        assert isinstance(info(name), PerturbationInfo), name
        assert built.info is info(name)
        assert info(name).name == name
        assert dataclasses.is_dataclass(built), name
        assert type(built).__dataclass_params__.frozen, name
        assert built == perturbation(name)
        assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(type(built)).parameters.values()), name


def test_there_are_no_two_templates_of_one_class_and_options():
    assert len({(e.target, *e.preset.items()) for e in PERTURBATIONS.entries.values()}) == len(NAMES)


def test_a_template_is_returned_as_it_is():
    mine = RemovePunctuation()
    assert perturbation(mine) is mine


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("jumble_word", "unknown perturbation 'jumble_word'.*jumble_words"),
        ("remove_punctuation:mod=misplace", "mod"),
        ("remove_punctuation:mode=misplaced", "misplace"),
        ("0.5*typos + 0.5*negation", "is a sum, expected one perturbation"),
        (RemovePunctuation, "got the class RemovePunctuation"),
        (7, "got int"),
    ],
)
def test_what_names_no_template_is_refused(spec, match):
    with pytest.raises(SpecError, match=match):
        perturbation(spec)


# --- Many texts, one template: what applies, what does not and why, and what draws hang on

TEXTS = ["The bus came late today.", "Yes", "", "Two old boats lie in a harbour.", "No mark at all"]


@dataclass(frozen=True, kw_only=True)
class Echo:
    """Says what the case holds."""

    word: str = "x"
    times: int = 1
    info: ClassVar = PerturbationInfo("echo", "say a word", "lower", ("a", "b"), needs=frozenset())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        if self.word == "bug" and "b" in case.text:
            return Change([Edit(1, 9, "")])
        if self.word == "refused":
            raise InputError("no such file")
        if self.word == "nothing":
            return Change([Edit(0, 1, case.text[0])])
        return Change(
            [Edit(0, len(case.text), self.word * self.times)], {"speaker": case.speaker, "draw": rng.random()}
        )


def needing(*needs: str) -> Echo:
    made = Echo()
    object.__setattr__(
        made, "info", PerturbationInfo("echo", "say a word", "lower", ("a", "b"), needs=frozenset(needs))
    )
    return made


def test_one_entry_for_each_text_and_a_reason_where_there_is_none():
    made = perturb("remove_punctuation", TEXTS)
    assert [p.text if p else None for p in made] == [
        "The bus came late today",
        None,
        None,
        "Two old boats lie in a harbour",
        None,
    ]
    assert made.reasons == [None, "no punctuation", "empty", None, "no punctuation"]
    assert made.skipped == {"no punctuation": 2, "empty": 1}


def test_a_perturbed_text_says_all_that_was_done():
    made = perturb("remove_punctuation", "The bus came.", seed=4, ids=["s1"])[0]
    assert made is not None
    assert (made.text, made.edits, made.original) == ("The bus came", [(12, 13, "")], "The bus came.")
    assert (made.perturbation, made.expect, made.seed, made.meta, made.id) == (
        "remove_punctuation",
        "lower",
        4,
        {"removed": 1},
        "s1",
    )


def test_a_single_string_is_one_text():
    assert len(perturb("remove_punctuation", "The bus came.")) == 1


def test_a_template_that_changes_nothing_did_not_apply():
    assert perturb(Echo(word="nothing"), ["abc"]).reasons == ["unchanged"]


def test_options_stand_beside_the_name_or_in_it_or_in_the_object():
    texts = ["The bus came late, and we left."]
    named = perturb("remove_punctuation:mode=misplace", texts)
    assert perturb("remove_punctuation", texts, mode="misplace") == named
    assert perturb("remove_punctuation:mode=remove", texts, mode="misplace") == named


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("remove_punctuation", {"mod": "misplace"}, "remove_punctuation has no option 'mod'.*mode"),
        (JumbleWords(), {"recase": False}, "make the object with them"),
    ],
)
def test_what_is_no_template_or_no_option_is_refused(name, options, match):
    with pytest.raises(SpecError, match=match):
        perturb(name, ["a b"], **options)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"texts": ["a", None]}, r"texts\[1\] is missing \(None or NaN\), expected a string"),
        ({"ids": ["a"]}, "2 texts but 1 of ids"),
        ({"ids": [1, 2]}, r"ids\[0\] is int, expected a string"),
        ({"ids": "ab"}, "2 texts but one string of ids"),
        ({"pool": "a b"}, "pool is one string"),
        ({"pool": ["a", 3]}, r"pool\[1\] is int"),
        ({"references": ["a", "b"]}, r"references\[0\] is one string, expected a list of texts"),
        ({"references": [["a"], [None]]}, r"references\[1\]\[0\] is missing"),
        ({"context": [[], ["Hello"]]}, r"context\[1\]\[0\] is 'Hello', expected a mapping with 'speaker' and 'text'"),
        ({"context": [[], [{"text": "a"}]]}, r"context\[1\]\[0\]"),
        ({"context": [[]]}, "2 texts but 1 of context"),
        ({"speakers": ["A"]}, "2 texts but 1 of speakers"),
        ({"language": "bultin"}, "unknown language backend 'bultin'.*builtin"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, match):
    with pytest.raises((InputError, SpecError), match=match):
        perturb("typos", **{"texts": ["a b", "c d"], **arguments})


@pytest.mark.parametrize(
    ("needs", "case", "reason"),
    [
        (set(), {"texts": ["  \n"]}, "empty"),
        ({"english"}, {"texts": ["渡轮七点离港。"]}, "language"),
        (set(), {"texts": ["渡轮七点离港。"]}, None),
        ({"context"}, {"texts": ["Yes."]}, "no context"),
        ({"context"}, {"texts": ["Yes."], "context": [[{"speaker": "A", "text": "So?"}]]}, None),
        ({"pool"}, {"texts": ["Yes."]}, "no pool"),
        ({"pool"}, {"texts": ["Yes."], "pool": ["Yes."]}, "no pool"),
        ({"pool"}, {"texts": ["Yes."], "pool": ["Yes.", "No."]}, None),
        ({"references"}, {"texts": ["Yes."]}, "no other reference"),
        ({"references"}, {"texts": ["Yes."], "references": [["Yes."]]}, "no other reference"),
        ({"references"}, {"texts": ["Yes."], "references": [["Yes.", "Sure."]]}, None),
    ],
)
def test_what_a_template_needs_is_looked_for_before_it_is_asked(needs, case, reason):
    [made] = make_cases(**case)
    assert unmet(needing(*needs), made) == reason


@pytest.mark.parametrize(
    ("turns", "speaker", "expected"),
    [
        ("", None, None),
        ("A", None, None),  # nobody known but the one who spoke
        ("AB", None, "A"),
        ("ABA", None, "B"),
        ("ABB", None, "A"),
        ("ABC", None, "B"),
        ("AB", "B", "B"),
        ("", "A", "A"),
    ],
)
def test_the_speaker_is_the_one_who_did_not_speak_last(turns, speaker, expected):
    context = [[{"speaker": s, "text": "Well."} for s in turns]]
    [made] = perturb(Echo(), ["Yes."], context=context, speakers=[speaker])
    assert made is not None
    assert made.meta["speaker"] == expected


def test_draws_hang_on_the_id_or_else_on_the_text_and_never_on_the_place():
    texts = ["a b", "c d", "a b"]

    def drawn(**arguments: object) -> list[float]:
        return [p.meta["draw"] for p in perturb(Echo(), **arguments) if p]  # type: ignore[arg-type]

    a, c, again = drawn(texts=texts)
    assert a == again != c
    assert drawn(texts=texts[::-1]) == [again, c, a]
    assert drawn(texts=texts[:1]) == [a]
    assert len(set(drawn(texts=texts, ids=["1", "2", "3"]))) == 3
    assert drawn(texts=["x", "y"], ids=["2", "1"]) == drawn(texts=["y", "x"], ids=["1", "2"])[::-1]
    assert drawn(texts=texts, seed=1) != drawn(texts=texts)


def test_a_bug_leaves_one_text_alone_and_is_told():
    with pytest.warns(
        UserWarning, match=r"^echo: a bug \(ValueError: edit \(1, 9, ''\) after 0 .*\) with the text 'a b', w"
    ):
        made = perturb(Echo(word="bug"), ["a b", "c d"])
    assert made.reasons == [BUG, None]
    with pytest.raises(InputError, match=r"^no such file$"):  # what the user can mend ends the run
        perturb(Echo(word="refused"), ["a b"])


def test_a_language_may_be_an_object():
    class Loud(type(language())):  # type: ignore[misc]
        name = "loud"

        def analyse(self, text):
            return language().analyse(text.upper())

    [case] = make_cases(["a b"], backend=Loud())
    assert case.text == "A B"
