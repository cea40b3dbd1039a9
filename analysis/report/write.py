"""A report as a folder: written aside, moved into place when it is complete."""

import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from analysis.new_folder import check_parent
from analysis.provenance import file_digest
from analysis.report.content import RenderedFigure, ReportContent, check_names
from analysis.report.document import DOCUMENT, render_document
from analysis.report.escape import escape_csv
from analysis.report.figures.render import blank_pdf, rendered_figure
from analysis.report.manifest import MANIFEST_NAME, holds_our_manifest, manifest_json, written_files
from analysis.report.number_macros import number_macros
from analysis.report.page import is_simulated, render_page
from analysis.report.references import bibtex, cited_keys
from analysis.report.table_files import table_texts
from analysis.report.typeset import typeset

FOLDERS: Final = ("tables", "figures", "data")


def write_report(content: ReportContent, out: Path, *, pdf: bool = False) -> Path:
    """Write a report and return its folder.

    Everything is first written into a hidden folder beside ``out``, which takes its place by renaming,
    so that neither an error nor an interruption leaves half a report.

    Parameters
    ----------
    content : ReportContent
    out : Path
        Folder of the report. One that exists is replaced if it is empty or holds a manifest of ours.
    pdf : bool
        Compile the document too, where a LaTeX engine is installed.

    Raises
    ------
    AnalysisError
        ``out`` is a file, a folder of something else, or cannot be written; a name in the content is unsafe.
    """
    check_names(content)
    check_target(out)
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as aside:
            fresh = Path(aside) / "report"
            _write(content, fresh, pdf=pdf)
            _exchange(fresh, target, Path(aside) / "replaced")
    except OSError as error:
        raise AnalysisError(f"{out}: the report cannot be written ({error.strerror or error})") from error
    return out


def check_target(out: Path) -> None:
    """Refuse a place that holds something else or cannot be written; worth asking before any work is done."""
    check_parent(out, instead="another folder for the report")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not out.is_dir():
        raise AnalysisError(f"{out}: is a file; name a folder for the report")
    if holds_our_manifest(out):
        _refuse_foreign(out)
        return
    raise AnalysisError(
        f"{out}: holds files and no {MANIFEST_NAME} of a report, so it is not replaced; name another folder or empty it"
    )


def _refuse_foreign(out: Path) -> None:
    """Refuse a report folder into which somebody put files of their own: they would be lost."""
    ours = {MANIFEST_NAME, *written_files(out)}
    foreign = sorted(
        path.relative_to(out).as_posix()
        for path in out.rglob("*")
        if (path.is_symlink() or not path.is_dir()) and path.relative_to(out).as_posix() not in ours
    )
    if foreign:
        raise AnalysisError(
            f"{out}: holds {len(foreign)} files that the report did not write ({', '.join(foreign[:3])}"
            f"{', …' if len(foreign) > 3 else ''}), so it is not replaced; move them away or name another folder",
            offenders=foreign,
        )


def _write(content: ReportContent, folder: Path, *, pdf: bool) -> None:
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    texts = {table.spec.name: table_texts(table) for table in content.tables}
    for path, data in _document_files(content, texts):
        (folder / path).write_bytes(data)
    # The engine is another process: it works while figures are drawn, and while what the document does not need is
    # rendered.
    with ThreadPoolExecutor(1) as beside:
        ready = Event()
        compiled = beside.submit(typeset, folder, figures=ready) if pdf else None
        try:
            drawn = _drawn_figures(content, folder)
        finally:
            ready.set()
        for path, data in _other_files(content, drawn, texts):
            (folder / path).write_bytes(data)
        for name, table in content.data.items():
            write_parquet(table, folder / "data" / f"{name}.parquet")
        for name, data in content.files.items():
            place = folder / "data" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        document = asdict(compiled.result()) if compiled is not None else {}
    outputs = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = {**content.manifest, "simulated": is_simulated(content), "document": document, "outputs": outputs}
    (folder / MANIFEST_NAME).write_text(manifest_json(manifest), encoding="utf-8")


def _drawn_figures(content: ReportContent, folder: Path) -> dict[str, RenderedFigure]:
    """Figures by name, with the PDF of each in its place; whoever reads one meanwhile finds all of it or a blank."""
    drawn = {}
    for figure in content.figures:
        drawn[figure.name] = rendered_figure(figure, simulated=is_simulated(content))
        place = folder / "figures" / f"{figure.name}.pdf"
        whole = place.with_suffix(".whole")
        whole.write_bytes(drawn[figure.name].pdf)
        whole.replace(place)
    return drawn


def _document_files(content: ReportContent, texts: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Path within the report and bytes of everything that the document includes, and of itself; figures blank."""
    for name, formats in texts.items():
        yield f"tables/{name}.tex", formats["tex"].encode("utf-8")
    for figure in content.figures:
        yield f"figures/{figure.name}.pdf", blank_pdf(figure)
    yield DOCUMENT, render_document(content).encode("ascii")
    yield "numbers.tex", number_macros(content.data, simulated=is_simulated(content)).encode("ascii")
    yield "references.bib", bibtex(cited_keys(content.methods)).encode("ascii")


def _other_files(
    content: ReportContent, drawn: dict[str, RenderedFigure], texts: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """Path within the report and bytes of tables in other formats, of figures with their data, and of the page."""
    for name, formats in texts.items():
        yield from (
            (f"tables/{name}.{ending}", text.encode("utf-8")) for ending, text in formats.items() if ending != "tex"
        )
    fragments = {name: formats["html"] for name, formats in texts.items()}
    simulated = is_simulated(content)
    for figure in content.figures:
        data = figure.data.assign(simulated=True) if simulated else figure.data
        yield f"figures/{figure.name}.svg", drawn[figure.name].svg
        yield f"figures/{figure.name}.png", drawn[figure.name].png
        yield f"figures/{figure.name}.csv", frame_csv(data).encode("utf-8")
    yield "index.html", render_page(content, drawn, fragments).encode("utf-8")


def frame_csv(frame: pd.DataFrame) -> str:
    """A table of plain values as CSV: numbers in full, text that no spreadsheet takes for a formula."""
    safe = frame.copy()
    for column in safe.columns[[not pd.api.types.is_numeric_dtype(dtype) for dtype in safe.dtypes]]:
        safe[column] = [escape_csv(value) if isinstance(value, str) else value for value in safe[column]]
    return safe.to_csv(index=False, lineterminator="\r\n")


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """The table without pandas' own metadata: the same bytes for the same values."""
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, path, compression="zstd")


def _exchange(fresh: Path, target: Path, replaced: Path) -> None:
    """Move ``fresh`` to ``target`` and what was there to ``replaced``; if that fails, put it back."""
    done = False
    try:
        if target.exists():
            target.rename(replaced)
        fresh.rename(target)
        done = True
    finally:
        if not done and replaced.exists() and not target.exists():
            replaced.rename(target)
