"""Perturbations of questions: another question word, none, or a statement that answers the question."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

from nlgauge.core.options import Checked, checked
from nlgauge.models.infill import Gap, Infill
from nlgauge.perturbations.draft import Draft, with_case_of
from nlgauge.perturbations.perturb import Case, Change, Inapplicable, apply_edits, worse
from nlgauge.perturbations.severity import check_infill, infill
from nlgauge.text.doc import FINITE, NOUNS, VERBS, Doc, Token
from nlgauge.text.english.questions import (
    ADVERBS,
    BE,
    PREDICATED,
    PRONOUNS,
    WH,
    InvertedClause,
    Question,
    answer_place,
    full_form,
    is_auxiliary,
    phrase_end,
    questions,
    take_apart,
)
from nlgauge.text.english.verbs import DO, NOT, is_loud
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import lemma, supersense
from nlgauge.text.scripts import data_lines

PERSONS = ("Mary Jones", "Peter Brown", "Anna Clark", "David Miller")
PLACES = ("London", "Canada", "Boston", "Vienna")
YEARS = ("1950", "1987", "2004", "1912")
THINGS = ("something new", "something else", "something small")
MANY_THINGS = ("two new things", "a few small things")
NUMBERS = ("two", "three", "twelve", "twenty")
REASONS = ("for a good reason", "because of the weather", "for two reasons")
MANNERS = ("in the usual way", "with great care", "in a new way")
STATES = ("fine", "well")

_KINDS = frozenset({"kind", "type", "sort", "class", "form"})


def head(doc: Doc, first: int, last: int) -> Token:
    """The noun that a phrase is about: the last before what hangs on it by `of`, or by another preposition."""
    for place in range(first + 1, last + 1):
        if doc.tokens[place].tag in ("IN", "TO", ",") and doc.tokens[place - 1].tag[0] in "NPC":
            return doc.tokens[place - 1]
    return doc.tokens[last]


def asked(noun: Token) -> tuple[str, tuple[str, ...]] | None:
    """The preposition and the answers that go with a noun: "in" and years for "year".

    None if only the noun itself can be said again.
    """
    base = lemma(noun.lower, noun.tag)
    entry = _asked().get(base)
    return ("", PERSONS) if entry is None and noun.tag == "NN" and supersense(base, "noun") == "noun.person" else entry


def of_kind(noun: Token) -> Sequence[str]:
    """The kinds of answer to a noun: a place for "capital", a person for "director"."""
    base = lemma(noun.lower, noun.tag)
    if noun.tag in ("NNS", "NNPS"):
        return MANY_THINGS
    if base in _asked():
        return _asked()[base][1]
    if noun.tag == "NNP":
        return THINGS
    return _asked().get(supersense(base, "noun") or "", ("", THINGS))[1]


def nominal(doc: Doc, question: Question, plural: bool) -> tuple[str, Sequence[str], str]:
    """For a question phrase that asks for a thing: what stands before the answer, the answers, what stands behind."""
    tokens, wh, last = doc.tokens, question.wh, question.last
    word, behind = tokens[wh].lower, doc.text[tokens[wh].end : tokens[last].end].strip()
    if word == "how":
        noun = doc.text[tokens[wh + 1].end : tokens[last].end].strip() if last > wh + 1 else ""
        if tokens[wh + 1].lower in ("many", "few"):
            return "", NUMBERS[1:], f" {noun}" if noun else ""
        costs = question.verb >= 0 and tokens[question.verb].lower in BE
        sums = ("ten dollars", "two dollars") if costs else ("a lot", "a little")
        return "", ("a lot of", "a little") if noun else sums, f" {noun}" if noun else ""
    if last > wh and tokens[wh + 1].lower == "of":
        return "", ("one",), f" {behind}"
    if word == "whose":
        return "", ("Mary's", "Peter's"), f" {behind}" if behind else ""
    if word in ("who", "whom"):
        return "", (f"{PERSONS[0]} and {PERSONS[1]}", f"{PERSONS[2]} and {PERSONS[3]}") if plural else PERSONS, ""
    if last == wh or tokens[wh + 1].lower in ("else", "exactly"):
        return "", MANY_THINGS if plural else THINGS, ""
    noun_token = head(doc, wh + 1, last)
    answers = None if noun_token.lower == "number" and noun_token.index > wh + 1 else asked(noun_token)
    if answers is not None and noun_token.tag in ("NN", "NNP"):
        return "", answers[1], ""
    if noun_token.tag in ("NNS", "NNPS"):
        return "", ("these", "the same", "two"), f" {behind}"
    return "", ("another", "a certain") if noun_token.lower not in _KINDS else ("another", "the same"), f" {behind}"


@cache
def _asked() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Nouns, and fields of meaning of nouns, with the preposition and the answers that go with them."""
    rows = (line.split("\t") for line in data_lines("answers.tsv"))
    return {noun: (preposition, tuple(answers.split("|"))) for noun, preposition, answers in rows}


