"""Figures as files: PDF with embedded fonts, SVG, PNG, each the same to the byte for the same data."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from analysis.report.content import Figure, RenderedFigure, Section
from analysis.report.figures.style import LABEL_SIZE, STYLE, VERMILION
from analysis.report.notes import SIMULATED

_NO_DATE: Final[dict[str, dict[str, None]]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}href"
_LOCAL: Final = re.compile(r"url\(#([^)]+)\)")
#: Start of the address of a picture inside the drawing, such as the cells of a heat map.
_PICTURE: Final = "data:image/png;base64,"
#: What a drawing consists of, with pictures of its own; anything else in an SVG is left out of the page.
_DRAWN: Final = {"svg", "g", "defs", "path", "use", "clipPath", "rect", "circle", "line", "polyline", "polygon"}


def rendered_figure(figure: Figure, *, simulated: bool = False) -> RenderedFigure:
    """Draw a figure once and save it as PDF, SVG and PNG, without dates or program names inside.

    ``simulated`` prints that the data are generated along the right edge. What was drawn before is not drawn again.
    """
    if figure.rendered is not None:
        return figure.rendered
    with mpl.rc_context(STYLE):
        canvas = drawn_canvas(figure)
        if simulated:
            canvas.text(0.995, 0.5, SIMULATED, rotation=90, ha="right", va="center", size=LABEL_SIZE, color=VERMILION)
        files = {kind: _saved(canvas, kind) for kind in _NO_DATE}
    return RenderedFigure(pdf=files["pdf"], svg=_plain_svg(files["svg"]), png=files["png"])


def with_drawings(section: Section, *, simulated: bool) -> Section:
    """The section with its figures drawn, for a time at which there is nothing else to do."""
    figures = tuple(replace(f, rendered=rendered_figure(f, simulated=simulated)) for f in section.figures)
    return replace(section, figures=figures)


def blank_pdf(figure: Figure) -> bytes:
    """An empty page of the size of the figure, which a document can be laid out with before the figure is drawn."""
    width, height = (72 * side for side in figure.size)
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [ 3 0 R ] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /Resources << >> /MediaBox [ 0 0 {width:.10f} {height:.10f} ] >>".encode(),
    )
    file, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    entries = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(file)
    return file + b"xref\n0 4\n0000000000 65535 f \n" + entries + end


def drawn_canvas(figure: Figure) -> Canvas:
    """The figure drawn on an Agg canvas, under the project's style."""
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=figure.size)
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
    return canvas


def inline_svg(svg: bytes, *, prefix: str, alt: str) -> str:
    """An SVG as part of an HTML page: ids of its own, presentation attributes for styles, nothing but shapes.

    Parameters
    ----------
    svg : bytes
        File as saved here; anything in it that does not draw (comments, metadata, style sheets, scripts) is dropped.
    prefix : str
        Put before every id, so that figures on one page do not share theirs.
    alt : str
        Alternative text, announced instead of the drawing.
    """
    root = ET.fromstring(svg)
    drawing = _shapes(root, prefix)
    drawing.attrib = {
        "class": "plot",
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": alt,
        "stroke-linejoin": "round",
    }
    return ET.tostring(drawing, encoding="unicode", short_empty_elements=False)


def _saved(canvas: Canvas, kind: str) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format=kind, metadata=_NO_DATE[kind])
    return file.getvalue()


def _plain_svg(svg: bytes) -> bytes:
    """The file without the comments in which matplotlib repeats every text: names out of logs stay shapes."""
    return re.sub(rb"\s*<!--.*?-->", b"", svg, flags=re.DOTALL)


def _shapes(element: ET.Element, prefix: str) -> ET.Element:
    copy = ET.Element(element.tag.removeprefix(_SVG), _attributes(element, prefix))
    for child in element:
        if isinstance(child.tag, str) and (child.tag.removeprefix(_SVG) in _DRAWN or _is_picture(child)):
            copy.append(_shapes(child, prefix))
    return copy


def _is_picture(element: ET.Element) -> bool:
    return element.tag == f"{_SVG}image" and element.attrib.get(_XLINK, "").startswith(_PICTURE)


def _attributes(element: ET.Element, prefix: str) -> dict[str, str]:
    """Attributes with styles spelt out: the page's policy forbids ``style`` attributes."""
    found = {}
    for name, value in element.attrib.items():
        if name == "style":
            pairs = (part.split(":", 1) for part in value.split(";") if ":" in part)
            found.update({key.strip(): text.strip() for key, text in pairs})
        elif name == _XLINK and value.startswith(_PICTURE):
            found["href"] = value
        elif name == _XLINK:
            found["href"] = f"#{prefix}-{value.removeprefix('#')}"
        elif name == "id":
            found["id"] = f"{prefix}-{value}"
        elif not name.startswith(("{", "on")):
            found[name] = value
    return {name: _LOCAL.sub(rf"url(#{prefix}-\1)", value) for name, value in found.items()}
