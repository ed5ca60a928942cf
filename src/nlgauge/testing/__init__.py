"""Checks of the promises of every metric and perturbation, ours or a third party's, to call from tests of your own."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.testing.metric import SEGMENTS, TEXTS, check_metric, check_options
    from nlgauge.testing.perturbation import check_perturbation
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["SEGMENTS", "TEXTS", "check_metric", "check_options", "check_perturbation"]