# --- A question turned into a statement: the subject before its verb, something said in the place of what was asked

Choose = Callable[[Sequence[str]], str]
_NO_VERB, _NO_SUBJECT = Inapplicable("no finite verb"), Inapplicable("no subject found")
_ALONG = frozenset({"then", "though", "anyway", "now", "exactly", "again"})
_SOME = {"any": "some", "anyone": "someone", "anybody": "somebody", "anything": "something", "anywhere": "somewhere"}


def declare(draft: Draft, question: Question, language: Language, choose: Choose) -> Inapplicable | None:
    """Turn a question into a statement, in a draft.

    Args:
        draft: a draft of the text that contains the question.
        question: one of its questions.
        language: gives the forms of verbs.
        choose: takes one of several things to say.

    Returns:
        None if the statement was made, else the reason why it could not be; the draft is then unusable.
    """
    doc = draft.doc
    question = _shortened(doc, question)
    if _asks_again(doc, question):
        return Inapplicable("two questions in one")
    if question.wh < 0:
        failed = _confirm(draft, question, language)
    elif question.fixed or (question.verb < 0 and question.at_start):
        return _NO_VERB
    elif not question.at_start and question.verb < 0:
        before, answers, behind = _said(doc, question)
        draft.replace(question.opens, question.last, before + choose(answers) + behind)
        failed = None
    else:
        failed = _answer(draft, question, language, choose)
    if failed is None and question.mark is not None:
        stopped = doc.touches(question.mark) and doc.tokens[question.mark - 1].text.endswith(".")
        stopped |= question.mark + 1 < len(doc.tokens) and doc.tokens[question.mark + 1].text == "."
        draft.replace(question.mark, question.mark, "" if stopped else _stop(doc, question.mark))
    return failed


def _shortened(doc: Doc, question: Question) -> Question:
    """The question without what is only said along with it at its end: ", then", ", Mr Smith"."""
    tokens, end = doc.tokens, question.end
    for comma in range(end - 1, max(question.first, question.last, question.verb, end - 5), -1):
        if tokens[comma].text == ",":
            if all(t.tag in ("RB", "UH", "NNP", "IN") for t in tokens[comma + 1 : end]):
                end = comma
            break
    if end == question.end and end - 2 > max(question.verb, question.last) and tokens[end - 1].lower in _ALONG:
        end -= 1
    return replace(question, end=end)


def _stop(doc: Doc, mark: int) -> str:
    """A full stop, or a comma where the sentence goes on behind a quotation: '"Is it?" he asked'."""
    tokens = doc.tokens
    goes_on = mark + 2 < len(tokens) and tokens[mark + 1].is_punctuation and tokens[mark + 2].text[0].islower()
    return "," if goes_on and doc.sentence_at[mark] == doc.sentence_at[mark + 2] else "."


def _asks_again(doc: Doc, question: Question) -> bool:
    """Whether a second question is joined to the first: "who came, and why did they leave?"."""
    tokens = doc.tokens
    for i in range(max(question.first, question.verb, question.last) + 1, question.end - 1):
        if tokens[i].tag == "CC" or tokens[i].text in (",", "-", "–", "—"):
            following = tokens[i + 1]
            if following.lower in WH:
                verb = phrase_end(doc, i + 1, question.end) + 1
                asks = following.lower in ADVERBS or verb > i + 2 or following.lower == "what"
                if asks and verb < question.end and is_auxiliary(tokens[verb]):
                    return True
            joined = following.lower == "who" and tokens[i].tag == "CC" and i + 2 < question.end
            if joined and is_auxiliary(tokens[i + 2]):
                return True
            inverts = is_auxiliary(following) and following.tag != "VB" and i + 3 < question.end
            if inverts and tokens[i + 2].tag in ("PRP", "DT", "NNP", "EX"):
                return True
    return False


