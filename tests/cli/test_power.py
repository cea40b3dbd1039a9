"""``evenhand power``: questions under assumptions, logs, reports; files; one message for what cannot be."""

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.cli.power import QUESTIONS
from analysis.planning.assumed import KINDS, assumed_question
from analysis.planning.assumptions import Assumptions
from analysis.planning.question import detectable_effect
from analysis.report.write import write_report
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, 30 items; asked twice."""
    folder = tmp_path_factory.mktemp("power")
    rows = [
        f"m{m},i{i},{s},{'yes' if (i * 7 + m * s) % 3 else 'no'},{'yes' if i % 2 else 'no'}"
        for m in (1, 2)
        for i in range(30)
        for s in (1, 2)
    ]
    (folder / "log.csv").write_text("model,item,sample,answer,gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return folder / "log.csv"


@pytest.fixture(scope="module")
def report(logs: Path) -> Path:
    out = logs.parent / "report"
    few = Resampling(flips=99, resamples=99)
    return write_report(run_report([logs], RunSettings(resampling=few)), out)


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["power", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_command_names_the_questions_that_there_are() -> None:
    """Catches a question that the command does not offer, or offers and does not know."""
    assert tuple(KINDS) == QUESTIONS


def test_a_question_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches numbers of another design than the one asked for, and rounded numbers in JSON."""
    asked = ("floor", "--units", 80, "--rows-per-unit", 5, "--rho", 0.1, "--accuracy", 0.6)
    found = json.loads(printed(capsys, *asked, "--json"))
    question = assumed_question("floor", Assumptions(units=80, rows_per_unit=5, rho=0.1))
    assert found["answers"][0]["detectable_effect"] == pytest.approx(detectable_effect(question))
    assert found["answers"][0]["asked_effect"] == pytest.approx(0.1)
    assert [row["n_clusters"] for row in found["by_units"]] == [20, 40, 80, 160, 320, 640]
    text = printed(capsys, *asked)
    assert "design effect 1.4" in text
    assert "this design" in text


def test_persistent_incoherence_says_how_many_wordings(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches the advice on wordings and on few items lost."""
    text = printed(capsys, "persistent", "--units", 40, "--noise", 0.3, "--wordings", 3)
    assert "With 40 instances the effect takes 9 wordings." in " ".join(text.split())
    assert "Fewer than 60 instances" in text


def test_files_have_curves_with_alternative_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a figure without its data or its text, and a folder that is overwritten."""
    out = tmp_path / "plan"
    asked = ("change", "--units", 40, "--rows-per-unit", 3, "--rho", 0.2, "--discordant", 0.3, "--out", out)
    printed(capsys, *asked)
    names = {path.name for path in out.iterdir()}
    stem = "power_paired_change_of_right_and_wrong"
    assert {"answers.csv", "by_units.csv", "README.md"} <= names
    assert {f"{stem}.{ending}" for ending in ("pdf", "svg", "png", "csv")} <= names
    assert "![Power against effect for 4 numbers of units" in (out / "README.md").read_text(encoding="utf-8")
    assert set(pd.read_csv(out / f"{stem}.csv")["panel"]) == {"power", "detectable"}
    assert main(["power", *map(str, asked)]) == 2
    assert "name a new or empty folder" in capsys.readouterr().err


def test_logs_and_their_report_give_the_same_answers(
    logs: Path, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches standard errors that depend on the path, and a predicted error that is not the one of the report."""
    by_logs = json.loads(printed(capsys, logs, "--json", "--effect", 0.1))["answers"]
    by_report = json.loads(printed(capsys, report, "--json", "--effect", 0.1))["answers"]
    assert by_logs == by_report
    estimates = pd.read_parquet(report / "data" / "estimates.parquet")
    for row in by_logs:
        if row["asked"] == "t: answer_bias":
            own = estimates.loc[estimates["measure"] == "answer_bias", "std_error"]
            assert row["std_error"] == pytest.approx(own.median())
            assert row["std_error_low"] == pytest.approx(own.min())
            assert row["n_clusters"] == 30
    only = printed(capsys, report, "--measure", "answer_bias")
    assert "Answer bias" in only
    assert "Competence floor" not in only


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "neither a question (floor,"),
        (["floor"], "floor: needs --units"),
        (["floor", "--units", "0"], "--units must be a whole number"),
        (["floor", "--units", "80", "--rho", "-0.1"], "--rho must lie in [0, 1]"),
        (["floor", "--units", "80", "--power", "80"], "power must lie strictly between 0 and 1"),
        (["floor", "--units", "80", "--level", "0"], "--level must lie strictly between 0 and 1"),
        (["floor", "--units", "80", "--effect", "0"], "effect must lie above 0 and up to 0.495"),
        (["floor", "--units", "80", "--effect", "nan"], "effect must lie above 0"),
        (["floor", "--units", "80", "--accuracy", "0.4"], "--accuracy is the floor to show, above 0.5"),
        (["floor", "--units", "80", "--accuracy", "0.6", "--effect", "0.1"], "give one of them"),
        (["floor", "--units", "80", "--noise", "1"], "--noise says nothing about this question"),
        (["floor", "somewhere", "--units", "80"], "a question stands alone"),
        (["{logs}", "--units", "80"], "--units: of questions; what logs vary by is observed"),
        (["{report}", "--measure", "bias"], "no measure 'bias'; there are competence_floor"),
        (["{logs}", "--level", "2"], "--level must lie strictly"),
        (["{logs}", "--effect", "-1"], "--effect must be a number above 0"),
        (["{report}", "{logs}"], "give one report"),
        (["{report}", "--task", "other"], "no task 'other'"),
    ],
)
def test_what_cannot_be_gets_one_message(
    logs: Path, report: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a traceback, and an answer to another question than the one asked."""
    places = {"{logs}": str(logs), "{report}": str(report)}
    assert main(["power", *(places.get(text, text) for text in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("evenhand:") == 1


def test_options_that_are_no_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches text taken for a number."""
    with pytest.raises(SystemExit) as stopped:
        main(["power", "floor", "--units", "many"])
    assert stopped.value.code == 2
    assert "invalid int value: 'many'" in capsys.readouterr().err
