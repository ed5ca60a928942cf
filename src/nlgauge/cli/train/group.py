"""`nlgauge train`: what is learnt from data, from the simplest on."""

from __future__ import annotations

from nlgauge.cli.verbs import TRAIN, VERBS, group_of

app = group_of(TRAIN, help=VERBS["train"].summary)