def _confirm(draft: Draft, question: Question, language: Language) -> Inapplicable | None:
    """Turn a yes-no question into its "yes".

    A statement with a question mark loses its tag ("isn't it?").
    """
    doc, tokens = draft.doc, draft.doc.tokens
    if question.verb >= 0:
        clause = take_apart(doc, question.verb, question.end, whole=False)
        if clause is None:
            return _NO_SUBJECT
        _uninvert(draft, clause, question, language)
        if clause.aux_last == clause.aux:
            for i in range(clause.subject + 1, question.end):
                if tokens[i].lower in _SOME and tokens[i - 1].lower not in NOT:
                    draft.replace(i, i, _SOME[tokens[i].lower])
        return None
    first, end = question.first, question.end
    tag = end - 1
    while tag > first and tokens[tag].text != ",":
        tag -= 1
    if tokens[end - 1].tag == "PRP" and tokens[end - 2].lower == "n't" and end - 4 > first:
        draft.delete(end - 4 if tag == end - 4 else end - 3, end - 1)  # "didn't he", with or without comma
        return None
    tagged = first < tag < end - 1 and is_auxiliary(tokens[tag + 1])
    if tagged and tokens[end - 1].tag in ("PRP", "EX", "RB"):
        draft.delete(tag, end - 1)
        return None
    if not any(t.tag in FINITE for t in tokens[first:end]):
        return _NO_VERB
    asks = is_auxiliary(tokens[first]) or any(t.lower in WH for t in tokens[first:end])
    opens_with_verb = tokens[first].tag in ("VB", "VBP")  # "Take it or leave it?", "Dare we hope?"
    return _NO_SUBJECT if asks or opens_with_verb else None


def _answer(draft: Draft, question: Question, language: Language, choose: Choose) -> Inapplicable | None:
    doc, tokens = draft.doc, draft.doc.tokens
    verb, word, end = question.verb, tokens[question.wh].lower, question.end
    several, governed = question.last > question.wh, question.opens < question.wh
    counts = several and tokens[question.wh + 1].lower in ("many", "much", "few")
    adverbial = word in ADVERBS and not (word == "how" and counts)
    if not question.inverted and not (adverbial and is_auxiliary(tokens[verb])):
        main = verb + 1 >= end or tokens[verb + 1].tag in NOUNS | {"PRP", "DT", "PRP$"}  # "Who did it?"
        if adverbial or governed or (tokens[verb].lower in DO and not main):
            return _NO_SUBJECT
        there = verb + 1
        exists = several and there < end and tokens[there].lower == "there" and tokens[verb].lower in BE
        if exists and (there + 1 >= end or tokens[there + 1].tag == "IN"):
            _existence(draft, question, InvertedClause(verb, verb, there, there, None), choose)
        else:
            _replace_subject(draft, question, choose)
        return None
    clause = take_apart(doc, verb, question.end, whole=word != "why", thing=word in PRONOUNS)
    if clause is None:
        return _NO_SUBJECT
    identity = clause.main is None and tokens[verb].lower in BE | {"'s"} and clause.subject_last == question.end - 1
    of_subject = word in ("who", "whom") or (several and tokens[question.wh + 1].lower in ("many", "few"))
    if identity and of_subject and not governed and not _pronominal(doc, clause):
        _replace_subject(draft, question, choose)
        return None
    if several and not adverbial and not governed and tokens[clause.subject].lower == "there":
        _existence(draft, question, clause, choose)
        return None
    place = answer_place(doc, question, clause, identity, adverbial or governed)
    if place is None:
        return _NO_SUBJECT
    _uninvert(draft, clause, question, language, question.opens)
    before, answers, behind = _said(doc, question, clause if identity else None)
    _insert(draft, place, before, choose(answers), behind, doc.text)
    return None


