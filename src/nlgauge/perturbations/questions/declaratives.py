"""A question turned into a statement: the subject before its verb, something said in the place of what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nlgauge.perturbations.base import Inapplicable
from nlgauge.perturbations.draft import Draft, with_case_of
from nlgauge.perturbations.questions import answers as fillers
from nlgauge.perturbations.questions.answers import nominal
from nlgauge.text.doc import Doc
from nlgauge.text.english.questions import (
    ADVERBS,
    BE,
    DO,
    NOT,
    NOUNS,
    PREDICATED,
    PRONOUNS,
    VERBS,
    WH,
    Clause,
    Question,
    answer_place,
    full_form,
    is_auxiliary,
    phrase_end,
    take_apart,
)
from nlgauge.text.english.verbs import is_loud
from nlgauge.text.languages import Language

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
                if (
                    verb < question.end
                    and is_auxiliary(tokens[verb])
                    and (following.lower in ADVERBS or verb > i + 2 or following.lower == "what")
                ):
                    return True
            if (
                following.lower == "who"
                and i + 2 < question.end
                and is_auxiliary(tokens[i + 2])
                and tokens[i].tag == "CC"
            ):
                return True
            if (
                is_auxiliary(following)
                and following.tag != "VB"
                and i + 3 < question.end
                and tokens[i + 2].tag in ("PRP", "DT", "NNP", "EX")
            ):
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
    tag = question.end - 1
    while tag > question.first and tokens[tag].text != ",":
        tag -= 1
    if (
        tokens[question.end - 1].tag == "PRP"
        and tokens[question.end - 2].lower == "n't"
        and question.end - 4 > question.first
    ):
        draft.delete(
            question.end - 4 if tag == question.end - 4 else question.end - 3, question.end - 1
        )  # "didn't he", with or without comma
        return None
    if (
        tag > question.first
        and tag + 1 < question.end
        and is_auxiliary(tokens[tag + 1])
        and tokens[question.end - 1].tag in ("PRP", "EX", "RB")
    ):
        draft.delete(tag, question.end - 1)
    elif not any(t.tag in ("VBD", "VBP", "VBZ", "MD") for t in tokens[question.first : question.end]):
        return _NO_VERB
    elif (
        is_auxiliary(tokens[question.first])
        or _imperative(doc, question)
        or any(t.lower in WH for t in tokens[question.first : question.end])
    ):
        return _NO_SUBJECT
    return None


def _imperative(doc: Doc, question: Question) -> bool:
    """Whether a verb stands first: "Take it or leave it?", "Dare we hope?"."""
    return doc.tokens[question.first].tag in ("VB", "VBP")


def _answer(draft: Draft, question: Question, language: Language, choose: Choose) -> Inapplicable | None:
    doc, tokens = draft.doc, draft.doc.tokens
    verb, word = question.verb, tokens[question.wh].lower
    adverbial = word in ADVERBS and not (
        word == "how" and question.last > question.wh and tokens[question.wh + 1].lower in ("many", "much", "few")
    )
    if not question.inverted and not (adverbial and is_auxiliary(tokens[verb])):
        if (
            adverbial
            or question.opens < question.wh
            or (tokens[verb].lower in DO and not _object_follows(doc, verb, question.end))
        ):
            return _NO_SUBJECT
        there = verb + 1 if verb + 1 < question.end and tokens[verb + 1].lower == "there" else None
        if (
            there
            and question.last > question.wh
            and tokens[verb].lower in BE
            and (there + 1 >= question.end or tokens[there + 1].tag == "IN")
        ):
            _existence(draft, question, Clause(verb, verb, there, there, None), choose)
            return None
        _replace_subject(draft, question, choose)
        return None
    clause = take_apart(doc, verb, question.end, whole=word != "why", thing=word in PRONOUNS)
    if clause is None:
        return _NO_SUBJECT
    identity = clause.main is None and tokens[verb].lower in BE | {"'s"} and clause.subject_last == question.end - 1
    if (
        identity
        and (word in ("who", "whom") or _counts(doc, question))
        and question.opens == question.wh
        and not _pronominal(doc, clause)
    ):
        _replace_subject(draft, question, choose)
        return None
    if (
        not adverbial
        and tokens[clause.subject].lower == "there"
        and question.last > question.wh
        and question.opens == question.wh
    ):
        _existence(draft, question, clause, choose)
        return None
    place = answer_place(doc, question, clause, identity, adverbial or question.opens < question.wh)
    if place is None:
        return _NO_SUBJECT
    _uninvert(draft, clause, question, language, question.opens)
    before, answers, behind = _said(doc, question, clause if identity else None)
    _insert(draft, place, before, choose(answers), behind, doc.text)
    return None


def _said(
    doc: Doc, question: Question, identity: Clause | None = None, *, subject: bool = False
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
        times = fillers.YEARS if past else ("Monday", "Friday")
        return preposition or ("" if stranded else "in " if past else "on "), times, ""
    if word == "where":
        return preposition or ("" if stranded else "in "), fillers.PLACES, ""
    if word == "why":
        return "", fillers.REASONS, ""
    if word == "how" and (question.last == wh or tokens[wh + 1].lower == "exactly"):
        return ("", fillers.STATES, "") if identity else ("", fillers.MANNERS, "")
    if word == "how" and tokens[wh + 1].lower not in ("many", "much", "few"):
        graded = doc.text[tokens[wh].end : tokens[question.last].end].strip()
        return "", ("very", "quite"), f" {graded}"
    if identity is not None and word in ("what", "which") and question.last == wh:
        noun = fillers.head(doc, identity.subject, identity.subject_last)
        plural = tokens[question.verb].lower in ("are", "were")
        pronominal = _pronominal(doc, identity)
        return (
            preposition,
            fillers.MANY_THINGS if plural else fillers.THINGS if pronominal else fillers.of_kind(noun),
            "",
        )
    you = identity is not None and tokens[identity.subject].lower == "you"
    plural = (
        question.verb >= 0
        and tokens[question.verb].lower in ("are", "were")
        and (subject or identity is not None)
        and not you
    )
    before, answers, behind = nominal(doc, question, plural)
    if (
        question.last > wh
        and word in ("what", "which")
        and question.inverted
        and identity is None
        and not preposition
        and not stranded
    ):
        entry = fillers.asked(fillers.head(doc, wh + 1, question.last))
        if entry is not None and entry[0] and behind == "" and entry[1] not in (fillers.PLACES, fillers.PERSONS):
            before = f"{entry[0]} "
    return preposition + before, answers, behind


def _replace_subject(draft: Draft, question: Question, choose: Choose) -> None:
    """Of a question about the subject: only the question phrase gives way."""
    doc = draft.doc
    before, answers, behind = _said(doc, question, subject=True)
    draft.replace(question.opens, question.last, before + choose(answers) + behind)
    if doc.touches(question.verb) and question.verb == question.last + 1:  # "Who's there?"
        draft.replace(question.verb, question.verb, f" {full_form(doc, question.verb)}", cased=False)


def _existence(draft: Draft, question: Question, clause: Clause, choose: Choose) -> None:
    """Of "how many trains are there": "there are twelve trains"."""
    doc = draft.doc
    before, answers, behind = nominal(doc, question, False)
    verb = " ".join(doc.tokens[i].lower for i in range(clause.aux, clause.aux_last + 1))
    draft.replace(question.opens, clause.subject_last, f"there {verb} {before}{choose(answers)}{behind}")


def _uninvert(draft: Draft, clause: Clause, question: Question, language: Language, first: int | None = None) -> None:
    """Move the auxiliary behind its subject; "do" gives its tense to the verb.

    The tokens from `first` to the auxiliary are deleted.
    """
    doc, tokens = draft.doc, draft.doc.tokens
    aux = tokens[clause.aux].lower
    denied = clause.aux_last > clause.aux or (
        clause.subject_last + 1 < question.end and tokens[clause.subject_last + 1].lower in NOT
    )
    first = clause.aux if first is None else first
    if (
        clause.subject == clause.aux_last + 1
    ):  # as one edit with the first word of the subject, which may need the capital
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
    words = (
        full_form(doc, clause.aux)
        if clause.aux_last == clause.aux
        else doc.text[tokens[clause.aux].start : tokens[clause.aux_last].end].lower()
    )
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


def _pronominal(doc: Doc, clause: Clause) -> bool:
    subject = doc.tokens[clause.subject]
    return clause.subject == clause.subject_last and (subject.tag in ("PRP", "EX") or subject.lower in PREDICATED)


def _object_follows(doc: Doc, verb: int, end: int) -> bool:
    """Whether "do" is a main verb: "Who did it?", "Who does the dishes?"."""
    return verb + 1 >= end or doc.tokens[verb + 1].tag in ("PRP", "DT", "PRP$", *NOUNS)


def _counts(doc: Doc, question: Question) -> bool:
    """Whether a number of things is asked for."""
    return question.last > question.wh and doc.tokens[question.wh + 1].lower in ("many", "few")
