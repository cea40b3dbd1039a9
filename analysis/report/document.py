"""``report.tex``: the whole report as one document, its tables and figures included from their own files."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from analysis.report.content import Figure, ReportContent, Section, printed_sentences
from analysis.report.latex_text import escape_latex
from analysis.report.notes import SIMULATED_NOTE
from analysis.report.numbers import count
from analysis.report.references import REFERENCES, Reference, cited_keys, split_citations

DOCUMENT: Final = "report.tex"
_PREAMBLE: Final = r"""\documentclass[10pt]{article}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}\fi
\usepackage[a4paper,margin=25mm]{geometry}
\usepackage{booktabs,longtable,graphicx}
\IfFileExists{pdflscape.sty}{\usepackage{pdflscape}}{}
\IfFileExists{microtype.sty}{\usepackage{microtype}}{}
\IfFileExists{hyperref.sty}{\usepackage[hidelinks]{hyperref}}{}
\IfFileExists{placeins.sty}{\usepackage[section]{placeins}}{}
\ifdefined\extrafloats\extrafloats{500}\fi
% The same bytes for the same report.
\ifPDFTeX\pdftrailerid{}\pdfinfoomitdate=1 \pdfsuppressptexinfo=-1 \fi
\setcounter{topnumber}{4}\setcounter{totalnumber}{8}
\renewcommand{\topfraction}{.95}\renewcommand{\textfraction}{.02}\renewcommand{\floatpagefraction}{.6}
\emergencystretch=6em
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt plus 2pt}
% A figure in its own size, shrunk where the page is smaller.
\newcommand{\evenhandfigure}[1]{\sbox0{\includegraphics{#1}}%
  \ifdim\wd0>\linewidth \sbox0{\includegraphics[width=\linewidth]{#1}}\fi
  \ifdim\dimexpr\ht0+\dp0\relax>.84\textheight
    \includegraphics[width=\linewidth,height=.84\textheight,keepaspectratio]{#1}\else\usebox0\fi}
\begin{document}
"""


def render_document(content: ReportContent) -> str:
    """LaTeX source of the report in ASCII, to be compiled in the report's folder.

    Parameters
    ----------
    content : ReportContent

    Returns
    -------
    str
        Includes ``tables/*.tex`` and ``figures/*.pdf``; cites its sources in a list of its own, so that no
        further program is needed.
    """
    simulated = [r"\textbf{" + _text(SIMULATED_NOTE) + r"}\par"] if _simulated(content) else []
    return "\n".join(
        [
            _PREAMBLE + rf"\title{{{_text(content.title)}}}\author{{}}\date{{}}\maketitle",
            *simulated,
            *_listed("What can be claimed", printed_sentences(content, content.summary)),
            *_listed("Limitations: what cannot be claimed", printed_sentences(content, content.limits)),
            *_listed("What needs attention", printed_sentences(content, content.attention)),
            *_methods(content),
            *(line for section in content.sections for line in _section(section)),
            *_bibliography(cited_keys(content.methods)),
            r"\end{document}",
            "",
        ]
    )


def _simulated(content: ReportContent) -> bool:
    return content.simulated or any(table.is_simulated for table in content.tables)


def _text(text: str) -> str:
    return escape_latex(text, breakable=True)


def _listed(title: str, sentences: Iterable[str]) -> Iterable[str]:
    items = [rf"\item {_text(said)}" for said in sentences]
    if items:
        yield from (rf"\section*{{{title}}}", r"\begin{itemize}\setlength{\itemsep}{1pt}", *items, r"\end{itemize}")


def _methods(content: ReportContent) -> Iterable[str]:
    """How the numbers were made, from the settings actually used."""
    yield r"\section{Methods}"
    if content.methods:
        yield " ".join(_cited(said) for said in content.methods)
    rows = content.manifest.get("rows", {})
    if "responses" in rows:
        yield r"\par " + _text(
            f"{count(rows['responses'])} responses were read and all of them used."
            if rows["responses"] == rows.get("used", 0)
            else f"{count(rows['responses'])} responses were read and {count(rows.get('used', 0))} used; the others "
            "are listed with the reason for which they were set aside."
        )
    versions = ", ".join(f"{name} {version}" for name, version in _versions(content.manifest))
    if versions:
        yield r"\par " + _text(f"Software: {versions}.")


def _versions(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = {**manifest.get("versions", {}), "Python": manifest.get("python", "")}
    return [(str(name), str(version)) for name, version in found.items() if version]


def _cited(sentence: str) -> str:
    return "".join(
        " " * text.startswith(" ") + _text(text.strip()) + (rf"~\cite{{{','.join(keys)}}}" if keys else "")
        for text, keys in split_citations(sentence)
    )


def _section(section: Section) -> Iterable[str]:
    yield r"\ifdefined\FloatBarrier\FloatBarrier\else\clearpage\fi"
    yield rf"\section{{{_text(section.title)}}}"
    yield from (_text(said) + r"\par" for said in section.lead)
    shown = [
        _referred("Table", [table.spec.reference for table in section.tables]),
        _referred("Figure", [f"fig:{figure.name}" for figure in section.figures]),
    ]
    if any(shown):
        yield "See " + " and ".join(filter(None, shown)) + r".\par"
    yield from (rf"\input{{tables/{table.spec.name}.tex}}" for table in section.tables)
    yield from (line for figure in section.figures for line in _figure(figure))
    if section.notes:
        notes = [rf"\item {_text(said)}" for said in section.notes]
        yield from (r"{\footnotesize\begin{itemize}", *notes, r"\end{itemize}}")


def _referred(kind: str, labels: list[str]) -> str:
    """``Table 3``, or ``Tables 3--5``: those of a section are numbered in a row."""
    if len(labels) < 2:
        return "".join(rf"{kind}~\ref{{{label}}}" for label in labels)
    return rf"{kind}s~\ref{{{labels[0]}}}--\ref{{{labels[-1]}}}"


def _figure(figure: Figure) -> Iterable[str]:
    return (
        r"\begin{figure}[htbp]",
        r"\centering",
        rf"\evenhandfigure{{figures/{figure.name}.pdf}}",
        rf"\caption{{{_text(figure.title)}. {_text(figure.caption)}}}",
        rf"\label{{fig:{figure.name}}}",
        r"\end{figure}",
    )


def _bibliography(keys: tuple[str, ...]) -> Iterable[str]:
    if not keys:
        return
    yield r"\begin{thebibliography}{99}\setlength{\itemsep}{1pt}"
    yield from (rf"\bibitem{{{key}}} {_entry(REFERENCES[key])}" for key in keys)
    yield r"\end{thebibliography}"


def _entry(reference: Reference) -> str:
    names = [" ".join(reversed(name.split(", "))) for name in reference.authors.split(" and ")]
    place = rf"\emph{{{_text(reference.journal)}}}"
    numbered = f" {reference.volume}" + (f":{reference.pages}" if reference.pages else "") if reference.volume else ""
    doi = ", " + _text(f"doi:{reference.doi}") if reference.doi else ""
    return f"{_text(', '.join(names))} ({reference.year}). {_text(reference.title)}. {place}{numbered}{doi}."
