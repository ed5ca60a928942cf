"""How likely texts are: company, prompts, starts, and what is asked only once."""

import numpy as np
import pytest

from nlgauge.models.generation.files import locate_generator
from nlgauge.models.generation.generator import Generator
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")
PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("rain fell", "heavy rain fell today"),
    ("", "rain"),
    ("rain fell", "heavy rain fell today"),
    ("rain fell today", "the cat " * 60),
]


def generator(folder, runtime=None, **told):
    return Generator(locate_generator(str(folder)), runtime or Runtime(device="cpu"), **told)


@pytest.mark.parametrize("kind", ["bart", "t5", "gpt2"])
def test_a_likelihood_depends_on_its_pair_alone(tiny_denoiser, tiny_causal, kind):
    folder = tiny_causal(kind) if kind == "gpt2" else tiny_denoiser(kind)
    whole = generator(folder).likelihoods(PAIRS)
    assert whole.sums[1] == whole.sums[3]
    assert (whole.sums[2], whole.blank.tolist()) == (0, [False, False, True, False, False])
    assert whole.truncated.tolist() == [False] * 4 + [True]
    for budget in (1, 40):
        model = generator(folder, Runtime(device="cpu", token_budget=budget))
        alone = [model.likelihoods([pair]) for pair in PAIRS]
        for name in ("sums", "counts", "unknown"):
            expected = np.concatenate([getattr(one, name) for one in alone])
            assert getattr(whole, name) == pytest.approx(expected, rel=1e-6)  # float32


def test_texts_are_asked_once_and_counted(tiny_causal):
    done = []
    model = generator(tiny_causal("gpt2"))
    model.likelihoods(PAIRS, done.append)
    assert sum(done) == 4  # different pairs, the blank one too
    empty = model.likelihoods([])
    assert empty.sums.shape == empty.blank.shape == (0,)


def test_a_template_is_put_around_what_is_given(tiny_denoiser, tiny_causal):
    for folder in (tiny_denoiser("bart"), tiny_causal("gpt2")):
        told = generator(folder, template="not {} today").likelihoods([(" a cat ", "rain"), ("", "rain")])
        written = generator(folder).likelihoods([("not a cat today", "rain"), ("", "rain")])
        assert told.sums.tolist() == written.sums.tolist()
        assert told.blank.tolist() == [False, True]


def test_pieces_around_the_text_may_not_count(tiny_denoiser):
    folder = tiny_denoiser("bart")
    every = generator(folder).likelihoods(PAIRS[:1])
    own = generator(folder, counts_frame=False).likelihoods(PAIRS[:1])
    assert own.counts == every.counts - 1
    assert own.sums > every.sums  # without <s>, whose log-probability is below 0


def test_a_runtime_holds_one_copy(tiny_causal):
    runtime = Runtime(device="cpu")
    assert generator(tiny_causal("gpt2"), runtime)._network() is generator(tiny_causal("gpt2"), runtime)._network()
