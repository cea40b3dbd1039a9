"""What stands around a LaTeX table, and how it finds its size where it is put: shrunk, or laid on its side."""

from typing import Final

#: Of a document that holds one table.
PREAMBLE: Final = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}\fi
\usepackage[a4paper,margin=25mm]{geometry}
\usepackage{booktabs,longtable,graphicx}
\IfFileExists{pdflscape.sty}{\usepackage{pdflscape}}{}
\pagestyle{empty}
\begin{document}
"""
COMMENT: Final = r"""% Needs booktabs, longtable and graphicx; pdflscape for wide tables over several pages;
% with pdflatex also \usepackage[T1]{fontenc}.
% Label tab:NAME after the name of the file: rename one of two reports that stand in one document.
% Characters that the font lacks: a label under [models."..."] in study.toml prints a name of your choice.
"""

#: Settings in which a table is tried until it fits the line, whatever that is where it is put.
SIZES: Final = (
    r"\small\setlength{\tabcolsep}{6pt}",
    r"\footnotesize\setlength{\tabcolsep}{5pt}",
    r"\scriptsize\setlength{\tabcolsep}{3pt}",
)

#: Notes as wide as the table, within bounds that keep them readable.
NOTES_WIDTH: Final = (
    r"\dimen0=\wd0 \ifdim\dimen0<.7\linewidth \dimen0=.7\linewidth \fi",
    r"\ifdim\dimen0>\linewidth \dimen0=\linewidth \fi",
    r"\edef\noteswidth{\the\dimen0}%",
)

#: The table in box 0 at the first size that fits, shrunk where none does, with its notes below.
FITTED: Final = (
    r"\def\evenhandfit{%",
    rf"\sbox0{{{SIZES[0]}\evenhandtable}}%",
    *(rf"\ifdim\wd0>\linewidth \sbox0{{{size}\evenhandtable}}\fi" for size in SIZES[1:]),
    r"}%",
    r"\def\evenhandset{%",
    *NOTES_WIDTH,
    r"\ifdim\wd0>\linewidth \resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
    r"\par\smallskip",
    r"\begin{minipage}{\noteswidth}\footnotesize\raggedright\evenhandnotes\end{minipage}}%",
)
#: Where shrinking to the line would leave letters too small to read, the table lies on its side, if it then fits.
TURNED: Final = (
    r"\evenhandfit",
    r"\dimen2=0pt",
    r"\ifdim\wd0>1.1\linewidth",
    r"\sbox2{\begin{minipage}{.97\textheight}\centering\evenhandfit\evenhandset\end{minipage}}%",
    r"\dimen2=\ht2 \advance\dimen2\dp2 \advance\dimen2 4\baselineskip",
    r"\ifdim\dimen2>\linewidth \dimen2=0pt \fi",
    r"\fi",
    r"\ifdim\dimen2>0pt",
    r"\rotatebox{90}{\begin{minipage}{.97\textheight}\centering\evenhandcaption\evenhandfit\evenhandset\end{minipage}}%",
    r"\else\evenhandcaption\evenhandset\fi",
)

#: A table that breaks over pages is set in a size that fits; where none does, on pages that lie on their side.
LONG_FITTED: Final = (
    r"\def\evenhandfit{%",
    rf"\sbox0{{{SIZES[0]}\evenhandtable}}{SIZES[0]}",
    *(rf"\ifdim\wd0>\linewidth \sbox0{{{size}\evenhandtable}}{size}\fi" for size in SIZES[1:]),
    r"}%",
    r"\let\evenhandback\relax",
    rf"\sbox0{{{SIZES[-1]}\evenhandtable}}%",
    r"\ifdim\wd0>\linewidth \ifcsname landscape\endcsname",
    r"\begin{landscape}\def\evenhandback{\end{landscape}}%",
    r"\fi\fi",
    r"\evenhandfit",
    r"\setlength{\LTcapwidth}{\linewidth}",
)
