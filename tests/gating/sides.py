"""Outputs for tests: sentences of our own, of which some change."""

from __future__ import annotations

import random

REFS = [f"On day {i} it rains in the north and the sun shines in the south." for i in range(60)]
BASE = [one.replace("rains", "pours") for one in REFS]


def worse(share, seed=0):
    """BASE with letters lost in a share of the texts."""
    rng = random.Random(seed)
    return [one.replace("north", "nth") if rng.random() < share else one for one in BASE]


def better(share, seed=0):
    """BASE with some texts equal to their reference."""
    rng = random.Random(seed)
    return [ref if rng.random() < share else one for one, ref in zip(BASE, REFS, strict=True)]
