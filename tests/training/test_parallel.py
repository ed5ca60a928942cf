"""Parts side by side: the values and gradients of one pass, in the order of the parts."""

import pytest

pytest.importorskip("torch")

import torch

from nlgauge.training.parallel import Cores, cores

CPU = torch.device("cpu")


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def passed(run):
    torch.manual_seed(0)
    layer, unused = torch.nn.Linear(4, 3), torch.nn.Linear(2, 2)
    blocks = [torch.randn(n, 4) for n in (1, 5, 2)]
    parameters = [*layer.parameters(), *unused.parameters()]
    out = run.together([lambda block=block: torch.tanh(layer(block)) for block in blocks], parameters)
    (out * torch.arange(24.0).view(8, 3)).sum().backward()
    return out.detach(), layer.weight.grad, layer.bias.grad, unused.weight.grad


def test_threads_say_and_learn_what_one_pass_does(two_threads):
    with cores(CPU) as several:
        found = passed(several)
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    expected = passed(Cores(None))
    assert torch.allclose(found[0], expected[0], rtol=1e-6)  # float32 on one core or two
    for one, other in zip(found[1:3], expected[1:3], strict=True):
        assert torch.allclose(one, other, rtol=1e-5)  # float32: three sums instead of one
    assert found[3] is expected[3] is None  # what no part uses has no gradient


def test_twice_the_same_to_the_last_bit(two_threads):
    with cores(CPU) as several:
        first, second = passed(several), passed(several)
    assert all(torch.equal(a, b) for a, b in zip(first[:3], second[:3], strict=True))


def test_what_fails_in_a_thread_fails_here(two_threads):
    def fail():
        raise ValueError("in a part")

    with cores(CPU) as several, pytest.raises(ValueError, match="in a part"):
        several.together([fail, fail], [])
    assert torch.get_num_threads() == 2


def test_without_gradients_none_are_made(two_threads):
    layer = torch.nn.Linear(2, 2).requires_grad_(False)
    with cores(CPU) as several:
        out = several.together([lambda: layer(torch.ones(1, 2))] * 2, list(layer.parameters()))
    assert not out.requires_grad
