"""Answers that were paid for, kept in a file of JSON lines, so that a run that was ended goes on."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256

from nlgauge.core.errors import InputError
from nlgauge.core.segment import unique


def prompt_key(url: str, model: str, prompt: str) -> str:
    """The digest by which an answer is found: of the address, the model and the whole prompt; never of a key."""
    return sha256(json.dumps([url, model, prompt]).encode()).hexdigest()


class Kept:
    """Answers by the digest of their prompt.

    Args:
        path: the file, which is made with the first answer; None keeps nothing.

    Raises:
        InputError: the file cannot be read, or is another one.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._texts: dict[str, str] = {}
        self._broken = False
        if path is None or not os.path.exists(path):
            return
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
        self._broken = bool(lines[-1])
        for line in lines:
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # half a line of a run that was ended
                row = json.loads(line, object_pairs_hook=unique)
                self._texts[row["prompt_sha256"]] = str(row["raw"])
        if not self._texts and any(line.strip() for line in lines):
            raise InputError(f"{path}: no line of it is an answer of a judge; is it another file?")

    def get(self, key: str) -> str | None:
        """The answer; None if there is none."""
        return self._texts.get(key)

    def add(self, key: str, text: str) -> None:
        """Keep an answer at once, so that it survives whatever comes next.

        Raises:
            InputError: the file cannot be written.
        """
        self._texts[key] = text
        if self._path is None:
            return
        line = json.dumps({"prompt_sha256": key, "raw": text}) + "\n"
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(("\n" if self._broken else "") + line)  # after half a line of a run that was ended
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None
        self._broken = False
