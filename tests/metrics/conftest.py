import pytest

# Metrics of words are sums of float64. Models add in float32, in an order that processors, batches and releases of
# torch choose: seven digits through up to six layers leave six. Under 26 settings of ATEN_CPU_CAPABILITY,
# MKL_ENABLE_INSTRUCTIONS, ONEDNN_MAX_CPU_ISA and threads, 7.7e-7 was seen of probabilities, 2.1e-7 of similarities.
_TOLERANCE = 1e-6
# A sum whose terms cancel is as sure as its terms, not as its result: two roundings of float32 (2.4e-7) for each unit.
# The terms of the last layer of `sescore` add up to 55 without their signs (seen: 3.2e-6), those of the two networks of
# `rated` to 8.5 and 1.7 (9.4e-7). Logits of `fluency` reach 20 and pass a logarithm (6.1e-6).
_WIDER = {"sescore": 55 * 2.4e-7, "rated": 10.2 * 2.4e-7, "fluency": 2e-5}


@pytest.fixture(scope="session")
def rounding():
    """A function from a metric to how far two scores of one segment may lie apart, relative above 1."""
    return lambda name: _WIDER.get(name, _TOLERANCE)
