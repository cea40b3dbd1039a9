"""The counts of ``fit_stages.py`` through bambi: run by an interpreter that has it, never by the project's own."""

import json
import sys
import time
from importlib.metadata import version

import arviz as az
import bambi as bmb
import pandas as pd

TERMS = "1 + gold + polarity + validity"
FORMULA = (
    f"p(yes, n) ~ {TERMS} + ({TERMS} | model) + (1 + polarity | template) + ({TERMS} | form)"
    " + (1 + polarity | model:template) + (1 | model:form)"
)
SIGNS = {"VA": (1, 1, 1), "VN": (-1, -1, 1), "IA": (-1, 1, -1), "IN": (1, -1, -1)}


def main() -> None:
    """Fit, and print one line of JSON."""
    table = pd.read_csv(sys.argv[1])
    table[["gold", "polarity", "validity"]] = [SIGNS[cell] for cell in table["cell"]]
    wrong = table["n_answered"] - table["n_correct"]
    table["yes"] = table["n_correct"].where(table["gold"] > 0, wrong)
    table["n"] = table["n_answered"]
    table = table[table["n"] > 0]
    wall, cpu = time.perf_counter(), time.process_time()
    model = bmb.Model(FORMULA, table, family="beta_binomial")
    fit = model.fit(draws=1000, tune=1000, chains=4, cores=int(sys.argv[2]), random_seed=1, inference_method="nutpie")
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    found = az.summary(fit, kind="diagnostics", round_to=4)
    print(
        json.dumps(
            {
                "status": "ok",
                "wall_s": round(seconds[0], 1),
                "cpu_s": round(seconds[1], 1),
                "max_r_hat": float(found["r_hat"].max()),
                "min_ess_bulk": float(found["ess_bulk"].min()),
                "divergences": int(fit.sample_stats["diverging"].sum()),
                "formula": FORMULA,
                "versions": {name: version(name) for name in ("bambi", "pymc", "nutpie", "arviz")},
            }
        )
    )


if __name__ == "__main__":
    main()
