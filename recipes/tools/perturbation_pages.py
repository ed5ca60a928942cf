"""The pages of the reference that show every perturbation on sentences of our own, as doctests.

`reference.py` writes them. Run it again when a perturbation changes, and look at the difference.
"""

import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable
from functools import cache

from markdown_parts import FEW, MARK

import nlgauge as ng
from nlgauge.core.metric import show
from nlgauge.perturbations.checklist import checklist_rows
from nlgauge.perturbations.perturb import PERTURBATIONS, info

NEWS = (
    "The old ferry didn't reach the island on Monday, because the harbour was closed.",
    "Maria Lopez paid $1.5 million for 12 small boats in 1998, said Mr. Brown.",
    "She told him that they are proud of their new bridge.",
)
SUMMARY = "The storm closed two roads. Farmers lost their early crops. Nobody was hurt."
QUESTIONS = ("When did the ferry leave the harbour?", "Who painted the old bridge?", "Is the museum open?")
CAPTIONS = (
    "a small boy in a red shirt walking a dog in front of a house",
    "Two women riding white horses on the beach.",
)
POOL = ("The bakery sells warm bread.", "Our team won the last match.")
CONTEXT = (
    {"speaker": "Ana", "text": "I have never been to the mountains."},
    {"speaker": "Ben", "text": "You should come with us in May."},
    {"speaker": "Ana", "text": "I like the idea."},
    {"speaker": "Ben", "text": "Shall I book a room?"},
)
REPLY = "Yes, please take the one with a view."
POOLED = "What is drawn depends on the texts of the pool, and not on their order."
MORE = (
    "[`nlgauge audit`](../verbs/audit.md) holds metrics to them, [`nlgauge perturb`](../verbs/perturb.md) writes them;"
    " [all perturbations](../perturbations.md) has their checklists."
)
REFERENCES = ("On Monday the old ferry did not get to the island: the harbour was shut.",)

PAGES = {
    "surface": (
        "Fluency and word order",
        (
            "remove_punctuation",
            "jumble_words",
            "subject_verb_disagreement",
            "drop_stopwords",
            "typos",
            "keep_only_stopwords",
        ),
    ),
    "invariance": (
        "What should change nothing",
        (
            "synonyms",
            "synonyms_attributes",
            "synonyms_objects",
            "contractions",
            "expansions",
            "numbers_to_words",
            "alternative_references",
        ),
    ),
    "meaning": (
        "Meaning: facts left out, added or reversed",
        (
            "negation",
            "antonyms",
            "hyponyms",
            "change_numbers",
            "change_names",
            "drop_named_entities",
            "drop_adjectives",
            "drop_phrases",
            "repeat_phrases",
            "add_extra_text",
        ),
    ),
    "discourse": (
        "Summaries, questions and dialogue",
        (
            "reorder_sentences",
            "repeat_sentences",
            "nouns_to_pronouns",
            "change_question_word",
            "drop_question_word",
            "question_to_assertion",
            "mask_and_predict",
            "perturb_entities",
            "negate_previous_utterance",
            "add_nonsense",
            "repeat_own_utterance",
            "repeat_last_speaker",
            "sorry_repeat",
            "generic_response",
            "random_text",
        ),
    ),
    "captions": ("Captions", ("change_attributes", "change_gender", "swap_objects", "drop_objects", "repeat_object")),
    "attacks": (
        "Attacks of MENLI",
        (
            "addition",
            "omission",
            "mismatch_noun",
            "mismatch_verb",
            "mismatch_adj",
            "number_error",
            "pronoun_error",
            "name_error",
            "number_and_negation",
        ),
    ),
}
LEADS = {
    "surface": "These perturbations damage the form of a text. A score should drop.",
    "invariance": (
        "These perturbations keep the meaning and the quality of a text. A score should stay the same; a metric that"
        " drops here punishes good texts."
    ),
    "meaning": "These perturbations change what a text says, mostly in well-formed sentences. A score should drop.",
    "discourse": (
        "These perturbations belong to summaries, questions and dialogue. Those of dialogue need `context`, the turns"
        " before the reply. Those that bring in other text need `pool`, a list of texts. A score should drop."
    ),
    "captions": "These perturbations belong to captions of images. A score should drop.",
    "attacks": (
        "MENLI attacks metrics with twelve perturbations. Eight of them, and one that combines two, are on this page."
        " The other four also belong to the checklists: `negation` ([meaning](meaning.md)), and `jumble_words`, `typos`"
        " and `subject_verb_disagreement` ([surface](surface.md)). A score should drop."
    ),
}


def texts_for(name: str) -> tuple[str, ...]:
    tasks = {row.task for row in checklist_rows() if row.template == name}
    if name in ("reorder_sentences", "repeat_sentences", "nouns_to_pronouns"):
        return (SUMMARY,)
    if "context" in info(name).needs or tasks == {"dg"}:
        return (REPLY,)
    if tasks == {"qg"}:
        return QUESTIONS
    if tasks == {"ic"} or name in ("synonyms_attributes", "synonyms_objects"):
        return CAPTIONS
    return NEWS


