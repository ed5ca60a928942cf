"""Sixty-four pairs, half of them hostile, and their vectors as transformers computes them, text by text."""

import random

import numpy as np
import pytest

from nlgauge.core.segment import Segment

_NORMAL = (
    "the cat sat on the mat", "a dog lay on the rug", "rain fell in the night", "the old boat is red",
    "she did not see the cat", "the dog and the cat are here", "a big storm is near the coast",
    "he gave the boat to the man", "we walk to the harbour at seven", "the mat is on the floor",
)  # fmt: skip
_HOSTILE = (
    "", " \t", ".", "?!", "...", "a", "the", "7", "cat!", "'", "今天雨", "λόγος ήλιος", "the the the the the",
    "unbelievable weathering", "a.b,c!d?e", "the cat " * 14, "cat cat dog. dog cat cat!", "don't you'll 3.14",
)  # fmt: skip


@pytest.fixture(scope="session")
def pairs():
    """Segments with one reference each."""
    rng = random.Random(7)
    normal = [tuple(rng.sample(_NORMAL, 2)) for _ in range(32)]
    hostile = [(rng.choice(_HOSTILE), rng.choice(_HOSTILE + _NORMAL)) for _ in range(32)]
    hostile = [pair if rng.random() < 0.7 else pair[::-1] for pair in hostile]
    return [Segment(f"pair {i}", hyp, (ref,)) for i, (hyp, ref) in enumerate(normal + hostile)]


@pytest.fixture(scope="session")
def plain(tiny_model):
    """A function from a text to its pieces and their vectors at every layer, (layers, T, d), by transformers alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = str(tiny_model("bert"))
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    seen = {}

    def read(text):
        if text not in seen:
            batch = tokenizer(text.strip(), return_tensors="pt")
            with torch.no_grad():
                states = model(**batch, output_hidden_states=True).hidden_states
            names = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
            seen[text] = names, np.stack([s[0].numpy() for s in states]).astype(np.float64)
        return seen[text]

    read.folder = folder
    return read


@pytest.fixture(scope="session")
def cheapest():
    """A function from costs (n, m) and weights to the least cost of moving them, by linear programming."""
    from scipy.optimize import linprog

    def move(costs, first, second):
        n, m = costs.shape
        rows = np.kron(np.eye(n), np.ones(m))
        columns = np.kron(np.ones(n), np.eye(m))
        # One equation follows from the others; left in, rounding could make it contradict them.
        equal = np.vstack([rows, columns[:-1]])
        amounts = np.concatenate([first / sum(first), (second / sum(second))[:-1]])
        return linprog(costs.ravel(), A_eq=equal, b_eq=amounts).fun

    return move
