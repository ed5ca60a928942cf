"""A model whose files are known and whose network is loaded only when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

Files = TypeVar("Files")
Tokenizer = TypeVar("Tokenizer")
Network = TypeVar("Network")


class LazyModel(Generic[Files, Tokenizer, Network]):
    """Files, tokenizer and network of one model.

    Args:
        found: its files.
        tokenizer: its tokenizer.
        load: function that returns the network.
        budget: the largest number of tokens in a batch; None is left to the model.
    """

    def __init__(self, found: Files, tokenizer: Tokenizer, load: Callable[[], Network], budget: int | None) -> None:
        self.found, self.tokenizer = found, tokenizer
        self._load, self.budget = load, budget

    @cached_property
    def network(self) -> Network:
        """The network, loaded when it is first needed."""
        return self._load()
