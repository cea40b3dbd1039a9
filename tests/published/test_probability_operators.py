"""Numbers printed in a published study of probability operators that follow from others it prints.

Each lies inside the interval that rounding of its ingredients leaves; claims in the text that its own tables
contradict are listed as contradictions and not reproduced.
"""

import csv
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.associations import association_table, size_table
from analysis.comparison.weightings import weighting_table
from analysis.frequentist.template_levels import spread_over_templates
from analysis.measures.competence import affirmative_floor, balanced_accuracy, competence_floor
from analysis.measures.yes_no_bias import answer_bias, polarity_sensitivity

CELLS = ("v_aff", "v_neg", "i_aff", "i_neg")
RNG = np.random.default_rng


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** int(Decimal(printed).as_tuple().exponent)


class Printed:
    """The tables of the study as printed texts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def column(self, name: str, column: str) -> np.ndarray:
        return np.array([float(row[column]) for row in self.rows(name)])

    def quoted(self, quantity: str) -> str:
        return next(row["value"] for row in self.rows("quoted_figures") if row["quantity"] == quantity)


@pytest.fixture(scope="module")
def printed(shared: Path) -> Printed:
    return Printed(shared / "published" / "probability_operators")


def outside(rows: Iterable[dict[str, str]], parts: dict[str, float], total: str) -> list[str]:
    """Rows whose ``total`` is no weighted sum of ``parts`` within the rounding of all of them."""
    found = []
    for row in rows:
        value = sum(weight * float(row[name]) for name, weight in parts.items())
        allowed = sum(abs(w) * half_unit(row[name]) for name, w in parts.items()) + half_unit(row[total])
        if abs(value - float(row[total])) > allowed + 1e-12:
            found.append(row["model"])
    return found


@pytest.mark.parametrize(
    ("table", "first", "second", "total"),
    [
        ("table06_prefix_not", "acc_prefix", "acc_not", "delta"),
        ("table11_conjunction", "conj_same", "conj_dual", "conj_delta"),
        ("table11_conjunction", "doc_name1", "doc_name2", "doc_delta"),
    ],
)
def test_differences_are_first_minus_second(printed: Printed, table: str, first: str, second: str, total: str) -> None:
    """Catches a difference with the sides exchanged: contrasts are first level minus second."""
    rows = printed.rows(table)
    assert len(rows) == 29
    assert outside(rows, {first: 1, second: -1}, total) == []
    assert outside(rows, {first: -1, second: 1}, total) != []


@pytest.mark.parametrize("table", ["table11", "table14"])
def test_printed_means_are_means_over_models(printed: Printed, table: str) -> None:
    """Catches medians, or means over pairs, in the place of means over models."""
    names = {"table11": "table11_conjunction", "table14": "table14_weighting"}
    checked = 0
    for row in printed.rows("printed_means"):
        if row["table"] == table:
            cells = [r[row["column"]] for r in printed.rows(names[table])]
            allowed = np.mean([half_unit(c) for c in cells]) + half_unit(row["mean_as_printed"])
            mean = np.mean([float(c) for c in cells])
            assert abs(mean - float(row["mean_as_printed"])) <= allowed + 1e-12, row
            checked += 1
    assert checked == 6


def test_equal_cells_are_the_mean_of_the_four_cells(printed: Printed) -> None:
    """Catches class means weighted by size where cells weigh alike."""
    cells = {row["model"]: row for row in printed.rows("table03_cells")}
    for row in printed.rows("table14_weighting"):
        own = cells[row["model"]]
        allowed = np.mean([half_unit(own[c]) for c in CELLS]) + half_unit(row["cat_avg"])
        assert abs(balanced_accuracy([float(own[c]) for c in CELLS]) - float(row["cat_avg"])) <= allowed + 1e-12


def test_spread_is_the_largest_minus_the_smallest_weighting(printed: Printed) -> None:
    """Catches a spread that leaves a weighting out, by the project's own table."""
    names = ("micro", "prompt_bal", "tmpl_bal", "frame_bal", "cat_avg")
    rows = printed.rows("table14_weighting")
    tables = {
        name: pd.DataFrame(
            {"model": [r["model"] for r in rows], "estimate": [float(r[name]) for r in rows], "measure": "accuracy"}
        ).assign(ci_low=np.nan, ci_high=np.nan, reason="")
        for name in names
    }
    spread = weighting_table(tables, measure="accuracy").set_index("model")["spread"]
    for row in rows:
        assert abs(spread[row["model"]] - float(row["spread"])) <= 3 * 0.0005 + 1e-12, row["model"]


def test_templates_spread_as_the_text_says(printed: Printed) -> None:
    """Catches a standard deviation over models, or of signed bias."""
    rows = pd.DataFrame(printed.rows("table12_templates")).astype({"abs_bias": float, "ps": float})
    found = spread_over_templates(rows.rename(columns={"ps": "polarity"}))
    for name, quantity in (
        ("abs_bias", "standard deviation of absolute bias over templates"),
        ("polarity", "standard deviation of polarity sensitivity over templates"),
    ):
        value = printed.quoted(quantity)
        assert abs(found[name] - float(value)) <= 0.0005 + half_unit(value), quantity


def test_shares_of_agreeing_models_are_whole_models(printed: Printed) -> None:
    """Catches a share of something else than the 29 models, and one below the half that a majority needs."""
    share = printed.column("table12_templates", "agree_percent") / 100
    np.testing.assert_allclose(share * 29, np.round(share * 29), atol=29 * 0.0005)
    assert (share > 0.5).all()


