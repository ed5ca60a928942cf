import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.scenes.dialogue import (
    GENERIC,
    SORRY,
    GenericResponse,
    NegatePreviousUtterance,
    RepeatLastSpeaker,
    RepeatOwnUtterance,
    SorryRepeat,
)

TALK = [("A", "I grow roses."), ("B", "Do you sell them?"), ("A", "What a question!"), ("B", "You could open a shop.")]
RESPONSE = "I have no time for that."
TEMPLATES = [NegatePreviousUtterance(), RepeatOwnUtterance(), RepeatLastSpeaker(), SorryRepeat(), GenericResponse()]


def outcome(template, text=RESPONSE, talk=TALK, seed=0, speaker=None):
    turns = [{"speaker": who, "text": said} for who, said in talk]
    made = perturb(template, [text], context=[turns], speakers=[speaker] if speaker else None, seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def outcomes(template, **case):
    return {outcome(template, seed=seed, **case) for seed in range(30)}


def test_an_own_statement_is_contradicted():
    assert outcomes(NegatePreviousUtterance()) == {"I do not grow roses."}


def test_statements_are_contradicted_before_questions_are_turned():
    talk = [("A", "Is it far?"), ("B", "Yes."), ("A", "It is cold."), ("B", "Yes.")]
    assert outcomes(NegatePreviousUtterance(), talk=talk) == {"It is not cold."}
    assert outcome(NegatePreviousUtterance(), talk=talk[:2]) == "Is it not far?"


def test_the_speaker_may_be_named():
    assert outcomes(NegatePreviousUtterance(), speaker="B") == {"You could not open a shop."}
    assert outcomes(RepeatOwnUtterance(), speaker="B") == {"Do you sell them?", "You could open a shop."}


def test_own_turns_are_repeated_several_in_a_row_too():
    assert outcomes(RepeatOwnUtterance()) == {"I grow roses.", "What a question!"}
    assert outcomes(RepeatOwnUtterance(), talk=[("A", "Hello."), ("A", "Anyone there?"), ("B", "Yes.")]) == {
        "Hello.",
        "Anyone there?",
    }


def test_the_last_turn_of_another_is_repeated():
    assert outcome(RepeatLastSpeaker()) == "You could open a shop."
    assert outcome(RepeatLastSpeaker(), talk=[*TALK, ("A", "Well.")], speaker="A") == "You could open a shop."


@pytest.mark.parametrize(
    ("template", "case", "reason"),
    [
        (NegatePreviousUtterance(), {"talk": []}, "no context"),
        (RepeatOwnUtterance(), {"talk": []}, "no context"),
        (RepeatLastSpeaker(), {"talk": []}, "no context"),
        (NegatePreviousUtterance(), {"talk": TALK[:1]}, "no earlier turn of the speaker"),
        (RepeatOwnUtterance(), {"talk": TALK[:1]}, "no earlier turn of the speaker"),
        (RepeatOwnUtterance(), {"talk": [("A", "  "), ("B", "Hm.")]}, "no earlier turn of the speaker"),
        (NegatePreviousUtterance(), {"talk": [("A", "Wow, roses!"), ("B", "Yes.")]}, "no turn to negate"),
        (RepeatLastSpeaker(), {"talk": [("A", "Hm."), ("A", "Well.")], "speaker": "A"}, "no turn of another speaker"),
        # what would say the same again
        (RepeatOwnUtterance(), {"text": "i grow roses", "talk": TALK[:2]}, "unchanged"),
        (RepeatLastSpeaker(), {"text": "You could open a shop"}, "unchanged"),
        (NegatePreviousUtterance(), {"text": "I do not grow roses!", "talk": TALK[:2]}, "no turn to negate"),
        (GenericResponse(replies=("Ok.",)), {"text": "OK"}, "unchanged"),
        (SorryRepeat(), {"text": "明日は雨です。"}, "language"),
    ],
)
def test_says_why_it_does_not_apply(template, case, reason):
    assert outcome(template, **case) == reason


@pytest.mark.parametrize(("template", "replies"), [(SorryRepeat(), SORRY), (GenericResponse(), GENERIC)])
def test_replies_come_from_the_list(template, replies):
    assert outcomes(template, talk=[]) == set(replies)


def test_a_reply_is_never_the_response():
    assert outcomes(GenericResponse(), text="thank you") == set(GENERIC) - {"Thank you."}


def test_replies_can_be_given_as_a_list_or_in_the_specification():
    assert outcome(SorryRepeat(replies=["Pardon?"])) == "Pardon?"
    assert outcome('generic_response:replies="Hm.|Aha."') in {"Hm.", "Aha."}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: t.info.name)
@given(text=st.text(), talk=st.lists(st.tuples(st.sampled_from("AB"), st.text()), max_size=4))
def test_the_whole_response_is_replaced_or_there_is_a_reason(template, text, talk):
    turns = [{"speaker": who, "text": said} for who, said in talk]
    [made] = found = perturb(template, [text], context=[turns])
    if made is None:
        assert found.reasons[0]
    else:
        assert made.edits == [(0, len(text), made.text)]
        assert made.text != text
