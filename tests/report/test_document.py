"""The document, the macros and the references: what a paper takes from a report."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from example_reports import HOSTILE, SCRIPTED, example_report, tidy_estimates
from example_tables import skip_or_fail
from test_latex import overfull

from analysis.errors import AnalysisError
from analysis.report.content import printed_sentences
from analysis.report.document import render_document
from analysis.report.manifest import document_problem
from analysis.report.number_macros import number_macros
from analysis.report.references import REFERENCES, bibtex, cited_keys, split_citations, with_short_citations
from analysis.report.typeset import typeset
from analysis.report.write import write_report

METHODS = ("Intervals are Wilson limits [@wilson1927].", "Floors were adjusted [@holm1979; @berger1982] over models.")


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_document_compiles_with_hostile_names(engine: str, tmp_path: Path) -> None:
    """Catches a name that reaches LaTeX as a command, a box wider than the page, an unresolved reference."""
    if shutil.which(engine) is None or shutil.which("pdftotext") is None:
        skip_or_fail(f"no {engine} or no pdftotext")
    content = replace(
        example_report(HOSTILE, title=SCRIPTED[0]),
        methods=METHODS,
        limits=tuple(f"Nothing is known of {name}." for name in HOSTILE),
        attention=(r"\input{/etc/passwd} \write18{touch owned}",),
    )
    out = write_report(content, tmp_path / "report")
    for _ in range(2):
        done = subprocess.run(
            [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"],
            cwd=out,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    log = (out / "report.log").read_text(encoding="utf-8", errors="replace")
    assert all(points <= 2 for points in overfull(log))
    assert "undefined" not in log
    assert not (out / "owned").exists()
    text = subprocess.run(["pdftotext", "-layout", out / "report.pdf", "-"], capture_output=True, check=True).stdout
    assert b"root:x" not in text
    assert b"SIMULATED" in text


def test_pdf_is_made_twice_the_same(tmp_path: Path) -> None:
    """Catches a date, a path or a random identifier in the document."""
    if shutil.which("pdflatex") is None:
        skip_or_fail("no pdflatex")
    content = replace(example_report(("a", "b")), methods=METHODS)
    one, two = (write_report(content, tmp_path / name, pdf=True) / "report.pdf" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert document_problem(one.parent) == ""


def test_pdf_shows_the_figures_and_is_that_of_passes_that_all_had_them(tmp_path: Path) -> None:
    """Catches a blank page printed for a figure, and another layout because of the blank pages of the first pass."""
    if shutil.which("pdflatex") is None:
        skip_or_fail("no pdflatex")
    out = write_report(example_report(("a", "b")), tmp_path / "report", pdf=True)
    printed = (out / "report.pdf").read_bytes()
    drawn = [path.read_bytes() for path in sorted((out / "figures").glob("*.pdf"))]
    assert len(drawn) == 2
    assert all(len(figure) > 5_000 for figure in drawn)
    (out / "report.pdf").unlink()
    assert typeset(out).problem == ""
    assert (out / "report.pdf").read_bytes() == printed


def test_no_engine_is_a_sentence_and_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a report that is lost for want of LaTeX."""
    monkeypatch.setenv("PATH", str(tmp_path))
    out = write_report(example_report(("a",)), tmp_path / "report", pdf=True)
    assert "no LaTeX engine" in document_problem(out)
    assert (out / "report.tex").is_file()
    assert not (out / "report.pdf").exists()


def test_a_broken_document_says_why(tmp_path: Path) -> None:
    """Catches an engine's failure taken for success, or half a PDF left behind."""
    if shutil.which("pdflatex") is None:
        skip_or_fail("no pdflatex")
    (tmp_path / "report.tex").write_text(r"\documentclass{article}\begin{document}\nonsense\end{document}", "ascii")
    made = typeset(tmp_path)
    assert "Undefined control sequence" in made.problem
    assert not (tmp_path / "report.pdf").exists()