def _said(
    doc: Doc, question: Question, identity: InvertedClause | None = None, *, subject: bool = False
) -> tuple[str, Sequence[str], str]:
    """The words before the answer, the answers, and the words behind it.

    `identity` is the clause of "what is the ...?"; `subject` means that the answer is the subject of its verb.
    """
    tokens, wh = doc.tokens, question.wh
    word = tokens[wh].lower
    preposition = doc.text[tokens[question.opens].start : tokens[wh].start].lower() if question.opens < wh else ""
    past = question.verb < 0 or tokens[question.verb].lower in ("did", "was", "were", "had")
    stranded = question.end - 1 > question.last and tokens[question.end - 1].tag in ("IN", "TO")
    if word == "when":
        times = YEARS if past else ("Monday", "Friday")
        return preposition or ("" if stranded else "in " if past else "on "), times, ""
    if word == "where":
        return preposition or ("" if stranded else "in "), PLACES, ""
    if word == "why":
        return "", REASONS, ""
    if word == "how" and (question.last == wh or tokens[wh + 1].lower == "exactly"):
        return ("", STATES, "") if identity else ("", MANNERS, "")
    if word == "how" and tokens[wh + 1].lower not in ("many", "much", "few"):
        graded = doc.text[tokens[wh].end : tokens[question.last].end].strip()
        return "", ("very", "quite"), f" {graded}"
    if identity is not None and word in ("what", "which") and question.last == wh:
        noun = head(doc, identity.subject, identity.subject_last)
        if tokens[question.verb].lower in ("are", "were"):
            return preposition, MANY_THINGS, ""
        return preposition, THINGS if _pronominal(doc, identity) else of_kind(noun), ""
    you = identity is not None and tokens[identity.subject].lower == "you"
    plural = question.verb >= 0 and tokens[question.verb].lower in ("are", "were")
    before, answers, behind = nominal(doc, question, plural and (subject or identity is not None) and not you)
    bare = question.last > wh and identity is None and not preposition and not stranded
    if bare and question.inverted and word in ("what", "which"):
        entry = asked(head(doc, wh + 1, question.last))
        if entry is not None and entry[0] and behind == "" and entry[1] not in (PLACES, PERSONS):
            before = f"{entry[0]} "
    return preposition + before, answers, behind


def _replace_subject(draft: Draft, question: Question, choose: Choose) -> None:
    """Of a question about the subject: only the question phrase gives way."""
    doc = draft.doc
    before, answers, behind = _said(doc, question, subject=True)
    draft.replace(question.opens, question.last, before + choose(answers) + behind)
    if doc.touches(question.verb) and question.verb == question.last + 1:  # "Who's there?"
        draft.replace(question.verb, question.verb, f" {full_form(doc, question.verb)}", cased=False)


def _existence(draft: Draft, question: Question, clause: InvertedClause, choose: Choose) -> None:
    """Of "how many trains are there": "there are twelve trains"."""
    doc = draft.doc
    before, answers, behind = nominal(doc, question, False)
    verb = " ".join(doc.tokens[i].lower for i in range(clause.aux, clause.aux_last + 1))
    draft.replace(question.opens, clause.subject_last, f"there {verb} {before}{choose(answers)}{behind}")


def _uninvert(
    draft: Draft, clause: InvertedClause, question: Question, language: Language, first: int | None = None
) -> None:
    """Move the auxiliary behind its subject; "do" gives its tense to the verb.

    The tokens from `first` to the auxiliary are deleted.
    """
    doc, tokens = draft.doc, draft.doc.tokens
    aux = tokens[clause.aux].lower
    behind = clause.subject_last + 1
    denied = clause.aux_last > clause.aux or (behind < question.end and tokens[behind].lower in NOT)
    first = clause.aux if first is None else first
    if clause.subject == clause.aux_last + 1:  # as one edit with the word behind it, which may need the capital
        word = tokens[clause.subject].text
        word = with_case_of(word, _SOME.get(word.lower(), word)) if clause.aux_last == clause.aux else word
        raised = tokens[first].text[0].isupper() and not doc.starts_sentence(first)
        draft.replace(first, clause.subject, word[0].upper() + word[1:] if raised else word, cased=False)
    else:
        draft.delete(first, clause.aux_last)
    if aux in DO | {"'d"} and clause.main is not None and not denied and tokens[clause.main].tag != "VBN":
        tag = "VBD" if aux in ("did", "'d") else "VBZ" if aux == "does" else "VBP"
        for place in _joined_verbs(doc, clause.main, question.end):
            base = language.lemma(tokens[place].text, tokens[place].tag if tokens[place].tag in VERBS else "VB").lower()
            form = language.inflect(base, tag)
            if form and form != tokens[place].lower and not (tag == "VBP" and base == tokens[place].lower):
                draft.replace(place, place, form)
        return
    words = doc.between(doc.span(clause.aux, clause.aux_last)).lower()
    words = full_form(doc, clause.aux) if clause.aux_last == clause.aux else words
    _insert(draft, clause.subject_last, "", words, "", doc.text)


