"""Resampling and statistics: numbers in, numbers out; nothing here knows what a text is."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.stats.coefficients import acc_eq, kendall_b, kendall_c, pearson, spearman, tau_eq
    from nlgauge.stats.correlate import Correlation
    from nlgauge.stats.intervals import Interval, bootstrap_correlation
    from nlgauge.stats.power import (
        Power,
        SimulatedPower,
        accuracy_power,
        correlation_power,
        mean_power,
        simulated_power,
    )
    from nlgauge.stats.preferences import (
        PreferenceAccuracy,
        SoftAccuracy,
        Threshold,
        calibrate,
        pairwise,
        preference_accuracy,
        soft_pairwise,
    )
    from nlgauge.stats.ratings import (
        Alpha,
        Kappa,
        PromptSensitivity,
        SplitHalf,
        cohen_kappa,
        krippendorff,
        prompt_sensitivity,
        split_half,
    )
    from nlgauge.stats.resampling import permutation_test
    from nlgauge.stats.significance import PairedTest, paired_bootstrap, paired_randomisation
    from nlgauge.stats.tests import McNemar, MetricComparison, holm, mcnemar, williams, williams_test
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Alpha", "Correlation", "Interval", "Kappa", "McNemar", "MetricComparison", "PairedTest", "Power",
    "PreferenceAccuracy", "PromptSensitivity", "SimulatedPower", "SoftAccuracy", "SplitHalf", "Threshold", "acc_eq",
    "accuracy_power", "bootstrap_correlation", "calibrate", "cohen_kappa", "correlation_power", "holm", "kendall_b",
    "kendall_c", "krippendorff", "mcnemar", "mean_power", "paired_bootstrap", "paired_randomisation", "pairwise",
    "pearson", "permutation_test", "preference_accuracy", "prompt_sensitivity", "simulated_power", "soft_pairwise",
    "spearman", "split_half", "tau_eq", "williams", "williams_test",
]  # fmt: skip
