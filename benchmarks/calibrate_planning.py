"""Power that planning predicts against the power of the report's own tests on simulated answers.

    python benchmarks/calibrate_planning.py [--seed 20261130] [--scale 1.0] [--out FILE.csv]

writes ``benchmarks/results/planning_power.csv``, a row per design and effect: predicted and simulated power, their
difference with the Monte-Carlo error of the simulated one, and what the reference simulation printed where it has the
design. The same name with ``.json`` holds the command and versions. Every response is simulated: units differ by a
beta distribution with the correlation rho, and a test of ``analysis.frequentist`` decides.
"""

import argparse
import json
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta
from scipy.stats import t as student

from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.clustered_rates import clustered_rates
from analysis.frequentist.floor import floor_above
from analysis.frequentist.homogeneity import homogeneity
from analysis.frequentist.incoherence_tests import wording_flip_test
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.planning.assumed import assumed_question
from analysis.planning.assumptions import Assumptions
from analysis.planning.t_power import t_test_power
from analysis.planning.unit_errors import design_effect, template_std_error

Floats = np.ndarray
Row = dict[str, object]
#: units, responses per unit and class, rho, share of units that are alike in both classes, floor, gap, reference.
FLOORS = (
    (80, 2, 0.0, 0.0, 0.50, 0.20, ""),
    (80, 2, 0.0, 0.0, 0.55, 0.00, ".16-.37"),
    (80, 2, 0.0, 0.0, 0.55, 0.20, ".16-.37"),
    (80, 2, 0.0, 0.0, 0.60, 0.00, ".72-.84"),
    (80, 2, 0.0, 0.0, 0.60, 0.20, ".72-.84"),
    (80, 10, 0.1, 1.0, 0.55, 0.00, ".60-.76"),
    (80, 10, 0.1, 1.0, 0.55, 0.20, ".60-.76"),
    (80, 60, 0.1, 1.0, 0.55, 0.00, ".90"),
    (80, 60, 0.1, 1.0, 0.55, 0.20, ".90"),
    (320, 2, 0.1, 1.0, 0.55, 0.00, ".71-.85"),
    (320, 2, 0.1, 1.0, 0.55, 0.20, ".71-.85"),
    (12, 20, 0.1, 0.5, 0.62, 0.00, ""),
    (30, 5, 0.3, 0.0, 0.70, 0.00, ""),
)
#: instances, wordings, level, reference.
PERSISTENT = (
    (83, 2, 0.05, ".20"),
    (83, 3, 0.05, ".46"),
    (83, 5, 0.05, ".85"),
    (160, 2, 0.05, ".33"),
    (160, 3, 0.05, ".70"),
    (160, 5, 0.05, ".97"),
    (83, 3, 0.025, ""),
    (83, 5, 0.025, ""),
    (160, 3, 0.025, ""),
)
#: units, responses per unit and level, rho, range, reference.
RANGES = ((80, 15, 0.0, 0.05, ".7"), (80, 15, 0.2, 0.05, ".7"), (80, 4, 0.0, 0.10, ".7"), (80, 4, 0.2, 0.10, ".7"))
_PERMUTATIONS = 499


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the replicates of every design")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "planning_power.csv")
    args = parser.parse_args()
    start = time.process_time()
    table = calibration(args.seed, args.scale)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(args.out, index=False)
    note = {
        "command": f"python benchmarks/calibrate_planning.py --seed {args.seed} --scale {args.scale:g}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas")}
        | {"python": platform.python_version()},
        "largest_difference": round(float(table["difference"].abs().max()), 4),
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    args.out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(table.round(3).to_string(index=False))
    print(f"{args.out}: {note['cpu_seconds']} CPU seconds")


def calibration(seed: int, scale: float = 1.0) -> pd.DataFrame:
    """All designs; ``scale`` multiplies the replicates."""
    rng = np.random.default_rng(seed)

    def size(replicates: int) -> int:
        return max(int(replicates * scale), 20)

    rows = [
        *_floor_rows(size(4000), rng),
        *_contrast_rows(size(4000), rng),
        *_pair_rows(size(4000), rng),
        *_change_rows(size(2000), rng),
        *_persistent_rows(size(1000), rng),
        *_range_rows(size(1000), rng),
        *_template_rows(size(10_000), rng),
        *_score_rows(size(2000), rng),
    ]
    return pd.DataFrame(rows)


def _row(question: str, design: str, effect: float, predicted: float, rejected: Floats, reference: str = "") -> Row:
    simulated, n = float(np.mean(rejected)), len(rejected)
    return {
        "question": question,
        "design": design,
        "effect": effect,
        "predicted": predicted,
        "simulated": simulated,
        "difference": predicted - simulated,
        "mc_error": float(np.sqrt((simulated * n + 2) / (n + 4) * (1 - (simulated * n + 2) / (n + 4)) / n)),
        "replicates": n,
        "reference": reference,
    }


