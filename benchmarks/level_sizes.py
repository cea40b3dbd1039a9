"""Range under the null, denoised spread, and size and power of tests that all forms are equal."""

import numpy as np
from comparison_regimes import FORM_REGIMES, form_answers, form_truth
from size_rows import mean_row, share_row

from analysis.frequentist.homogeneity import homogeneity
from analysis.frequentist.level_wald import cochran_q, hotelling
from analysis.frequentist.studentised_range import expected_range, range_quantile

#: k, n, p -> mean range and its 95th percentile in the reference simulation.
RANGES = {
    (5, 80, 0.5): (0.129, 0.213),
    (5, 400, 0.8): (0.047, 0.075),
    (5, 2400, 0.5): (0.024, 0.038),
    (7, 400, 0.5): (0.068, 0.105),
}
#: Regime -> raw range, denoised range, d_k * denoised SD.
DENOISED = {
    "no interaction": (0.028, 0.009, 0.008),
    "surface x form sd .7": (0.044, 0.016, 0.015),
    "true range .05": (0.055, 0.045, 0.043),
    "true range .15": (0.150, 0.146, 0.137),
}
#: Regime -> Cochran's Q on rows, range permuted within surfaces, Hotelling over surfaces, over templates.
TESTS = {
    "no interaction": (0.040, 0.040, 0.047, 0.037),
    "surface x form sd .7": (0.390, 0.060, 0.057, 0.323),
    "template x form sd .7": (0.873, 0.853, 0.860, 0.057),
    "true range .05": (0.73, 0.69, 0.67, 0.48),
}
_THEIRS = 300


def range_rows(replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Range of k independent rates without any effect, against d_k standard errors and its own quantile."""
    rows = []
    for (k, n, p), (mean, _) in RANGES.items():
        rates = rng.binomial(n, p, (replicates, k)) / n
        spread = rates.max(axis=1) - rates.min(axis=1)
        error, regime = np.sqrt(p * (1 - p) / n), f"k={k}, n={n}, p={p}"
        rows.append(mean_row("B.1", regime, "range", spread, mean))
        rows.append(mean_row("B.1", regime, "range vs d_k * SE", spread, expected_range(k) * error, 10**9))
        above = spread > range_quantile(0.95, k) * error + 1e-9
        rows.append(share_row("B.1", regime, "range above its 95th percentile", above, (0.04, 0.05), 10**9, "exceeded"))
    return rows


def denoised_rows(replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Denoised range and SD over surfaces, and coverage of the limits of the SD."""
    rows = []
    for name, (raw, denoised, scaled) in DENOISED.items():
        values = form_answers(name, replicates, rng).mean(axis=2)
        found = homogeneity(values, rng=rng, permutations=499)
        k = values.shape[-1]
        rows.append(mean_row("B.2", name, "raw range", found.estimate, raw, _THEIRS))
        rows.append(mean_row("B.2", name, "denoised range", found.denoised_range, denoised, _THEIRS))
        rows.append(mean_row("B.2", name, "d_k * denoised SD", expected_range(k) * found.denoised_sd, scaled, _THEIRS))
        truth = float(form_truth(name).std(ddof=1))
        covered = (found.denoised_low <= truth + 1e-12) & (truth - 1e-12 <= found.denoised_high)
        expected = (0.94, 0.975) if truth > 1e-9 else (0.975, 0.975)
        rows.append(share_row("B.2", name, "limits of the SD", covered, expected, 1000, "covered"))
    return rows


def level_rows(replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Share of rejections at .05."""
    rows = []
    for name in FORM_REGIMES:
        if name not in TESTS:
            continue
        answers = form_answers(name, replicates, rng)
        by_surface, by_template = answers.mean(axis=2), answers.mean(axis=1)
        single = answers.reshape(replicates, -1, answers.shape[-1])
        within = homogeneity(by_surface, rng=rng, permutations=999)
        p_values = {
            "Cochran's Q on rows": [cochran_q(x).p_value for x in single],
            "range permuted within surfaces": within.p_value,
            "Hotelling over surfaces": [hotelling(x).p_value for x in by_surface],
            "Hotelling over templates": [hotelling(x).p_value for x in by_template],
        }
        for (method, p), reference in zip(p_values.items(), TESTS[name], strict=True):
            rows.append(
                share_row(
                    "B.3", name, method, np.asarray(p) <= 0.05, reference, _THEIRS, resampled="permuted" in method
                )
            )
        rows.append(share_row("B.3", name, "Q permuted within surfaces", within.p_q <= 0.05))
        by_templates = homogeneity(by_template, rng=rng, permutations=999).p_value
        rows.append(share_row("B.3", name, "range permuted within templates", by_templates <= 0.05))
    return rows