def test_sources_cited_are_listed_and_no_others() -> None:
    """Catches a citation without an entry, and an entry that nothing cites."""
    source = render_document(replace(example_report(("a",)), methods=METHODS))
    assert set(re.findall(r"\\bibitem\{(\w+)\}", source)) == {"wilson1927", "holm1979", "berger1982"}
    assert r"~\cite{holm1979,berger1982} over models." in source
    with pytest.raises(AnalysisError, match="nobody2020"):
        cited_keys(["As said [@nobody2020]."])


def test_citations_in_prose() -> None:
    """Catches keys left in text that a reader sees."""
    assert with_short_citations(METHODS[1]) == "Floors were adjusted (Holm 1979; Berger 1982) over models."
    assert split_citations("Plain.") == [("Plain.", ())]
    assert "Simpson" not in REFERENCES["vehtari2021"].short


def test_bibtex_is_ascii_and_complete() -> None:
    """Catches an entry without a title or a key that BibTeX cannot hold."""
    text = bibtex(REFERENCES)
    assert text.isascii()
    assert text.count("@") == len(REFERENCES)
    assert text.count("title = {{") == len(REFERENCES)


def macros(frame: pd.DataFrame, **more: pd.DataFrame) -> str:
    return number_macros({"estimates": frame, **more})


def test_every_estimate_has_a_name_of_its_own() -> None:
    """Catches two models of one stem behind one macro, and a task that changes names when another is added."""
    frame = tidy_estimates(("org/m-1", "org/m_1"), ((0.8, 0.6), (0.7, 0.7)))
    text = macros(frame)
    names = re.findall(r"\\evenhanddefine\{value\}\{([^}]*)\}", text)
    assert len(names) == len(set(names)) == 8
    assert "org-m-1:competence-floor" in names
    assert "org-m-1-2:competence-floor" in names


def test_values_are_those_of_the_table() -> None:
    """Catches a macro that rounds, signs or pairs differently from the tables."""
    frame = tidy_estimates(("a",), ((0.8, 0.6),)).assign(scale="probability")
    frame.loc[frame["measure"] == "answer_bias", "scale"] = "probability difference"
    tests = pd.DataFrame({"task": ["demo"], "model": ["a"], "alternative": ["greater"], "p_adjusted": [0.0001]})
    text = macros(frame, floor_tests=tests)
    assert r"\evenhanddefine{both}{a:answer-bias}{+0.200 {[}+0.160, +0.240{]}}" in text
    assert r"\evenhanddefine{value}{a:competence-floor}{0.600}" in text
    assert r"\evenhanddefine{p}{a:competence-floor}{\textless{} 0.001}" in text
    assert "{p}{a:answer-bias}" not in text


def test_macros_work_in_a_document_and_unknown_names_stop_it(tmp_path: Path) -> None:
    """Catches a file that defines nothing, or a misspelt name that prints nothing."""
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        skip_or_fail("no pdflatex or no pdftotext")
    (tmp_path / "numbers.tex").write_text(macros(tidy_estimates(("a",), ((0.8, 0.6),))), "ascii")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\input{numbers.tex}\begin{document}"
    codes = []
    for name, body in (("good", r"\evenhand[value]{a:acc-yes}"), ("bad", r"\evenhand{a:acc-yse}")):
        (tmp_path / f"{name}.tex").write_text(head + body + r"\end{document}", "ascii")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        codes.append(subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode)
    assert codes[0] == 0
    assert codes[1] != 0
    text = subprocess.run(["pdftotext", tmp_path / "good.pdf", "-"], capture_output=True, check=True).stdout
    assert b"0.800" in text


def test_sentences_begin_with_a_capital_but_names_do_not_change() -> None:
    """Catches sentences in small letters on the page, and a model whose name is written otherwise than in its log."""
    statuses = pd.DataFrame({"model": ["gpt", "Ada"], "task": ["apart", "apart"]})
    content = replace(example_report(["a", "b"]), data={"statuses": statuses})
    said = (
        "a mean is not shown.",
        "gpt answers Yes.",
        "apart: nothing is known.",
        "temperature: no difference.",
        "3 do.",
    )
    assert printed_sentences(content, said) == (
        "A mean is not shown.", "gpt answers Yes.", "apart: nothing is known.", "Temperature: no difference.", "3 do.",
    )  # fmt: skip
    assert r"\item A mean is not shown." in render_document(replace(content, limits=said))