def _joined_verbs(doc: Doc, main: int, end: int) -> list[int]:
    """The main verb and those joined to it: "go and see"; not behind "to"."""
    places = [main]
    for i in range(main + 1, end):
        if doc.tokens[i].tag in ("TO", "MD", "VBZ", "VBP", "VBD", "WDT", "WP", "WRB"):
            break
        if doc.tokens[i].tag == "VB" and doc.tokens[i - 1].tag == "CC":
            places.append(i)
    return places


def _insert(draft: Draft, place: int, before: str, words: str, behind: str, text: str) -> None:
    said = before + words + behind
    draft.insert_after(place, said.upper() if is_loud(text) else said)


def _pronominal(doc: Doc, clause: InvertedClause) -> bool:
    subject = doc.tokens[clause.subject]
    return clause.subject == clause.subject_last and (subject.tag in ("PRP", "EX") or subject.lower in PREDICATED)


# --- Perturbations of questions: another question word, none, or no question at all

_ANY = ("who", "what", "when", "where", "why", "how")
_QUANTITIES = frozenset({"many", "much", "few", "little"})
_GAP = "\ue000"  # of no use in texts: marks where a statement has its gap
_OFFERED = 10
_NO_QUESTION = Inapplicable("not a question")


@dataclass(frozen=True, kw_only=True)
class ChangeQuestionWord:
    """Put another question word in the place of the one that asks: "When" becomes "Where"; relative pronouns stay.

    Of "how many", "how long" and their like both words go. The new word fits the words around it: a pronoun before a
    verb without another subject, a determiner before a noun, else any that the question can be read with.
    """

    info: ClassVar = worse("change the question word", ("When did the shop close?", "Where did the shop close?"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit at the interrogative of one question."""
        doc = case.doc
        asking = _asking(doc)
        if isinstance(asking, Inapplicable):
            return asking
        question = rng.choice(asking)
        last = _words_end(doc, question)
        old = doc.text[doc.tokens[question.wh].start : doc.tokens[last].end]
        new = rng.choice(_replacements(doc, question, last))
        draft = Draft(doc)
        draft.replace(question.wh, last, new)
        return draft.finish(old=old, new=new)


@dataclass(frozen=True, kw_only=True)
class DropQuestionWord(Checked):
    """Take the question word away from the start of a question: "When was he born?" becomes "Was he born?".

    Args:
        drop_how_many: drop both words of "how many", "how old" and the like; if false, only "how".
    """

    drop_how_many: bool = True
    info: ClassVar = worse("drop the question word", ("When did the shop close?", "Did the shop close?"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit at the start of one question."""
        doc = case.doc
        asking = _asking(doc)
        if isinstance(asking, Inapplicable):
            return asking
        starting = [q for q in asking if q.at_start]
        if not starting:
            return Inapplicable("question word inside")
        question = rng.choice(starting)
        tokens, last = doc.tokens, _words_end(doc, question)
        if not self.drop_how_many and tokens[question.wh].lower == "how":
            last = question.wh
        first = question.opens if last == question.last else question.wh  # a preposition goes along: "to whom"
        if last + 1 >= question.end:
            return Inapplicable("too short")
        draft = Draft(doc)
        clitic = tokens[last + 1]
        if doc.touches(last + 1) and clitic.text[0] in "'’":  # "What's he doing?" -> "Is he doing?"
            draft.replace(first, last + 1, full_form(doc, last + 1))
        else:
            draft.delete(first, last)
            if tokens[first].text[0].isupper() and not doc.starts_sentence(first):
                word = clitic.text  # a question that is quoted keeps its capital
                draft.replace(last + 1, last + 1, word[0].upper() + word[1:], cased=False)
        return draft.finish(dropped=doc.text[tokens[first].start : tokens[last].end])


@dataclass(frozen=True, kw_only=True)
class QuestionToAssertion:
    """Turn a question into a statement: "Where did she live?" becomes "She lived in London.".

    The subject stands before the verb, "do" gives way to the form of the verb, and what was asked for is named: a
    person, a place, a date, a number, a thing. Questions to be answered by yes or no become their "yes".

    Args:
        infill: where the answer comes from: `table` draws it from a short list; the other values are those of
            `mask_and_predict`.
    """

    infill: str | Infill = "table"
    info: ClassVar = worse(
        "turn a question into a statement", ("Where did she live?", "She lived in London."), needs=("english", "infill")
    )

    def __post_init__(self) -> None:
        if self.infill != "table":
            check_infill(self.infill)
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits that turn one question of the text round."""
        asked = questions(case.doc)
        if not asked:
            return _NO_QUESTION
        failed: Inapplicable | None = None
        words = {t.lower for t in case.doc.tokens}
        for question in rng.sample(asked, len(asked)):
            change = self._made(case, question, words, rng)
            if isinstance(change, Change):
                return change
            failed = failed or change
        return failed or _NO_QUESTION

    def _made(self, case: Case, question: Question, words: Set[str], rng: random.Random) -> Change | Inapplicable:
        chosen: list[str] = []

        def choose(options: Sequence[str]) -> str:
            absent = [o for o in options if o.split()[-1].lower() not in words]
            chosen.append(rng.choice(absent or list(options)))
            return chosen[-1]

        def finished(chooser: Choose) -> Change | Inapplicable:
            draft = Draft(case.doc)
            failed = declare(draft, question, case.language, chooser)
            return failed or draft.finish(filler=chosen[-1] if chosen else None)

        change = finished(choose)
        if self.infill == "table" or not chosen or isinstance(change, Inapplicable):
            return change
        marked = finished(lambda _: _GAP)
        whole = apply_edits(case.text, marked.edits) if isinstance(marked, Change) else ""
        at = whole.upper().find(_GAP.upper())
        if at < 0:
            return change
        gap = Gap(whole[:at] + chosen[-1] + whole[at + len(_GAP) :], at, at + len(chosen[-1]))
        offered = [f.word for f in infill(self.infill, case.language, rng).fill([gap], _OFFERED)[0]]
        fit = next((w for w in offered if w.strip() and w.lower() not in WH), None)
        if fit is None:
            return change
        chosen.append(fit)
        return finished(lambda _: fit)


def _asking(doc: Doc) -> list[Question] | Inapplicable:
    """The questions of a text that ask with a question word, or why there are none."""
    asked = questions(doc)
    asking = [q for q in asked if q.wh >= 0 and not q.fixed]
    return asking or (Inapplicable("no question word") if asked else _NO_QUESTION)


def _words_end(doc: Doc, question: Question) -> int:
    """The last token of the question words alone, without the noun behind them: who else, how many, how old."""
    tokens, wh = doc.tokens, question.wh
    if question.last == wh:
        return wh
    if tokens[wh].lower == "how" or tokens[wh + 1].tag == "CC":
        return wh + 1 if tokens[wh].lower == "how" else question.last
    return wh + 1 if tokens[wh + 1].lower in ("else", "exactly") else wh


def _replacements(doc: Doc, question: Question, last: int) -> tuple[str, ...]:
    """Question words that can stand where one stands."""
    tokens, old = doc.tokens, doc.tokens[question.wh].lower
    governed = question.opens < question.wh or _stranded(doc, question)
    if last < question.last and tokens[last + 1].lower != "of":  # before a noun
        counted = any(t.tag == "CD" for t in tokens[last : question.last])
        countable = not counted and _head(doc, last + 1, question.last).tag in ("NNS", "NNPS")
        if old in ("what", "which"):
            return ("whose", "how many") if countable else ("whose",)
        return ("what", "which") if old == "whose" else ("which", "whose")
    if last < question.last:  # "which of the two", "how many of them"
        return ("who", "how many") if old == "which" else ("which",)
    if old == "how" and last > question.wh:
        if tokens[last].lower in _QUANTITIES and not question.inverted:
            return ("who", "what")
        return ("when", "where", "why")
    others: tuple[str, ...] = _ANY
    if governed:
        others = ("who", "what", "which")
    elif question.verb >= 0 and old in ADVERBS:
        others = ("when", "where", "why", "how")
    elif question.verb >= 0 and not question.inverted:
        others = ("who", "what")
    same = {"whom": "who", "which": "what"}.get(old, old)
    return tuple(w for w in others if w not in (old, same)) or ("what",)


def _stranded(doc: Doc, question: Question) -> bool:
    """Whether the question ends with a preposition that governs its pronoun: "what is he looking at?"."""
    final = question.end - 1
    governs = final > question.last and doc.tag(final) in ("IN", "TO")
    return governs and doc.tag(final - 1) in VERBS | NOUNS | {"JJ", "RB", "PRP"}


def _head(doc: Doc, first: int, last: int) -> Token:
    """The noun that a phrase is about: the last before what hangs on it by `of`."""
    for place in range(first, last + 1):
        if doc.tokens[place].lower == "of" and place > first:
            return doc.tokens[place - 1]
    return doc.tokens[last]
