"""Words with offsets: the treebanks' conventions by example, any text, and agreement with tagged English."""

import gzip
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.text.words import word_spans

DATA = os.environ.get("NLGAUGE_DATA")


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


# Bars show where tokens end; blanks part them too.
@pytest.mark.parametrize(
    "marked",
    [
        # clitics, with both apostrophes and in capitals
        "I| do|n't| think| he|'s| gone|,| but| we|’re| late| and| they| wo|n’t| wait|.",
        "You| should|n't|'ve| come| and| I|'d|'ve| said| so|.",
        "WE| CA|N'T| AND| IT|'S| NOT| OURS",
        "You| can|not| stay|,| and| I| am| gon|na| leave|.",
        "The| dogs|'| bowls| are| Anna|'s|,| not| the| girls|’| own|.",
        "Let|'s| meet| at| six| o'clock|,| ma'am|.",
        "Mr.| O'Hara| wrote| that|.",
        # already parted
        "it| 's| what| we| did| n't| say",
        # money, numbers, units
        "It| costs| $|1,500|,| or| €|2.5| million|,| up| 5|%|.",
        "US$|30| buys| 2.5|km| of| wire| at| 10:30|;| 1/2| is| left|.",
        "The| 3rd| and| 4th| of| May| in| the| 1990s| (|the| '90s|)|.",
        "From| 10|-|12| people| came| at| 5|pm|.",
        "2016|'s| best| song| is| from| the| 1960's|.",
        # abbreviations, initials
        "Dr.| J.| R.| Weber| left| the| U.S.| at| 5| p.m.| with| Mrs.| Lang|,| e.g.| by| train|.",
        "Gen.| Moss| and| St.| Ives| Ltd.| signed| in| Jan.| 2004|.",
        "No|.| That| is| no| fig|.",
        "It| is| on| p.| 7|,| fig.| 3|,| no.| 4|.",
        "Plan| B|.",
        # hyphens
        "A| well|-|known| ten|-|year|-|old| e-mail| from| a| non-profit|.",
        "He| left| -|-| or| not| --| at| noon|—|alone|.".replace("-|-|", "--|"),
        # marks
        "Well|...| Stop|!!| (|Really|?!|)| “|Yes|,|”| she| said|…",
        "salt| and|/|or| pepper",
        "``| so| ''",
        # addresses
        "Write| to| ann.lee@mail.example.org|,| or| see| www.example.com/a?b=1|,| https://example.org/x_(y|)|.",
        "Go| to| example.com|.| Now|.",
        "Thanks| @anna| for| the| #music| :)",
    ],
)
def test_words_are_parted_as_in_the_treebanks(marked):
    expected = [word for word in marked.replace("|", " ").split() if word]
    assert words(marked.replace("|", "")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", []), (" \t\n\u00a0", []), ("a", ["a"]), ("'", ["'"]), ("’s", ["’s"]), ("\ud800", ["\ud800"])],
)
def test_texts_of_hardly_anything(text, expected):
    assert words(text) == expected


def test_letters_of_other_scripts_are_not_torn_from_their_signs():
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert words("на русском языке.") == ["на", "русском", "языке", "."]
    assert words("cafe\u0301 noir") == ["cafe\u0301", "noir"]


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("aAsStTnN0119.,:;/'’-–@#$%&()!?… \n\u00a0\ud800"))))
@example("'s's's's")
@example("a.b.c.d@e.f.com/..")
@example("A.\n")
def test_every_character_that_is_not_blank_lies_in_exactly_one_token(text):
    reached = 0
    for start, end in word_spans(text):
        assert reached <= start < end <= len(text)
        assert not text[reached:start].strip()
        assert not any(character.isspace() for character in text[start:end])
        reached = end
    assert not text[reached:].strip()


@given(text=st.text(st.sampled_from("abSt'’n.,-0 ")), blanks=st.sampled_from(["\t", "\n", "\u00a0", "   "]))
def test_the_kind_of_blank_does_not_matter(text, blanks):
    assert words(text) == words(text.replace(" ", blanks))


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "a'", "'s", "@", "1,", "1,1x,", "www.", "http://)", "a-", ".", "A. ", "a@a.", "a's", "क्", "\ud800"],
)
def test_work_is_linear_in_the_text(unit):
    def seconds(repeats: int) -> float:
        start = time.process_time()
        word_spans(unit * repeats)
        return time.process_time() - start

    # Ten times the text: quadratic work would take a hundred times as long; 40 leaves room for a busy machine.
    limit = 40 * max(min(seconds(2_000) for _ in range(3)), 1e-4)
    assert any(seconds(20_000) < limit for _ in range(3))


@pytest.mark.skipif(DATA is None, reason="NLGAUGE_DATA is not set")
@pytest.mark.parametrize(
    ("file", "least"), [("pud.test.jsonl.gz", 0.998), ("ewt.test.jsonl.gz", 0.984)]
)  # measured: 0.9995, 0.986
def test_spans_agree_with_treebanks(file, least):
    agreed = ours = theirs = 0
    with gzip.open(Path(DATA, "ud", file), "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            gold, reached = set(), 0
            for form, *_ in row["tokens"]:
                start = row["text"].index(form, reached)
                reached = start + len(form)
                gold.add((start, reached))
            found = set(word_spans(row["text"]))
            agreed, ours, theirs = agreed + len(found & gold), ours + len(found), theirs + len(gold)
    assert 2 * agreed / (ours + theirs) >= least