def _answers(p: float, m: int, rho: float, uniform: Floats, rng: np.random.Generator) -> Floats:
    """Right answers of units whose accuracy has the mean p and gives responses the correlation rho."""
    if rho == 0:
        return rng.binomial(m, p, uniform.shape)
    own = beta.ppf(uniform, p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho)
    return rng.binomial(m, own)


def _both(units: int, alike: float, replicates: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Places of units in the distributions of both classes; a share of units has the same place in both."""
    first, other = rng.uniform(size=(2, replicates, units))
    return first, np.where(rng.uniform(size=first.shape) < alike, first, other)


def _classes(
    p: float, q: float, m: int, rho: float, places: tuple[Floats, Floats], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    y = np.stack([_answers(a, m, rho, u, rng) for a, u in zip((p, q), places, strict=True)], axis=-1)
    return np.full(y.shape[1:], float(m)), y.astype(float)


def _floor_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """The intersection-union test of ``frequentist.floor_tests``, one model."""
    for units, m, rho, alike, floor, gap, reference in FLOORS:
        n, y = _classes(floor, floor + gap, m, rho, _both(units, alike, replicates, rng), rng)
        found = clustered_rates(n, y, np.eye(2))
        contrasts = found.contrasts
        _, p, _ = floor_above(np.clip(contrasts.estimate, 0, 1), found.n_eff, contrasts.df)
        correlation = alike * rho * m / float(design_effect(m, rho))
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, gap=gap, class_correlation=correlation)
        predicted = assumed_question("floor", of).power(floor - 0.5, units) if floor > 0.5 else 0.05
        words = f"{units} units x {m} per class, rho {rho:g}, gap {gap:g}, correlation of classes {correlation:.2f}"
        yield _row("floor", words, round(floor - 0.5, 3), predicted, p <= 0.05, reference)


def _contrast_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """t tests of answer bias and balanced accuracy."""
    for units, m, rho, bias in ((80, 5, 0.1, 0.1), (20, 5, 0.1, 0.2), (320, 1, 0.0, 0.1)):
        n, y = _classes(0.7 + bias / 2, 0.7 - bias / 2, m, rho, _both(units, 0.0, replicates, rng), rng)
        found = clustered_contrasts(n, y, np.array([[1.0, -1.0]]))
        rejected = _t_rejects(found.estimate[:, 0], found.variance[:, 0], found.df[:, 0])
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, accuracy=0.7)
        predicted = assumed_question("answer-bias", of).power(bias, units)
        yield _row("answer bias", f"{units} units x {m} per class, rho {rho:g}", bias, predicted, rejected)


def _pair_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences in accuracy of two models over the same units, tested by t over units."""
    for units, m, rho, alike, d in ((80, 5, 0.3, 1.0, 0.08), (80, 5, 0.3, 0.0, 0.08), (30, 10, 0.2, 0.5, 0.1)):
        _, y = _classes(0.7 + d / 2, 0.7 - d / 2, m, rho, _both(units, alike, replicates, rng), rng)
        differences = (y[..., 0] - y[..., 1]) / m
        variance = differences.var(axis=1, ddof=1) / units
        rejected = _t_rejects(differences.mean(axis=1), variance, units - 1.0)
        correlation = alike * rho * m / float(design_effect(m, rho))
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, accuracy=0.7, correlation=correlation)
        predicted = assumed_question("accuracy-difference", of).power(d, units)
        words = f"{units} units x {m}, rho {rho:g}, correlation of models {correlation:.2f}"
        yield _row("difference of two models", words, d, predicted, rejected)


def _t_rejects(estimate: Floats, variance: Floats, df: Floats | float) -> Floats:
    return np.abs(estimate) > student.ppf(0.975, df) * np.sqrt(variance)


