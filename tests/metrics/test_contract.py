"""Every metric of the package keeps the contract: its own test file checks it."""

from __future__ import annotations

from pathlib import Path

from nlgauge.metrics.registry import METRICS

HERE = Path(__file__).parent
NO_CONTRACT = {
    "scores": "its numbers come by id from a file: other texts give the same",
    "command": "its numbers are those of a program of the user's, which may do with a text what it likes",
    "rated": "a blank text gets the lowest rating of its training, and unrelated texts can fall below",
    "sentinel": "a control of one side: it does not see a blank text of another side, and a blank text is a short one",
}
CLASSES = {entry.target: name for name, entry in reversed(METRICS.entries.items())}


def test_the_test_file_of_a_metric_checks_its_contract():
    """A metric touches one file, one row of the registry, one test file of the same name, and one page."""
    for target in (target for target, name in CLASSES.items() if name not in NO_CONTRACT):
        module, _, kind = target.removeprefix("nlgauge.metrics.").partition(":")
        *room, name = module.split(".")
        path = HERE.joinpath(*room, f"test_{name}.py")
        assert path.exists(), f"{module} has no test file; expected {path}"
        text = path.read_text(encoding="utf-8")
        named = kind in text or f'"{CLASSES[target]}' in text
        assert named and "check_metric(" in text, f"{path} does not call check_metric on {kind}"  # noqa: PT018
