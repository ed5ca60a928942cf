"""Sources of faithful paraphrases, and the choice among several: the better side of a preference pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from rapidfuzz.distance import Levenshtein

from nlgauge.core.errors import InputError, SpecError
from nlgauge.perturbations.perturb import Perturbed, perturb
from nlgauge.text.languages import Language

How = Literal["max_edit_distance", "given", "first"]
Level = Literal["char", "word"]
HOWS: tuple[str, ...] = get_args(How)
_LIGHT = (("expansions", "contractions"), ("numbers_to_words",), ("synonyms",))  # of each group the first that applies


@runtime_checkable
class Paraphraser(Protocol):
    """Something that says a text in other words."""

    def paraphrase(self, texts: Sequence[str]) -> list[str | None]:
        """A paraphrase of each text, in the same order; None where there is none, or only the text itself."""
        ...


@dataclass(frozen=True)
class CallableParaphraser:
    """Paraphrases from a function of the user's, which is called once with all texts.

    Attributes:
        function: takes a list of texts and returns a list of the same length, of strings, of None, or of lists of
            strings to choose from.
        how: which of several paraphrases is taken, see `select_para`.
    """

    function: Callable[[list[str]], Sequence[str | Sequence[str] | None]]
    how: How = "max_edit_distance"

    def paraphrase(self, texts: Sequence[str]) -> list[str | None]:
        """See `Paraphraser.paraphrase`.

        Raises:
            InputError: the function does not return one paraphrase per text, or returns something that is not text.
        """
        answers = self.function(list(texts))
        if isinstance(answers, str) or len(answers) != len(texts):
            got = "one string" if isinstance(answers, str) else f"{len(answers)} paraphrases"
            raise InputError(
                f"the paraphraser got {len(texts)} texts and gave {got}; it must give one entry per text, None where"
                " it has none"
            )
        chosen: list[str | None] = []
        for i, (text, answer) in enumerate(zip(texts, answers, strict=True)):
            candidates: list[Any] = [] if answer is None else [answer]
            if isinstance(answer, Sequence) and not isinstance(answer, str):
                candidates = list(answer)
            if not all(isinstance(c, str) for c in candidates):
                raise InputError(
                    f"paraphrase {i} is {type(answer).__name__}, expected a string, a list of strings or None"
                )
            chosen.append(select_para(candidates, text, how=self.how))
        return _others(texts, chosen)


@dataclass(frozen=True, kw_only=True)
class LightParaphraser:
    """Small changes by rule that keep the meaning.

    Short forms are opened or made, numbers are spelt out, and one word is replaced by a synonym.

    It is light: the result stays much closer to the text than a back-translation does, and so makes an easy test. It
    is no substitute for paraphrases by people or by a translation model, and pairs made with it must not be compared
    with published accuracies.

    Attributes:
        seed: for the draws of the perturbations.
        language: the backend, by name or as an object.
    """

    seed: int = 0
    language: str | Language = "builtin"

    def paraphrase(self, texts: Sequence[str]) -> list[str | None]:
        """See `Paraphraser.paraphrase`; every step sees what the one before it made."""
        current = list(texts)
        for group in _LIGHT:
            open_ = list(range(len(current)))
            for name in group:
                outcomes = perturb(name, [current[i] for i in open_], seed=self.seed, language=self.language)
                for i, outcome in zip(open_, outcomes, strict=True):
                    current[i] = outcome.text if isinstance(outcome, Perturbed) else current[i]
                open_ = [i for i, outcome in zip(open_, outcomes, strict=True) if outcome is None]
        return _others(texts, current)


def as_paraphraser(
    source: str | Mapping[str, Sequence[str]] | Callable[..., object] | Paraphraser, how: How = "max_edit_distance"
) -> Paraphraser:
    """A paraphraser from what a user gives: `light`, a table, a function, or a paraphraser.

    Raises:
        SpecError: a name other than `light`, or something else.
    """
    if isinstance(source, Paraphraser):
        return source
    if source == "light":
        return LightParaphraser()
    if isinstance(source, Mapping):
        return CallableParaphraser(_of_table(source), how)
    if callable(source):
        return CallableParaphraser(source, how)  # type: ignore[arg-type]
    what = repr(source) if isinstance(source, str) else type(source).__name__
    raise SpecError(
        f"no paraphraser {what}; expected 'light', a mapping from texts to paraphrases, a function, or an object with"
        " paraphrase(texts)"
    )


def _of_table(table: Mapping[str, Sequence[str]]) -> Callable[[list[str]], list[Sequence[str]]]:
    """A function that looks texts up, whatever blanks they have at the ends and however many inside."""
    for text, candidates in table.items():
        if isinstance(candidates, str):
            raise InputError(f"the paraphrases of {text!r:.60} are one string, expected a list of strings")
    loose = {_squeezed(text): found for text, found in table.items()}
    return lambda texts: [table.get(text) or loose.get(_squeezed(text)) or () for text in texts]


def select_para(candidates: Sequence[str], reference: str, how: How = "max_edit_distance") -> str | None:
    """Choose one of several paraphrases of a reference; None if there is none, or only the reference.

    `max_edit_distance` takes the one farthest from the reference, the hardest case (the first among equals); `given`
    the first, whatever it is, be it the reference; `first` the first that is not the reference.

    Raises:
        SpecError: `how` is unknown.

    References:
        Chen and Eger (2023), section 6, paragraph on the choice of paraphrases. They do not say at which level and by
        which length they measure; characters divided by the longer text is our choice.
    """
    if how not in HOWS:
        raise SpecError(f"how is {how!r}, expected one of {', '.join(HOWS)}")
    if how == "given":
        return candidates[0] if candidates else None
    differing = [c for c in candidates if c != reference]
    if not differing:
        return None
    return differing[0] if how == "first" else max(differing, key=lambda c: edit_distance(c, reference))


def edit_distance(a: str, b: str, level: Level = "char") -> float:
    """The smallest number of insertions, deletions and substitutions between two texts, divided by the longer of them.

    It counts characters, or words between blanks. 0 for equal texts, at most 1.
    """
    left, right = (a, b) if level == "char" else (a.split(), b.split())
    distance = Levenshtein.distance(left, right)
    return distance / max(len(left), len(right)) if distance else 0.0


def _others(texts: Sequence[str], paraphrases: Sequence[str | None]) -> list[str | None]:
    """The paraphrases, with None in the place of those that are blank or equal to the text."""
    return [
        None if m is None or not m.strip() or _squeezed(m) == _squeezed(t) else m
        for t, m in zip(texts, paraphrases, strict=True)
    ]


def _squeezed(text: str) -> str:
    return " ".join(text.split())
