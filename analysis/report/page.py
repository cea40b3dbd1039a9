"""``index.html``: one file with its style, script and figures inside, and no request to anywhere."""

import base64
import hashlib
from importlib.resources import files
from typing import Final

from analysis.report.content import Figure, RenderedFigure, ReportContent, Section, printed_sentences
from analysis.report.escape import escape_html
from analysis.report.figures.render import inline_svg, rendered_figure
from analysis.report.html_table import render_html
from analysis.report.provenance_section import provenance_section
from analysis.report.references import with_short_citations
from analysis.vocabulary import MEASURES

_TABLE_FILES: Final = (("csv", "CSV"), ("tex", "LaTeX"), ("typ", "Typst"), ("md", "Markdown"), ("html", "HTML"))
_FIGURE_FILES: Final = (("csv", "data"), ("pdf", "PDF"), ("svg", "SVG"), ("png", "PNG"))
_SIMULATED: Final = "Simulated data: the numbers on this page come from generated logs and say nothing about any model."


def render_page(
    content: ReportContent,
    drawn: dict[str, RenderedFigure] | None = None,
    tables: dict[str, str] | None = None,
) -> str:
    """The report as one self-contained HTML page.

    Everything that comes from logs is escaped; the content-security policy allows the page's own style
    and script by their hashes and nothing else, so that no text from a log can run or load anything.

    Parameters
    ----------
    content : ReportContent
    drawn : dict, optional
        Figures already rendered, by name; default: they are rendered here.
    tables : dict, optional
        Tables already rendered as HTML, by name; default: they are rendered here.
    """
    style, script = _asset("page.css"), _asset("page.js")
    rendered = drawn or {f.name: rendered_figure(f, simulated=is_simulated(content)) for f in content.figures}
    shown = tables or {table.spec.name: render_html(table) for table in content.tables}
    sections = [_section(section, i, rendered, shown) for i, section in enumerate(content.sections, start=1)]
    title = escape_html(content.title)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            '<link rel="icon" href="data:,">',
            f"<title>{title}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#summary">Skip to the summary</a>',
            _banner(content),
            '<div class="page">',
            f'<header>\n<p class="kicker">Evenhand report</p>\n<h1>{title}</h1>\n</header>',
            _contents(content),
            "<main>",
            _summary(content),
            *sections,
            _methods(content),
            _measures(),
            provenance_section(content.manifest),
            "</main>",
            "<footer>Made with Evenhand. This page needs no network; the files that it links lie beside it.</footer>",
            "</div>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def is_simulated(content: ReportContent) -> bool:
    """Whether any number of the report comes from generated logs."""
    return content.simulated or any(table.is_simulated for table in content.tables)


def _asset(name: str) -> str:
    return files("analysis.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _banner(content: ReportContent) -> str:
    return f'<div class="simulated" role="note">{_SIMULATED}</div>' if is_simulated(content) else ""


def _contents(content: ReportContent) -> str:
    entries = [("summary", "Summary")]
    entries += [(f"part-{i}", escape_html(section.title)) for i, section in enumerate(content.sections, start=1)]
    entries += [("methods", "Methods")] if content.methods else []
    entries += [("measures", "Measures"), ("provenance", "Provenance")]
    items = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in entries)
    return f'<nav class="contents" aria-label="Contents"><ol>{items}</ol></nav>'


def _summary(content: ReportContent) -> str:
    blocks = (
        ("claim", "What can be claimed", content.summary),
        ("limit", "What cannot be claimed", content.limits),
        ("attention", "What needs attention", content.attention),
    )
    shown = "\n".join(
        f'<div class="{kind}"><h3>{heading}</h3>{_items(printed_sentences(content, sentences))}</div>'
        for kind, heading, sentences in blocks
        if sentences
    )
    return (
        '<section id="summary" aria-labelledby="summary-heading">\n<h2 id="summary-heading">Summary</h2>\n'
        f'<div class="claims">\n{shown or "<p>Nothing could be estimated.</p>"}\n</div>\n</section>'
    )


def _items(sentences: tuple[str, ...], kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<ul{named}>" + "".join(f"<li>{escape_html(text)}</li>" for text in sentences) + "</ul>"


def _section(section: Section, number: int, drawn: dict[str, RenderedFigure], shown: dict[str, str]) -> str:
    anchor = f"part-{number}"
    parts = [
        f'<section id="{anchor}" aria-labelledby="{anchor}-heading">',
        f'<h2 id="{anchor}-heading">{escape_html(section.title)}</h2>',
        *(f"<p>{escape_html(text)}</p>" for text in section.lead),
        *(_table(table.spec.name, shown[table.spec.name]) for table in section.tables),
        *(_figure(figure, drawn[figure.name]) for figure in section.figures),
    ]
    if section.notes:
        parts.append(_items(section.notes, "notes"))
    return "\n".join([*parts, "</section>"])


def _table(name: str, fragment: str) -> str:
    return f'<div class="exhibit">\n{fragment}{_files("tables", name, _TABLE_FILES)}\n</div>'


def _figure(figure: Figure, rendered: RenderedFigure) -> str:
    name = figure.name
    svg = rendered.svg
    return (
        f'<figure class="exhibit" id="figure-{name}" aria-labelledby="figure-{name}-heading">\n'
        f'<h3 id="figure-{name}-heading">{escape_html(figure.title)}</h3>\n'
        f'<div class="card" role="region" aria-label="Figure: {escape_html(figure.title)}" tabindex="0">'
        f"{inline_svg(svg, prefix=f'figure-{name}', alt=figure.alt)}</div>\n"
        f"<figcaption>{escape_html(figure.caption)}</figcaption>\n{_files('figures', name, _FIGURE_FILES)}\n</figure>"
    )


def _files(folder: str, name: str, kinds: tuple[tuple[str, str], ...]) -> str:
    links = " ".join(f'<a href="{folder}/{name}.{ending}">{text}</a>' for ending, text in kinds)
    return f'<p class="files">Files: {links}</p>'


def _methods(content: ReportContent) -> str:
    """How the numbers were made; the same sentences as in ``report.tex``."""
    if not content.methods:
        return ""
    said = " ".join(escape_html(with_short_citations(sentence)) for sentence in content.methods)
    return (
        '<section id="methods" aria-labelledby="methods-heading">\n<h2 id="methods-heading">Methods</h2>\n'
        f"<p>{said}</p>\n"
        '<p class="files">Files: <a href="report.tex">report.tex</a> <a href="references.bib">references.bib</a> '
        '<a href="numbers.tex">numbers.tex</a></p>\n</section>'
    )


def _measures() -> str:
    terms = "".join(
        f"<dt>{escape_html(name)}</dt><dd>{escape_html(meaning)}</dd>" for name, meaning in MEASURES.items()
    )
    return (
        '<section id="measures" aria-labelledby="measures-heading">\n<h2 id="measures-heading">Measures</h2>\n'
        "<details><summary>What each measure means</summary>\n"
        f"<dl>{terms}</dl>\n</details>\n</section>"
    )