def test_sizes_repeat_the_cells_and_their_rank_correlations(printed: Printed) -> None:
    """Catches |bias| correlated with its sign, and Pearson in the place of Spearman."""
    rows = pd.DataFrame(printed.rows("table13_scaling"))
    sizes = rows["size"].str.removeprefix("E").str.extract(r"([\d.]+)(M|B)")
    rows = rows.assign(
        size=sizes[0].astype(float) / np.where(sizes[1] == "M", 1000, 1), abs_bias=rows["abs_bias"].astype(float)
    )
    found = size_table(rows[["family", "size", "abs_bias"]], rng=RNG(0), permutations=200)
    spearman = found[(found["kind"] == "spearman") & (found["family"] != "")].set_index("family")["estimate"]
    for family, value in spearman.items():
        text = printed.quoted(f"Spearman rho of size and absolute bias, {family}")
        assert abs(value - float(text)) <= half_unit(text) + 1e-12, family
    assert len(spearman) == 4


def cell_estimates(printed: Printed) -> pd.DataFrame:
    rows = printed.rows("table03_cells")
    cells = np.array([[float(r[c]) for c in CELLS] for r in rows])
    measures = {
        "competence_floor": competence_floor(cells),
        "affirmative_floor": affirmative_floor(cells),
        "balanced_accuracy": balanced_accuracy(cells),
        "answer_bias": answer_bias(cells),
        "polarity_sensitivity": polarity_sensitivity(cells),
    }
    models = [r["model"] for r in rows]
    return pd.concat([pd.DataFrame({"model": models, "measure": name, "estimate": v}) for name, v in measures.items()])


def test_correlations_of_the_text_and_the_one_without_a_shared_part(printed: Printed) -> None:
    """Catches signed bias, and a part-whole correlation that is not said to be one."""
    found = association_table(cell_estimates(printed), rng=RNG(0), permutations=200)
    pearson = found[found["kind"] == "pearson"].set_index(["first", "second"])
    own = pearson.loc[("competence_floor", "answer_bias")]
    assert f"{own['estimate']:.2f}" == printed.quoted("Pearson r between absolute bias and floor")
    assert abs(own["r_squared"] - float(printed.quoted("R squared between absolute bias and floor"))) < 0.0075
    assert own["shared"]
    other = pearson.loc[("competence_floor", "affirmative_floor")]
    assert f"{other['estimate']:.2f}" == printed.quoted("Pearson r between affirmative-only floor and floor")
    assert other["shared"]
    apart = pearson.loc[("balanced_accuracy", "answer_bias")]
    assert not apart["shared"]
    assert abs(apart["estimate"]) < 0.35


def test_counts_of_floors(printed: Printed) -> None:
    """Catches floors counted on the wrong side of .5, or the affirmative floor over all cells."""
    wide = cell_estimates(printed).pivot(index="model", columns="measure", values="estimate")
    assert (wide["competence_floor"] > 0.5).sum() == int(printed.quoted("models with floor above 0.5"))
    assert (wide["competence_floor"] < 0.3).sum() == int(printed.quoted("models with floor below 0.30"))
    assert (wide["affirmative_floor"] > 0.5).sum() == int(
        printed.quoted("models with affirmative-only floor above 0.5")
    )


#: Claims of the text -> what its tables give; each pair disagrees by more than rounding allows.
def contradictions(printed: Printed) -> dict[str, tuple[float, float, float]]:
    """Claim -> (as printed in the text, as its tables have it, what rounding allows)."""
    opus = next(row for row in printed.rows("table06_prefix_not") if row["model"] == "Opus 4.7")
    gender = {r["model"]: r for r in printed.rows("table16_gender")}
    mini = float(gender["gpt-5.4-mini"]["male"]) - float(gender["gpt-5.4-mini"]["female"])
    weights = printed.rows("table14_weighting")
    moved = max(abs(float(r["prompt_bal"]) - float(r["micro"])) for r in weights)
    away = sum(abs(float(r["cat_avg"]) - 0.5) > abs(float(r["micro"]) - 0.5) + 0.001 for r in weights)
    beyond = sum(max(abs(float(r["male"])), abs(float(r["female"]))) > 3.05 for r in gender.values())
    quoted = float(printed.quoted("prefix minus not accuracy, Opus"))
    return {
        "prefix minus not, Opus (points)": (quoted, 100 * float(opus["delta"]), 0.1),
        "gender gap of gpt-5.4-mini (points)": (
            abs(float(printed.quoted("male minus female, GPT-5.4-mini"))),
            max(abs(mini), float(gender["gpt-5.4-mini"]["max_abs"])),
            0.15,
        ),
        "prompt-balancing moves accuracy by a fraction of a point (points)": (1.0, 100 * moved, 0.1),
        "equal cells always move towards .5 (models moving away)": (0.0, float(away), 0.0),
        "gender gaps within about 3 points but for one model (models beyond)": (1.0, float(beyond), 0.0),
    }


def test_contradictions_between_text_and_tables_are_reported(printed: Printed) -> None:
    """Catches a claim that turns out to agree after all: it would have to be reproduced instead."""
    for claim, (text, table, allowed) in contradictions(printed).items():
        assert abs(text - table) > allowed, f"{claim}: text {text:g}, tables {table:g}"
