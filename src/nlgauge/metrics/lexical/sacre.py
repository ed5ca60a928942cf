"""The only access to sacrebleu: its tokenizers and the statistics of a segment, as it computes them itself.

Names of sacrebleu that begin with an underscore are used here and nowhere else.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.segment import Segment, is_blank
from nlgauge.runtime.runtime import Runtime

_PACKAGES = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
_SIGNS = (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 ")  # the first rule of `13a` and `zh`


def bleu_scorer(tokenize: str | None, trg_lang: str | None, **options: Any) -> Any:
    """A `sacrebleu.BLEU`; without `tokenize` the language chooses the tokenizer.

    Raises:
        SpecError: the installed sacrebleu does not have the tokenizer.
        InputError: the tokenizer needs a package or a file that is not installed; nothing is ever downloaded.
    """
    from sacrebleu.metrics.bleu import BLEU

    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise SpecError(
            f"bleu:tokenize is {tokenize!r}, which the installed sacrebleu does not"
            f" have{nearest(tokenize, BLEU.TOKENIZERS)}"
        )
    name = tokenize or BLEU._TOKENIZER_MAP.get(trg_lang or "", BLEU.TOKENIZER_DEFAULT)
    _check_available(name)
    try:
        # The language has done its work; with an explicit tokenizer sacrebleu would only log advice about it.
        scorer = BLEU(tokenize=name, force=True, **options)
    except (
        ImportError,
        RuntimeError,
        OSError,
        AssertionError,
    ) as error:  # a package, a readable model file, the right dictionary
        if name in _PACKAGES:
            raise InputError(
                f"bleu:tokenize={name} needs packages that are not installed; run: pip install '{_PACKAGES[name]}'"
            ) from None
        raise InputError(f"bleu:tokenize={name} cannot be used: {' '.join(str(error).split())}") from None
    return _uncached(scorer)


def chrf_scorer(**options: Any) -> Any:
    """A `sacrebleu.CHRF`."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(**options)


def ter_scorer(**options: Any) -> Any:
    """A `sacrebleu.TER` that counts edits as `edits_with_shifts` does; NaN where a pair is too long for that."""
    from sacrebleu.metrics.ter import TER

    from nlgauge.metrics.lexical.shifts import TooLong, edits_with_shifts  # loads rapidfuzz, which TER alone needs here

    def counted(hypothesis: str, prepared: Mapping[str, list[list[str]]]) -> list[float]:
        words, references = hypothesis.split(), prepared["ref_words"]
        try:
            fewest: float = min(edits_with_shifts(words, reference) for reference in references)
        except TooLong:
            fewest = math.nan
        return [fewest, sum(map(len, references)) / len(references)]

    scorer = _uncached(TER(**options))
    scorer._compute_segment_statistics = counted
    return scorer


def splitter(name: str) -> Callable[[str], list[str]]:
    """The tokenizer of a name, as a function that splits a text into words."""
    from sacrebleu.metrics.bleu import _get_tokenizer

    tokenizer = _uncached_tokenizer(_get_tokenizer(name)())
    return lambda text: tokenizer(text.rstrip()).split()


def signature(scorer: Any, references: Collection[int]) -> str:
    """The signature that sacrebleu prints beside the number of such a scorer, such as `nrefs:1|case:mixed|...`.

    Args:
        scorer: as the functions above make it.
        references: the numbers of references that segments have.
    """
    scorer.num_refs = min(references) if len(references) == 1 else -1  # it prints "var"
    return str(scorer.get_signature())


def statistics(scorer: Any, segments: Sequence[Segment], k: int, runtime: Runtime, label: str) -> Array:
    """Statistics of each segment against exactly its own references, shape (n, k).

    Each distinct tuple of references is prepared once for all systems and dropped again before the next; each distinct
    hypothesis is counted once against it. A blank text is an empty one, even where blanks would be counted.
    """

    def prepared_text(text: str) -> str:
        prepared: str = scorer._preprocess_segment("" if is_blank(text) else text)
        return prepared

    rows = np.zeros((len(segments), k))  # (n, k)
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, segment in enumerate(segments):
        groups.setdefault(segment.references, {}).setdefault(segment.hypothesis, []).append(place)
    with runtime.progress(len(segments), label) as advance:
        for references, hypotheses in groups.items():
            prepared = scorer._extract_reference_info([prepared_text(r) for r in references])
            for hypothesis, places in hypotheses.items():
                rows[places] = scorer._compute_segment_statistics(prepared_text(hypothesis), prepared)
                advance(len(places))
    return rows


def floats(totals: Any) -> Any:
    """The totals as floating point; float32 is kept, so that p-values of sacrebleu can be repeated digit by digit."""
    totals = np.asarray(totals)
    return totals if totals.dtype.kind == "f" else totals.astype(np.float64)


def is_empty(segments: Sequence[Segment]) -> Mask:
    """Where the hypothesis is blank or every reference is, shape (n,)."""
    return np.array([is_blank(s.hypothesis) or all(map(is_blank, s.references)) for s in segments], dtype=np.bool_)


def _check_available(name: str) -> None:
    """Refuse a sentencepiece tokenizer whose package or model file is not here: sacrebleu would fetch the file."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if name not in SPM_MODELS:
        return
    try:
        import sentencepiece  # noqa: F401
    except ImportError:
        raise InputError(
            f"bleu:tokenize={name} needs a package that is not installed; run: pip install sentencepiece"
        ) from None
    url = SPM_MODELS[SPM_MODELS[name]["signature"]]["url"]
    path = os.path.join(SACREBLEU_DIR, "models", os.path.basename(SPM_MODELS[name]["url"]))
    if not os.path.exists(path):
        raise InputError(
            f"bleu:tokenize={name} needs the file {path}, which is not there; fetch it once from {url} (nothing is"
            " downloaded here)"
        )


def _uncached(scorer: Any) -> Any:
    """The scorer with its tokenizer freed of sacrebleu's caches, which keep up to 65,536 texts alive.

    Each text is tokenized only once anyway.
    """
    scorer.tokenizer = _uncached_tokenizer(scorer.tokenizer)
    return scorer


def _uncached_tokenizer(tokenizer: Any) -> Callable[[str], str]:
    inner = getattr(tokenizer, "_post_tokenizer", None)
    if inner is not None:
        tokenizer._post_tokenizer = _by_table(inner)
    return _bare(tokenizer)


def _bare(tokenizer: Any) -> Callable[[str], str]:
    call = getattr(type(tokenizer).__call__, "__wrapped__", None)
    return tokenizer if call is None else lambda text: call(tokenizer, text)


def _by_table(tokenizer: Any) -> Callable[[str], str]:
    """The rules of `13a` and `zh`, of which the first puts blanks around signs: a table does it in half the time.

    The rule takes blanks for signs, too, and makes three of one; in the end one is left.
    """
    rules = getattr(tokenizer, "_re", None)
    if not rules or (rules[0][0].pattern, rules[0][1]) != _SIGNS:  # another sacrebleu
        return _bare(tokenizer)
    apart = {code: f" {chr(code)} " for code in range(ord(" ") + 1, 128) if rules[0][0].match(chr(code))}

    def split(line: str) -> str:
        line = line.translate(apart)
        for pattern, into in rules[1:]:
            line = pattern.sub(into, line)
        return " ".join(line.split())

    return split
