"""Simulated template × form × polarity studies whose surfaces are asked many times, with the truth behind them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit

from analysis.measures.yes_no_bias import FOUR_CELLS, YES_CELLS

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = hermegauss(31)


@dataclass(frozen=True, slots=True)
class Study:
    """Size of a study and the spread of what surfaces do.

    ``surface_sd``: sd of model × surface leaning to Yes, log-odds. ``effect_scale``: half-normal scale of the sds of
    templates, of templates within a model and of cells; ``cell_noise`` normal (on the log-odds) or beta.
    """

    name: str
    surfaces: int = 20
    surface_sd: float = 0.0
    models: int = 6
    templates: int = 6
    forms: int = 3
    effect_scale: float = 0.7
    cell_noise: str = "normal"
    yes_sd: float = 1.0


STUDIES = (
    Study("20 surfaces, clean"),
    Study("5 surfaces, clean", surfaces=5),
    Study("20 surfaces, model x surface sd .7", surface_sd=0.7),
)


def simulated_study(study: Study, rng: np.random.Generator) -> tuple[pd.DataFrame, Floats]:
    """Item counts (one response per model and item), and the true accuracies (M, 4) over all surfaces.

    The truth keeps templates, forms and cells as drawn and integrates the surfaces.
    """
    t, f, p = (
        a.ravel() for a in np.meshgrid(np.arange(study.templates), np.arange(study.forms), [1, -1], indexing="ij")
    )
    v = np.where(t < study.templates - study.templates // 3, 1, -1)
    s = v * p
    cell = np.select([(v > 0) & (p > 0), (v > 0) & (p < 0), (v < 0) & (p > 0)], FOUR_CELLS[:3], FOUR_CELLS[3])
    eta = _log_odds(study, (t, f, p, v, s), rng)
    nodes = expit(eta[..., None] + study.surface_sd * _NODES) @ (_WEIGHTS / _WEIGHTS.sum())
    right = np.where(s > 0, nodes, 1 - nodes)
    truth = np.stack([right[:, cell == name].mean(axis=1) for name in FOUR_CELLS], axis=1)
    surface = study.surface_sd * rng.normal(size=(study.models, 1, study.surfaces))
    yes = rng.random((study.models, len(t), study.surfaces)) < expit(eta[..., None] + surface)
    return _item_counts(yes, t, f, p, cell), truth


def _log_odds(study: Study, factors: tuple[NDArray[np.int64], ...], rng: np.random.Generator) -> Floats:
    """Log-odds of Yes (M, C), each cell with its own deviation."""
    t, f, p, v, s = factors
    template, own, noise = np.abs(rng.normal(size=3)) * study.effect_scale
    mean = np.array([0.0, 1.0, 0.0, 0.5]) + rng.normal(size=4) * [0.5, 0.5, 0.3, 0.3]
    b = mean + rng.normal(size=(study.models, 4)) * [study.yes_sd, 0.8, 0.4, 0.4]
    shared = rng.normal(size=(2, study.templates)) * template
    within = rng.normal(size=(study.models, 2, study.templates)) * own
    form = rng.normal(size=(2, study.forms)) * 0.3
    eta = b[:, [0]] + b[:, [1]] * s + b[:, [2]] * p + b[:, [3]] * v
    eta = eta + (shared + within)[:, 0, t] + (shared + within)[:, 1, t] * p + form[0, f] + form[1, f] * s
    if study.cell_noise == "normal":
        return eta + noise * rng.normal(size=eta.shape)
    phi = np.exp(rng.normal(1.0, 1.0))
    probability = rng.beta(phi * expit(eta) + 1e-6, phi * expit(-eta) + 1e-6)
    return np.log(np.maximum(probability, 1e-12) / np.maximum(1 - probability, 1e-12))


def _item_counts(
    yes: NDArray[np.bool_],
    t: NDArray[np.int64],
    f: NDArray[np.int64],
    p: NDArray[np.int64],
    cell: NDArray[np.str_],
) -> pd.DataFrame:
    m, c, i = (a.ravel() for a in np.indices(yes.shape))
    table = pd.DataFrame(
        {
            "task": "simulated",
            "model": [f"m{x:02d}" for x in m],
            "unit": [f"s{x:02d}" for x in i],
            "template": [f"t{x}" for x in t[c]],
            "form": [f"f{x}" for x in f[c]],
            "cell": cell[c],
            "n_planned": 1,
            "n_answered": 1,
            "n_uncertain": 0,
            "n_set_aside": 0,
            "n_yes": yes.ravel().astype(int),
        }
    )
    gold = table["cell"].isin(YES_CELLS)
    item = table["template"] + table["form"] + np.where(p[c] > 0, "a", "n") + table["unit"]
    return table.assign(
        item=item, gold=np.where(gold, "yes", "no"), n_correct=(gold == (table["n_yes"] > 0)).astype(int)
    )
