"""The contract of a perturbation as one call."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, get_args

import numpy as np

from nlgauge.core.errors import NlgaugeError
from nlgauge.core.metric import options_of, spec_of
from nlgauge.perturbations.perturb import (
    NEEDS,
    Case,
    Change,
    Edit,
    Expect,
    Inapplicable,
    Perturbation,
    PerturbationInfo,
    Perturbations,
    Perturbed,
    apply,
    apply_edits,
    make_cases,
    perturb,
    stream,
    unmet,
)
from nlgauge.perturbations.perturb import perturbation as build
from nlgauge.testing.metric import CONTEXT, POOL, REFERENCES, TEXTS, kind, other_values, refused

_SEEDS = (0, 1, 2)
_EXAMPLE_SEEDS = 200
# With more outcomes of these seeds than this, none of them need be the example: the draws are from too many words.
_WIDE = 60
_REASON = re.compile(r"[a-z0-9'\"][^\n.]{0,58}[^\n. ]|[a-z]")
_CHILD = (
    "import sys; from nlgauge.testing.perturbation import fingerprint; sys.stdout.write('\\n'.join(map(fingerprint,"
    " sys.argv[1:])))"
)


def check_perturbation(
    template: Perturbation,
    texts: Sequence[str] | None = None,
    *,
    alternatives: Mapping[str, Any] | None = None,
    registered: bool = True,
    processes: bool = True,
) -> None:
    """Check what nlgauge promises of every perturbation.

    - It is an object of a frozen dataclass with a `PerturbationInfo`: known needs, an expectation, and an example that
      it really produces.
    - Whatever the text (blank, one word, lone surrogates, other scripts, very long), the outcome is a `Change`, or an
      `Inapplicable` whose reason is a short phrase in small letters. It never fails, and never returns the text
      unchanged.
    - Edits are in order and do not overlap. Each edit changes something, and together they rebuild the output. `meta`
      is plain JSON.
    - The same seed gives the same outcome: when repeated, alone, in another order, beside other texts, whatever the
      state of the global random numbers (which are left as they were), and in a process with other hashes of strings.
    - An option whose type is a `Literal` refuses any other value with a `SpecError`, also when it is given in Python.
    - The specification with its options rebuilds the perturbation. Options given by keyword do what those in the
      specification do, and every option takes its other values (see Args).

    Args:
        template: an object, not a specification.
        texts: the texts to perturb; None takes `nlgauge.testing.metric.TEXTS`.
        alternatives: option -> another valid value, for options whose type does not tell one (text, say).
        registered: False leaves out what needs the name to be known: specifications and other processes.
        processes: False leaves out other processes, which take a second or two.

    Raises:
        AssertionError: a sentence that names the perturbation, the promise and the text.
    """
    _kind(template)
    subject = _Subject(template, tuple(TEXTS if texts is None else texts))
    _declaration(subject)
    for seed in _SEEDS:
        _outcomes(subject, seed)
    _repeats(subject)
    _example(subject)
    refused(template, subject.require)
    _options(subject, alternatives or {}, registered)
    if registered and processes:
        _hashes(subject)


def fingerprint(spec: str) -> str:
    """A digest of all that a perturbation makes of `TEXTS`, to be compared with that of another process."""
    return _digest(_Subject(build(spec), TEXTS).perturbed(0))


@dataclass
class _Subject:
    """A perturbation with the texts it is tried on."""

    template: Perturbation
    texts: tuple[str, ...]

    @cached_property
    def cases(self) -> list[Case]:
        """One case per text, with everything that a perturbation may need."""
        n = len(self.texts)
        return make_cases(self.texts, context=[CONTEXT] * n, pool=POOL, references=[REFERENCES] * n)

    def require(self, holds: Any, sentence: str) -> None:
        """Raise the sentence, with the name of the perturbation before it, unless the promise holds."""
        if not holds:
            raise AssertionError(f"{_name(self.template)}: {sentence}")

    def perturbed(self, seed: int, cases: Sequence[Case] | None = None) -> Perturbations:
        """The outcome for each text."""
        return Perturbations([apply(self.template, case, seed) for case in (self.cases if cases is None else cases)])


def _name(template: Perturbation) -> str:
    return spec_of(template) if hasattr(template, "info") else type(template).__name__


def _kind(template: Any) -> None:
    kind(template, "perturbation", PerturbationInfo)
    if not callable(template):
        name = type(template).__name__
        raise AssertionError(
            f"{name}: a perturbation is called with a case and random numbers, expected a method __call__"
        )


def _declaration(subject: _Subject) -> None:
    info = subject.template.info
    strange = sorted(set(info.needs) - set(NEEDS))
    subject.require(not strange, f"info.needs names {', '.join(strange)}, expected some of {', '.join(NEEDS)}")
    subject.require(info.expect in get_args(Expect), f"info.expect is {info.expect!r}, expected lower or same")
    plain = info.summary[:1].islower() and not info.summary.endswith(".") and "\n" not in info.summary
    subject.require(
        plain,
        f"info.summary is {info.summary!r}, expected a line that begins with a verb in small letters and has no full"
        " stop",
    )
    subject.require(
        len(info.example) == 2 and info.example[0] != info.example[1],
        "info.example is not a text and what becomes of it",
    )


def _outcomes(subject: _Subject, seed: int) -> None:
    for case in subject.cases:
        where = f"with seed {seed} and text {case.text[:60]!r}"
        if unmet(subject.template, case) is not None:
            continue
        try:
            outcome = subject.template(case, stream(seed, subject.template.info.name, case.text))
        except Exception as error:
            raise AssertionError(
                f"{_name(subject.template)}: fails {where} with {type(error).__name__}: {error}"
            ) from error
        if isinstance(outcome, Inapplicable):
            fits = isinstance(outcome.reason, str) and _REASON.fullmatch(outcome.reason)
            subject.require(
                fits,
                f"gives the reason {outcome.reason!r} {where}, expected a few words in small letters without a full"
                " stop",
            )
            continue
        subject.require(
            isinstance(outcome, Change), f"returns {type(outcome).__name__} {where}, expected Change or Inapplicable"
        )
        _edits(subject, case.text, outcome, where)


def _edits(subject: _Subject, text: str, change: Change, where: str) -> None:
    edits = list(change.edits)
    subject.require(edits, f"makes no edit {where}, expected Inapplicable with a reason")
    for edit in edits:
        subject.require(
            isinstance(edit, Edit) and isinstance(edit.new, str), f"gives {edit!r} {where}, expected an Edit"
        )
    try:
        new = apply_edits(text, edits)
    except ValueError as error:
        raise AssertionError(f"{_name(subject.template)}: edits do not fit {where}: {error}") from error
    for start, end, replacement in edits:
        subject.require(text[start:end] != replacement, f"edits ({start}, {end}) {where} into what stands there")
    subject.require(new != text, f"gives back the text {where}, expected Inapplicable with a reason")
    try:
        json.dumps(dict(change.meta), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{_name(subject.template)}: meta is no plain JSON {where}: {error}") from error


def _repeats(subject: _Subject) -> None:
    """Check that the outcome is the same again, backwards, alone, and whatever the state of the global random numbers.

    The cases must be left as they were.
    """
    given = [copy.copy(case) for case in subject.cases]
    base = subject.perturbed(0)
    _same(subject, base, subject.perturbed(0), "a second call")
    backwards = subject.perturbed(0, subject.cases[::-1])
    forwards = Perturbations([_outcome(backwards, i) for i in reversed(range(len(base)))])
    _same(subject, base, forwards, "the order of the texts")
    with _other_global_numbers(subject):
        _same(subject, base, subject.perturbed(0), "the state of the global random numbers")
    alone = [_outcome(_Subject(subject.template, (text,)).perturbed(0), 0) for text in subject.texts]
    _same(subject, base, Perturbations(alone), "the company of other texts")
    subject.require(given == subject.cases, "changes the case it is given")


@contextmanager
def _other_global_numbers(subject: _Subject) -> Iterator[None]:
    """Set other global random numbers inside the block; afterwards restore those from before."""
    before, numpy_before = random.getstate(), np.random.get_state()
    random.seed(12345)
    np.random.seed(12345)
    within = _drawn()
    try:
        yield
        subject.require(_drawn() == within, "draws from the global random numbers, expected those it is given")
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)


def _drawn() -> tuple[Any, int]:
    """A value that tells whether somebody drew from the global random numbers."""
    numpy_state: Any = np.random.get_state(legacy=False)
    return random.getstate(), numpy_state["state"]["pos"]


def _outcome(found: Perturbations, i: int) -> Perturbed | Inapplicable:
    return found[i] or Inapplicable(str(found.reasons[i]))


def _same(subject: _Subject, expected: Perturbations, found: Perturbations, change: str) -> None:
    for text, one, other, why, why_now in zip(
        subject.texts, expected, found, expected.reasons, found.reasons, strict=True
    ):
        told = f"{_told(one, why)}, then {_told(other, why_now)}"
        subject.require((one, why) == (other, why_now), f"{change} changes what becomes of {text[:60]!r}: {told}")


def _told(made: Perturbed | None, reason: str | None) -> str:
    return f"{made.text[:60]!r}" if made else f"none ({reason})"


def _example(subject: _Subject) -> None:
    """Check that some seed makes the example.

    A perturbation is exempt where too many outcomes are possible to wait for this one, or where it needs more than a
    text.
    """
    text, expected = subject.template.info.example
    if not set(subject.template.info.needs) <= {"english", "infill"}:
        return
    default = _defaults(subject.template)
    (case,) = make_cases([text])
    found, reasons = set(), []
    for seed in range(_EXAMPLE_SEEDS + 1):
        made = apply(default, case, seed)
        if isinstance(made, Inapplicable):
            reasons.append(made.reason)
        elif made.text == expected:
            return
        else:
            found.add(made.text)
    subject.require(found, f"the example {text!r} is left alone ({reasons and reasons[0]})")
    subject.require(
        len(found) > _WIDE,
        f"the example {text!r} never becomes {expected!r} with seeds 0 to {_EXAMPLE_SEEDS}, but"
        f" {', '.join(map(repr, sorted(found)[:3]))}",
    )


def _defaults(template: Perturbation) -> Perturbation:
    fields = {f.name: f.default for f in options_of(template)}
    try:
        return replace(template, **fields)  # type: ignore[type-var]
    except (TypeError, NlgaugeError):  # an option without a default
        return template


def _options(subject: _Subject, alternatives: Mapping[str, Any], registered: bool) -> None:
    """Check that the specification rebuilds the perturbation, with its own options and with other values of each."""
    if registered:
        _rebuilds(subject)
    known = [field.name for field in options_of(subject.template)]
    strange = sorted(set(alternatives) - set(known))
    subject.require(
        not strange, f"alternatives names {', '.join(strange)}, expected options: {', '.join(known) or 'none'}"
    )
    for changed in _variants(subject, alternatives):
        _outcomes(changed, 0)
        if registered:
            _rebuilds(changed)


def _variants(subject: _Subject, alternatives: Mapping[str, Any]) -> Iterator[_Subject]:
    hints = typing.get_type_hints(type(subject.template))
    for field in options_of(subject.template):
        value = getattr(subject.template, field.name)
        for other in (
            [alternatives[field.name]] if field.name in alternatives else other_values(hints[field.name], value)
        ):
            try:
                changed = replace(subject.template, **{field.name: other})  # type: ignore[type-var]
                changed(subject.cases[0], random.Random(0))
            except NlgaugeError:
                continue  # a value that it refuses, or something that is not installed
            except Exception:
                pass  # told with the text below
            variant = _Subject(changed, subject.texts)
            variant.cases = subject.cases  # analysed once
            yield variant


def _rebuilds(subject: _Subject) -> None:
    spec = spec_of(subject.template)
    rebuilt = build(spec)
    subject.require(
        rebuilt == subject.template, f"the specification {spec!r} rebuilds {rebuilt!r}, expected {subject.template!r}"
    )
    changed = {
        f.name: getattr(subject.template, f.name)
        for f in options_of(subject.template)
        if getattr(subject.template, f.name) != f.default
    }
    few = list(subject.texts[:5])
    here, there = (
        perturb(name, few, pool=list(POOL), **options)
        for name, options in ((spec, {}), (subject.template.info.name, changed))
    )
    subject.require(
        (list(here), here.reasons) == (list(there), there.reasons), f"options by keyword do not what {spec!r} does"
    )


def _hashes(subject: _Subject) -> None:
    spec = spec_of(subject.template)
    for hashes in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, spec],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": hashes},
        )
        subject.require(done.returncode == 0, f"fails in another process: {done.stderr.strip().splitlines()[-1:]}")
        subject.require(
            done.stdout == fingerprint(spec),
            "another process, with other hashes of strings, gives another outcome; is a set iterated?",
        )


def _digest(found: Perturbations) -> str:
    told = [
        [made.text, made.edits, dict(made.meta)] if made else reason
        for made, reason in zip(found, found.reasons, strict=True)
    ]
    return blake2b(json.dumps(told, sort_keys=False).encode("ascii"), digest_size=16).hexdigest()
