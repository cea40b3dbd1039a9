"""The Python interface: its examples run, its numbers are those of the report, importing it costs nothing."""

import doctest
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import analysis as eh
from analysis import api
from analysis.api import fits
from analysis.cli.main import main
from analysis.studies import coherence_bayes

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "logs" / "example"
MODELS = ["simulated/even-hand", "simulated/no-leaning"]


@pytest.fixture(scope="module")
def logs():
    with eh.read_logs(EXAMPLE, models=MODELS) as logs:
        yield logs


@pytest.mark.parametrize("name", sorted(eh.__all__))
def test_every_public_name_has_an_example_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an example that was never run, or that a change made wrong."""
    monkeypatch.chdir(ROOT)
    assert "Examples\n" in (getattr(eh, name).__doc__ or "")
    found = getattr(eh, name)
    tests = [t for t in doctest.DocTestFinder().find(found, name, globs={}) if t.examples]
    assert tests, f"{name} has no example"
    for test in tests:
        runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS)
        said: list[str] = []
        runner.run(test, out=said.append)
        assert not runner.failures, "".join(said)


def test_numbers_are_those_of_the_report(logs: eh.Logs, tmp_path: Path) -> None:
    """Catches a second path to an estimate that counts, weighs or draws differently."""
    out = eh.report(EXAMPLE, out=tmp_path / "report", models=MODELS, fast=True)
    compared = eh.compare_models(logs)
    for name, table in {
        "estimates": eh.measures(logs),
        "floor_tests": eh.floor_tests(logs),
        "model_pairs": compared.pairs,
        "model_ranks": compared.models,
        "schools": eh.compare(logs, fast=True),
        "bayesian_estimates": eh.fit_answer_bias(logs, fast=True).table,
    }.items():
        kept = pd.read_parquet(out / "data" / f"{name}.parquet")
        assert list(kept.columns) == list(table.columns), name
        for column in kept.columns:
            if pd.api.types.is_numeric_dtype(kept[column]):
                assert kept[column].to_numpy(float) == pytest.approx(table[column].to_numpy(float), nan_ok=True), name
            else:
                assert kept[column].astype("str").tolist() == table[column].astype("str").tolist(), (name, column)


def test_importing_the_package_loads_nothing_else() -> None:
    """Catches an import at the top that makes `evenhand schema` wait for PyMC."""
    code = "import sys, analysis; print([m for m in ('pandas', 'numpy', 'pymc', 'duckdb') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.strip() == "[]"


def test_folders_do_not_take_the_place_of_functions() -> None:
    """Catches `eh.report` and `eh.measures` being the folders of these names once something was imported from them."""
    code = (
        "import analysis as eh\nfrom analysis.measures.rates import share\nfrom analysis.report.numbers import fixed\n"
        "print(callable(eh.report), callable(eh.measures), share(1, 2), fixed(0.5, 1))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.split() == ["True", "True", "0.5", "0.5"]


def test_stubs_for_type_checkers_name_what_is_there() -> None:
    """Catches a public name that only one of the two lists has."""
    assert eh.__all__ == api.__all__
    assert set(eh.__all__) <= set(dir(eh))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        eh.nothing  # noqa: B018


def test_text_from_logs_cannot_act_in_a_notebook(tmp_path: Path) -> None:
    """Catches a task's name that becomes markup, or steers a terminal."""
    log = tmp_path / "log.csv"
    rows = [f"m,<script>x</script>\x1b[31m,i{i},yes,{'yes' if i % 2 else 'no'}" for i in range(6)]
    log.write_text("model,task,item,answer,gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with eh.read_logs(log) as logs:
        assert "<script>" not in logs._repr_html_()
        assert "\x1b" not in repr(logs) + logs._repr_html_()


def test_results_show_themselves_in_a_notebook(logs: eh.Logs) -> None:
    """Catches a result that prints pages of nested tables, and text from logs that becomes markup."""
    found = eh.compare_models(logs)
    assert repr(found).splitlines()[0] == "Comparison of models"
    assert len(repr(found)) < 300
    shown = found._repr_html_()
    assert "<td>simulated/even-hand</td>" in shown
    empty = pd.DataFrame()
    hostile = pd.DataFrame({"model": ["<script>x</script>\x1b[31m"], "estimate": [0.5], "nothing": [np.nan]})
    fits = (
        eh.AnswerBiasFit("<t>", "failed", "<b>why\x1b", hostile, empty, {}, *[empty] * 4, (), {}),
        eh.IncoherenceFit("<t>", "failed", "<b>why\x1b", hostile, *[empty] * 7, (), {}),
        eh.ModelComparison(hostile, hostile),
    )
    for fit in fits:
        assert "<script>" not in fit._repr_html_()
        assert "<b>why" not in fit._repr_html_()
        assert "\x1b" not in fit._repr_html_() + repr(fit)
        assert "nothing" not in fit._repr_html_()
        assert "&lt;script&gt;" in fit._repr_html_()
    assert repr(fits[0]).startswith("Hierarchical fit of answer bias (<t>): failed\n  <b>why")


def test_requests_that_cannot_be_met_say_why(logs: eh.Logs, tmp_path: Path) -> None:
    """Catches an empty answer, or a traceback from deep inside, in place of one message."""
    for call, said in (
        (lambda: eh.read_logs(), "name a log file or directory"),
        (lambda: eh.read_logs(EXAMPLE, models="simulated/even-hand"), "models is a list of texts"),
        (lambda: eh.fit_answer_bias(logs, task="other"), 'no task "other"; there are "probability-operators"'),
        (lambda: eh.fit_incoherence(logs), "no task of stated probabilities"),
        (lambda: eh.fit_accuracy(logs), "no task of right and wrong answers beside yes/no tasks"),
        (lambda: eh.measures("logs/example"), "what eh.read_logs(...) returns, not str"),
        (lambda: eh.fit_accuracy(pd.DataFrame()), "what eh.read_logs(...) returns, not DataFrame"),
        (lambda: eh.draws(3), "a fit is what eh.fit_answer_bias and the like return, not int"),
        (lambda: eh.fit_answer_bias(logs, task=3), "task is the name of a task, a text, not 3"),
        (lambda: eh.fit_answer_bias(logs, seed=-1), "seed is a whole number from 0 to 4294967295, not -1"),
        (lambda: eh.read_logs(EXAMPLE, seed=1.5), "seed is a whole number from 0 to 4294967295, not 1.5"),
        (lambda: eh.read_logs(EXAMPLE, models=None), "models is a list of texts, not None"),
        (lambda: eh.read_logs(EXAMPLE, models=[3]), "models is a list of texts, not [3]"),
        (lambda: eh.read_logs(EXAMPLE, where={"a": "b"}), "where is a list of texts, not {'a': 'b'}"),
        (lambda: eh.read_logs(EXAMPLE, uncertain="x"), "uncertain is one of incorrect, excluded, half, not 'x'"),
        (lambda: eh.read_logs(EXAMPLE, ci_level="a"), "ci_level is a number, not 'a'"),
        (lambda: eh.read_logs(EXAMPLE, ci_level=True), "ci_level is a number, not True"),
        (lambda: eh.read_logs(EXAMPLE, ci_level=10**400), "ci_level is a finite number, not inf"),
        (lambda: eh.read_logs(EXAMPLE, study={"study": {}}), "study is a path, not dict"),
        (lambda: eh.read_logs(EXAMPLE, filter=3), "filter is a text, not 3"),
        (lambda: eh.read_logs(EXAMPLE, progress=3), "progress is a function of a text, not 3"),
        (lambda: eh.read_logs([EXAMPLE]), "a log is a path, not list"),
        (lambda: eh.read_logs(""), "a log is a path, not an empty text"),
        (lambda: eh.report(EXAMPLE, out=3), "out is a path, not int"),
    ):
        with pytest.raises(eh.AnalysisError) as raised:
            call()
        assert said in str(raised.value)
    with (
        eh.read_logs(EXAMPLE, models=MODELS[:1]) as one,
        pytest.raises(eh.AnalysisError, match="models cannot be compared"),
    ):
        eh.compare_models(one)


def test_closing_deletes_the_store_and_keeps_the_counts() -> None:
    """Catches a store that outlives its logs, and counts that need it."""
    logs = eh.read_logs(EXAMPLE, models=MODELS[:1])
    store = logs.contexts()[0].bayes.kept.parent
    assert store.is_dir()
    logs.close()
    assert not store.exists()
    assert len(eh.measures(logs))
    assert eh.fit_answer_bias(logs, fast=True).status in ("ok", "failed")
    assert not store.exists(), "a fit of closed logs is kept nowhere"


def test_draws_of_incoherence_are_a_tree_by_length() -> None:
    """Catches draws of another length that overwrite, or fit into no common data set."""
    empty = pd.DataFrame()
    arrays = {"SSL: a": np.zeros((4, 10)), "SSL: b": np.ones((4, 20)), "N: a": np.full((4, 10), 2.0)}
    fit = eh.IncoherenceFit("t", "ok", "", *[empty] * 8, (), arrays)
    tree = eh.draws(fit)
    found = {v.attrs["name"]: v.to_numpy() for group in tree.children.values() for v in group.dataset.values()}
    assert {name: array.shape for name, array in found.items()} == {k: v.shape for k, v in arrays.items()}
    assert all((found[name] == arrays[name]).all() for name in arrays)
    assert sorted(tree.children) == ["posterior", "posterior_2"]


def test_incoherence_of_many_instances_is_fitted_to_the_sample_of_a_report(tmp_path, monkeypatch):
    """Catches a fit of everything that runs for hours, a sample that cuts units, and one that nobody is told of."""
    size = ["--units", "12", "--causal", "0", "--reworded", "12", "--responders", "steady"]
    assert main(["simulate", str(tmp_path / "logs"), "--study", "latent-coherence", *size]) == 0
    fitted = []
    empty = pd.DataFrame()

    def kept(instances, **options):
        fitted.append(instances)
        return eh.IncoherenceFit("", "ok", "", *[empty] * 8, ("fitted",), {})

    monkeypatch.setattr(fits.incoherence_model, "fit_incoherence", kept)
    monkeypatch.setattr(coherence_bayes, "MOST_INSTANCES", 10)
    with eh.read_logs(tmp_path / "logs") as logs:
        sampled, whole = eh.fit_incoherence(logs), eh.fit_incoherence(logs, sample=False)
    assert len(fitted[0]) <= 10 < len(fitted[1])
    sizes = fitted[1].groupby("unit").size()
    assert (fitted[0].groupby("unit").size() == sizes[fitted[0]["unit"].unique()]).all()
    assert "random sample of whole units" in sampled.sentences[0]
    assert whole.sentences == ("fitted",)


@pytest.mark.parametrize(
    ("source", "given", "said"),
    [
        ("floor", {"units": "80"}, "units is a number, not '80'"),
        ("floor", {"units": ""}, "units is a number, not ''"),
        ("floor", {"units": 10**400}, "units is a finite number, not inf"),
        ("floor", {"rho": []}, "rho is a number, not list"),
        ("floor", {"rho": True}, "rho is a number, not True"),
        ("floor", {"noise": pd.NA}, "noise is a number, not NAType"),
        ("floor", {"effect": float("nan")}, "effect is a finite number, not nan"),
        ("floor", {"level": "x"}, "level is a number, not 'x'"),
        ("floor", {"power": np.array([0.8, 0.9])}, "power is a number, not ndarray"),
        ("floor", {"split_units": "no"}, "split_units is True or False, not 'no'"),
        (Path("logs"), {}, "source is a question such as 'floor', or what eh.read_logs"),
        (None, {}, "source is a question such as 'floor', or what eh.read_logs"),
    ],
)
def test_a_power_argument_of_the_wrong_kind_is_named(source, given, said):
    """Catches a traceback out of a comparison, and a text such as "no" that counts as yes."""
    with pytest.raises(eh.AnalysisError) as refused:
        eh.power(source, **{"units": 80, "effect": 0.05} | given)
    assert str(refused.value).startswith(said)


def test_numbers_of_numpy_are_numbers_of_power():
    """Catches a check of kinds that refuses what a table of designs holds."""
    rows = eh.power("floor", units=np.int64(80), rho=np.float32(0.5), rows_per_unit=np.float64(2), effect=0.05)
    assert rows["units_needed"].equals(
        eh.power("floor", units=80, rho=0.5, rows_per_unit=2, effect=0.05)["units_needed"]
    )