def example(name: str) -> list[str]:
    texts = texts_for(name)
    needs = info(name).needs
    given, arguments = {}, ""
    for what, value, shown in (
        ("context", [list(CONTEXT)] * len(texts), ", context=[turns]"),
        ("pool", list(POOL), ", pool=pool"),
        ("references", [list(REFERENCES)] * len(texts), ", references=[others] * 3"),
    ):
        if what in needs or (what == "pool" and name == "add_nonsense"):
            given[what], arguments = value, arguments + shown
    made = ng.perturb(name, list(texts), seed=0, **given)
    variable = {
        NEWS: "news",
        QUESTIONS: "questions",
        CAPTIONS: "captions",
        (SUMMARY,): "[summary]",
        (REPLY,): "[reply]",
    }[texts]
    return [
        f'>>> show(ng.perturb("{name}", {variable}, seed=0{arguments}))',
        next(one.text for one in made if one is not None),
        "",
    ]


def options(name: str) -> list[str]:
    """The options of a perturbation; what one has before it in the same words is told there."""
    lines = []
    for option, default, about in listed_options(name):
        first, stem = first_told()[option, about]
        if about and first != name and len(about.split()) > FEW:
            about = f"as in [`{first}`]({stem}.md#{first})"
        lines.append(wrapped(f"- `{option}`, default `{default}`" + (f": {about}" if about else "")))
    return [*lines, ""] if lines else []


def listed_options(name: str) -> list[tuple[str, str, str]]:
    """Each option of a perturbation with its default and what it does."""
    cls, preset = PERTURBATIONS.lookup(name)
    told: dict[str, str] = {}
    for base in reversed(cls.__mro__):  # options that sisters share are explained in the class that declares them
        told |= re.findall(r"^\s{8}(\w+(?:, \w+)*): (.+(?:\n\s{12}.+)*)", base.__doc__ or "", re.MULTILINE)
    named = {name: " ".join(text.split()) for names, text in reversed(told.items()) for name in names.split(", ")}
    return [
        (field.name, show(preset.get(field.name, field.default)), named.get(field.name, ""))
        for field in dataclasses.fields(cls)
        if field.init
    ]


@cache
def first_told() -> dict[tuple[str, str], tuple[str, str]]:
    """An option and what it does -> the first perturbation that has it, and its page."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for stem, (_, names) in PAGES.items():
        for name in names:
            for option, _, about in listed_options(name):
                found.setdefault((option, about), (name, stem))
    return found


def wrapped(text: str) -> str:
    """Lines of at most 120 characters; those of a list item are indented."""
    indent = "  " if text.startswith("- ") else ""
    lines = textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def page(stem: str, rules: Callable[[str | None], Iterable[str]]) -> str:
    """A page of perturbations; `rules` gives the paragraphs of a docstring between its summary and its options."""
    title, names = PAGES[stem]
    lead = LEADS[stem]
    lines = [
        f"# Perturbations: {title[0].lower()}{title[1:]}",
        "",
        MARK,
        "",
        wrapped(f"{lead} {MORE}"),
        "",
        "```python",
        ">>> import nlgauge as ng",
        ">>> def show(outcomes):  # the first text that was changed",
        "...     print(next(one.text for one in outcomes if one is not None))",
        "",
    ]
    used = {texts_for(name) for name in names}
    if NEWS in used:
        lines += [">>> news = ["] + [f'...     "{t}",' for t in NEWS] + ["... ]"]
    if any("references" in info(name).needs for name in names):
        lines += [f'>>> others = ["{REFERENCES[0]}"]']
    if QUESTIONS in used:
        lines += [">>> questions = [" + ", ".join(f'"{t}"' for t in QUESTIONS) + "]"]
    if CAPTIONS in used:
        lines += [">>> captions = ["] + [f'...     "{t}",' for t in CAPTIONS] + ["... ]"]
    if (SUMMARY,) in used:
        lines += [f'>>> summary = "{SUMMARY}"']
    if (REPLY,) in used:
        lines += [">>> turns = ["] + [f"...     {turn!r}," for turn in CONTEXT] + ["... ]", f'>>> reply = "{REPLY}"']
    if any("pool" in info(name).needs or name == "add_nonsense" for name in names):
        lines += [f">>> pool = {list(POOL)!r}"]
    lines += ["", "```", ""]
    for name in names:
        about = info(name)
        lines += [f"## {name}", "", wrapped(f"{about.summary[0].upper()}{about.summary[1:]}."), ""]
        told = [
            line
            for rule in rules(PERTURBATIONS.lookup(name)[0].__doc__)
            for line in (wrapped(" ".join(rule.split())), "")
        ]
        lines += [*told, *options(name), *((POOLED, "") if "pool" in about.needs else ())]
        lines += ["```python", *example(name), "```", ""]
    return "\n".join(lines).rstrip() + "\n"
