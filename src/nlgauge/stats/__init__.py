"""Resampling and statistics: numbers in, numbers out; nothing here knows what a text is."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.stats.coefficients import (
        acc_eq,
        chance_acc_eq,
        chance_acc_eq_calibrated,
        chance_preference,
        chance_soft_pairwise,
        human_ties,
        kendall_b,
        kendall_c,
        pearson,
        spearman,
        tau_eq,
    )
    from nlgauge.stats.correlate import STATISTICS, Correlation, Statistic, correlations
    from nlgauge.stats.draws import Intervals, bootstrap_interval, wilson
    from nlgauge.stats.gate_bounds import RateInterval, Studentized, studentized, tango_interval
    from nlgauge.stats.gates import Bound, bound_difference, bound_level
    from nlgauge.stats.intervals import Interval, bootstrap_correlation, bootstrap_correlations, fisher_interval
    from nlgauge.stats.power import (
        Power,
        SimulatedPower,
        accuracy_power,
        correlation_power,
        critical_correlation,
        mean_power,
        simulated_power,
    )
    from nlgauge.stats.preferences import (
        HeldOut,
        PreferenceAccuracy,
        SoftAccuracy,
        Threshold,
        calibrate,
        calibrate_held_out,
        pairwise,
        preference_accuracy,
        soft_pairwise,
    )
    from nlgauge.stats.ratings import (
        Alpha,
        CorrectedRate,
        Kappa,
        Outliers,
        PromptSensitivity,
        SplitHalf,
        Swaps,
        cohen_kappa,
        corrected_rate,
        errors_by_system,
        krippendorff,
        mad_outliers,
        prompt_sensitivity,
        retest_spread,
        split_half,
        swap_consistency,
    )
    from nlgauge.stats.resampling import (
        acc_eq_test,
        bootstrap_test,
        item_swap_test,
        permutation_test,
        soft_accuracy_test,
    )
    from nlgauge.stats.selection import (
        Selection,
        hybrid_draws,
        hybrid_scores,
        selection_quality,
        simulate_selection,
    )
    from nlgauge.stats.significance import PairedTest, paired_bootstrap, paired_randomisation
    from nlgauge.stats.spans import (
        SpanAgreement,
        character_counts,
        left_clean,
        one_to_one_counts,
        span_agreement,
        span_f1,
    )
    from nlgauge.stats.tests import (
        McNemar,
        MetricComparison,
        benjamini_hochberg,
        holm,
        mcnemar,
        not_outperformed,
        rank_clusters,
        subsample_verdicts,
        williams,
        williams_test,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "STATISTICS", "Alpha", "Bound", "CorrectedRate", "Correlation", "HeldOut", "Interval",
    "Intervals", "Kappa", "McNemar", "MetricComparison", "Outliers", "PairedTest", "Power",
    "PreferenceAccuracy", "PromptSensitivity", "RateInterval", "Selection", "SimulatedPower", "SoftAccuracy",
    "SpanAgreement", "SplitHalf", "Statistic", "Studentized", "Swaps", "Threshold", "acc_eq",
    "acc_eq_test", "accuracy_power", "benjamini_hochberg", "bootstrap_correlation", "bootstrap_correlations",
    "bootstrap_interval", "bootstrap_test", "bound_difference", "bound_level", "calibrate", "calibrate_held_out",
    "chance_acc_eq", "chance_acc_eq_calibrated", "chance_preference", "chance_soft_pairwise", "character_counts",
    "cohen_kappa", "corrected_rate", "correlation_power", "correlations", "critical_correlation",
    "errors_by_system", "fisher_interval", "holm", "human_ties", "hybrid_draws",
    "hybrid_scores", "item_swap_test", "kendall_b", "kendall_c",
    "krippendorff", "left_clean", "mad_outliers", "mcnemar", "mean_power", "not_outperformed", "one_to_one_counts",
    "paired_bootstrap", "paired_randomisation", "pairwise", "pearson", "permutation_test",
    "preference_accuracy", "prompt_sensitivity", "rank_clusters", "retest_spread",
    "selection_quality", "simulate_selection", "simulated_power", "soft_accuracy_test", "soft_pairwise",
    "span_agreement", "span_f1", "spearman", "split_half", "studentized", "subsample_verdicts",
    "swap_consistency", "tango_interval", "tau_eq", "williams", "williams_test", "wilson",
]  # fmt: skip
