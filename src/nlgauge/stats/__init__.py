"""Resampling and statistics: numbers in, numbers out; nothing here knows what a text is."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.stats.correlation.calibration import HeldOut, Threshold, calibrate, calibrate_held_out
    from nlgauge.stats.correlation.chance import (
        chance_acc_eq,
        chance_acc_eq_calibrated,
        chance_preference,
        chance_soft_pairwise,
        human_ties,
    )
    from nlgauge.stats.correlation.coefficients import acc_eq, kendall_b, kendall_c, pearson, spearman, tau_eq
    from nlgauge.stats.correlation.correlate import Correlation, correlations
    from nlgauge.stats.correlation.preferences import PreferenceAccuracy, preference_accuracy
    from nlgauge.stats.correlation.registry import STATISTICS, Statistic
    from nlgauge.stats.correlation.system_pairs import SoftAccuracy, pairwise, soft_pairwise
    from nlgauge.stats.differences.bootstrap import bootstrap_test
    from nlgauge.stats.differences.clusters import not_outperformed, rank_clusters
    from nlgauge.stats.differences.item_swaps import acc_eq_test, item_swap_test
    from nlgauge.stats.differences.mcnemar import McNemar, mcnemar
    from nlgauge.stats.differences.multiplicity import benjamini_hochberg, holm
    from nlgauge.stats.differences.permutation import permutation_test
    from nlgauge.stats.differences.power import (
        Power,
        SimulatedPower,
        accuracy_power,
        correlation_power,
        critical_correlation,
        mean_power,
        simulated_power,
    )
    from nlgauge.stats.differences.result import MetricComparison
    from nlgauge.stats.differences.soft import soft_accuracy_test
    from nlgauge.stats.differences.subsamples import subsample_verdicts
    from nlgauge.stats.differences.williams import williams, williams_test
    from nlgauge.stats.draws import Intervals, bootstrap_interval
    from nlgauge.stats.gates.decision import Bound, bound_difference
    from nlgauge.stats.gates.level import bound_level
    from nlgauge.stats.gates.studentized import Studentized, studentized
    from nlgauge.stats.gates.tango import RateInterval, tango_interval
    from nlgauge.stats.intervals.bootstrap import bootstrap_correlation, bootstrap_correlations
    from nlgauge.stats.intervals.fisher import Interval, fisher_interval
    from nlgauge.stats.ratings.agreement import Alpha, SplitHalf, krippendorff, split_half
    from nlgauge.stats.ratings.judges import (
        CorrectedRate,
        Kappa,
        Swaps,
        cohen_kappa,
        corrected_rate,
        errors_by_system,
        retest_spread,
        swap_consistency,
    )
    from nlgauge.stats.ratings.outliers import Outliers, mad_outliers
    from nlgauge.stats.ratings.powered import PoweredMeans, powered_means, rating_features
    from nlgauge.stats.ratings.prompts import PromptSensitivity, prompt_sensitivity
    from nlgauge.stats.ratings.sampling import (
        extended_sample,
        inclusion_probabilities,
        item_sizes,
        systematic_sample,
    )
    from nlgauge.stats.shares import wilson
    from nlgauge.stats.spans import (
        SpanAgreement,
        character_counts,
        left_clean,
        one_to_one_counts,
        span_agreement,
        span_curve,
        span_f1,
    )
    from nlgauge.stats.systems.curves import AgreementCurve, SystemPairs, fit_curve
    from nlgauge.stats.systems.hybrids import hybrid_draws, hybrid_scores
    from nlgauge.stats.systems.selection import Selection, selection_quality, simulate_selection
    from nlgauge.stats.systems.significance import PairedTest, paired_bootstrap, paired_randomisation
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "STATISTICS", "AgreementCurve", "Alpha", "Bound", "CorrectedRate", "Correlation", "HeldOut", "Interval",
    "Intervals", "Kappa", "McNemar", "MetricComparison", "Outliers", "PairedTest", "Power", "PoweredMeans",
    "PreferenceAccuracy", "PromptSensitivity", "RateInterval", "Selection", "SimulatedPower", "SoftAccuracy",
    "SpanAgreement", "SplitHalf", "Statistic", "Studentized", "Swaps", "SystemPairs", "Threshold", "acc_eq",
    "acc_eq_test", "accuracy_power", "benjamini_hochberg", "bootstrap_correlation", "bootstrap_correlations",
    "bootstrap_interval", "bootstrap_test", "bound_difference", "bound_level", "calibrate", "calibrate_held_out",
    "chance_acc_eq", "chance_acc_eq_calibrated", "chance_preference", "chance_soft_pairwise", "character_counts",
    "cohen_kappa", "corrected_rate", "correlation_power", "correlations", "critical_correlation",
    "errors_by_system", "extended_sample", "fisher_interval", "fit_curve", "holm", "human_ties", "hybrid_draws",
    "hybrid_scores", "inclusion_probabilities", "item_sizes", "item_swap_test", "kendall_b", "kendall_c",
    "krippendorff", "left_clean", "mad_outliers", "mcnemar", "mean_power", "not_outperformed", "one_to_one_counts",
    "paired_bootstrap", "paired_randomisation", "pairwise", "pearson", "permutation_test", "powered_means",
    "preference_accuracy", "prompt_sensitivity", "rank_clusters", "rating_features", "retest_spread",
    "selection_quality", "simulate_selection", "simulated_power", "soft_accuracy_test", "soft_pairwise",
    "span_agreement", "span_curve", "span_f1", "spearman", "split_half", "studentized", "subsample_verdicts",
    "swap_consistency", "systematic_sample", "tango_interval", "tau_eq", "williams", "williams_test", "wilson",
]  # fmt: skip