def _change_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Sign flips of units on pairs of answers; the direction of change varies between units."""
    for units, m, rho, discordant, d in ((80, 5, 0.0, 0.3, 0.08), (80, 5, 0.1, 0.3, 0.1), (300, 1, 0.0, 0.2, 0.08)):
        direction = (1 + d / discordant) / 2
        uniform = rng.uniform(size=(replicates, units))
        share = direction if rho == 0 else _beta_share(direction, d, discordant, rho, uniform)
        n = rng.binomial(m, discordant, uniform.shape)
        net = 2.0 * rng.binomial(n, share) - n
        p = sign_flip_test(net, rng=rng, flips=_PERMUTATIONS).p_value
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, discordant=discordant)
        predicted = assumed_question("change", of).power(d, units)
        words = f"{units} units x {m} pairs, {discordant:g} discordant, rho {rho:g}"
        yield _row("paired change", words, d, predicted, p <= 0.05)


def _beta_share(direction: float, d: float, discordant: float, rho: float, uniform: Floats) -> Floats:
    """Share of changes in the more frequent direction by unit, so that net changes have the correlation rho."""
    variance = rho * (discordant - d**2) / (2 * discordant) ** 2
    own = direction * (1 - direction) / variance - 1
    return beta.ppf(uniform, direction * own, (1 - direction) * own)


def _persistent_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Sign flips of wordings on normal residuals with a persistent part of .10 and noise .3."""
    for n, k, level, reference in PERSISTENT:
        rejected = np.array([_detected(n, k, level, rng) for _ in range(replicates)])
        question = assumed_question("persistent", Assumptions(units=n, noise=0.3, wordings=k), level=level)
        words = f"{n} instances x {k} wordings, noise .3, level {level:g}"
        yield _row("persistent incoherence", words, 0.1, question.power(0.1, n), rejected, reference)


def _detected(n: int, k: int, level: float, rng: np.random.Generator) -> bool:
    residuals = rng.normal(0, 0.1, (n, 1)) + rng.normal(0, 0.3, (n, k))
    return wording_flip_test(residuals, np.arange(n), rng=rng, flips=_PERMUTATIONS).p_value <= level


def _range_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Permutations of labels within units; one level high, one low, three between."""
    for units, m, rho, spread, reference in RANGES:
        uniform = rng.uniform(size=(replicates, units))
        effects = np.array([-spread / 2, 0.0, 0.0, 0.0, spread / 2])
        means = np.stack([_answers(0.7 + e, m, rho, uniform, rng) for e in effects], axis=-1) / m
        p = homogeneity(means, rng=rng, permutations=_PERMUTATIONS).p_value
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, accuracy=0.7, levels=5)
        predicted = assumed_question("range", of).power(spread, units)
        words = f"{units} units x {m} per level, rho {rho:g}, 5 levels"
        yield _row("range over levels", words, spread, predicted, p <= 0.05, reference)


def _template_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """t over templates of both validities, Satterthwaite's degrees of freedom."""
    for valid, invalid, sd, effect in ((11, 4, 0.2, 0.2), (15, 15, 0.4, 0.2), (4, 4, 0.2, 0.3)):
        rates = rng.normal(0.5 + effect, sd, (replicates, valid + invalid))
        parts = (rates[:, :valid], rates[:, valid:])
        terms = np.stack([part.var(axis=1, ddof=1) / part.shape[1] / 4 for part in parts])
        variance = terms.sum(axis=0)
        df = variance**2 / (terms**2 / np.array([[valid - 1], [invalid - 1]])).sum(axis=0)
        mean = sum(part.mean(axis=1) for part in parts) / 2
        error, expected_df = template_std_error(sd, valid, invalid)
        predicted = float(t_test_power(effect, error, df=expected_df))
        words = f"{valid} valid, {invalid} invalid templates, sd {sd:g}"
        yield _row("new templates", words, effect, predicted, _t_rejects(mean - 0.5, variance, df))


def _score_rows(replicates: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences in mean graded score of two models, by the sign flips over units of the order of models."""
    for units, m, rho, alike, d in ((80, 1, 0.0, 0.5, 0.08), (30, 4, 0.3, 1.0, 0.08), (12, 10, 0.2, 0.0, 0.15)):
        shared = rng.normal(size=(replicates, units, 1))
        own = rng.normal(size=(2, replicates, units, 1))
        of_unit = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
        z = np.sqrt(rho) * of_unit + np.sqrt(1 - rho) * rng.normal(size=(2, replicates, units, m))
        scores = np.clip(0.6 + np.array([d / 2, -d / 2])[:, None, None, None] + 0.15 * z, 0, 1)
        means = scores.mean(axis=3)
        p = sign_flip_test(means[0] - means[1], rng=rng, flips=_PERMUTATIONS).p_value
        correlation = alike * rho * m / float(design_effect(m, rho))
        of = Assumptions(units=units, rows_per_unit=m, rho=rho, score_sd=0.15, correlation=correlation)
        predicted = assumed_question("score-difference", of).power(d, units)
        words = f"{units} units x {m}, sd .15, rho {rho:g}, correlation of models {correlation:.2f}"
        yield _row("mean scores of two models", words, d, predicted, p <= 0.05)


if __name__ == "__main__":
    main()
