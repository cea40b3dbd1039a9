"""Figures: positions, labels, hostile names, files."""

import io
import itertools
import re
import warnings
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from example_reports import HOSTILE, scattered, tidy_estimates
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Annotation, Text
from PIL import Image

from analysis.errors import AnalysisError
from analysis.report.figures import plane
from analysis.report.figures.class_accuracy import class_accuracy_figure
from analysis.report.figures.floor_bias import floor_bias_figure
from analysis.report.figures.labels import drawn_labels, font_glyphs, short_label
from analysis.report.figures.placement import place_labels
from analysis.report.figures.points import absolute_interval
from analysis.report.figures.render import drawn_canvas, inline_svg, rendered_figure
from analysis.report.figures.style import STYLE

FIGURES = (floor_bias_figure, class_accuracy_figure)
NAMES = [f"vendor-{i}/model-{i * 7}b" for i in range(60)]


def overlaps(canvas, dpi=100):
    """Pairs of texts of a drawn figure whose boxes share an area, and texts outside the paper."""
    with mpl.rc_context(STYLE):
        canvas.set_dpi(dpi)
        canvas.draw_without_rendering()
        renderer = canvas.canvas.get_renderer()
        texts = [t for t in canvas.findobj(Text) if t.get_text() and t.get_visible()]
        boxes = [Text.get_window_extent(t, renderer) for t in texts]
    paper = canvas.bbox
    outside = [t.get_text() for t, b in zip(texts, boxes, strict=True) if not _within(b, paper)]
    pairs = [
        (texts[i].get_text(), texts[j].get_text())
        for i, j in itertools.combinations(range(len(texts)), 2)
        if min(boxes[i].x1, boxes[j].x1) > max(boxes[i].x0, boxes[j].x0)
        and min(boxes[i].y1, boxes[j].y1) > max(boxes[i].y0, boxes[j].y0)
    ]
    return pairs, outside


def _within(box, paper):
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= paper.x1 and box.y1 <= paper.y1


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(("count", "seed"), [(1, 1), (5, 2), (12, 3), (29, 7), (29, 8), (29, 9), (60, 4)])
def test_no_two_texts_overlap_or_leave_the_paper(figure, count, seed):
    """Labels placed beside their points without regard to each other cover one another."""
    pairs, outside = overlaps(drawn_canvas(figure(tidy_estimates(NAMES[:count], scattered(count, seed)))))
    assert (pairs, outside) == ([], [])


@pytest.mark.parametrize("figure", FIGURES)
def test_models_at_one_point_keep_separate_labels(figure):
    """A cluster of equal values piles its labels up."""
    canvas = drawn_canvas(figure(tidy_estimates(NAMES[:29], [(0.9, 0.2)] * 29)))
    assert overlaps(canvas) == ([], [])


def test_every_label_is_drawn_or_listed_in_the_key():
    """A label without a free place vanishes."""
    for count in (12, 60):
        figure = floor_bias_figure(tidy_estimates(NAMES[:count], scattered(count, 4)))
        texts = {t.get_text() for t in drawn_canvas(figure).findobj(Text)}
        assert set(NAMES[:count]) <= texts


def test_no_places_are_sought_for_more_names_than_the_frame_can_hold(monkeypatch):
    """Hundreds of models take minutes, because places are sought for names that cannot all have one."""
    searched = []
    search = plane.place_labels
    monkeypatch.setattr(plane, "place_labels", lambda *args, **kw: searched.append(len(args[0])) or search(*args, **kw))
    floor_bias_figure(tidy_estimates([f"vendor/model-{i}" for i in range(150)], scattered(150, 4)))
    assert searched == [150]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), min_size=1, max_size=15), st.floats(4, 60))
def test_placed_boxes_are_disjoint_and_inside(points, width):
    """A place is accepted that touches another label, a point or the frame."""
    spots = np.array(points, float)
    placed = place_labels(spots, np.tile([width, 8.0], (len(spots), 1)), (300.0, 200.0))
    boxes = placed.boxes[np.isfinite(placed.boxes[:, 0])]
    assert np.allclose(boxes[:, 2:] - boxes[:, :2], [width, 8.0])
    assert (boxes >= 0).all()
    assert (boxes[:, 2] <= 300).all()
    assert (boxes[:, 3] <= 200).all()
    for a, b in itertools.combinations(boxes, 2):
        assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
    for box in boxes:
        inside = (spots > box[:2]) & (spots < box[2:])
        assert not inside.all(axis=1).any()


def test_points_stand_at_their_values():
    """Axes exchanged, or the sign of the bias lost: Yes 0.9, No 0.3 has bias +0.6 and floor 0.3."""
    floor = floor_bias_figure(tidy_estimates(["m"], [(0.9, 0.3)]))
    axes = drawn_canvas(floor).axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() == "o" and len(line.get_xydata()) == 1]
    assert np.allclose(marks, [[[0.6, 0.3]]])
    by_class = drawn_canvas(class_accuracy_figure(tidy_estimates(["m"], [(0.9, 0.3)]))).axes[0]
    marks = [line.get_xydata() for line in by_class.lines if line.get_marker() == "o" and len(line.get_xydata()) == 1]
    assert np.allclose(marks, [[[0.3, 0.9]]])
    assert "No" in by_class.get_xlabel()
    assert "Yes" in by_class.get_ylabel()


def test_all_yes_model_stands_in_the_corner_of_the_possible_region():
    """The bound of the floor is drawn at 1 - bias / 2, which bias 1 and floor 0 would not reach."""
    figure = floor_bias_figure(tidy_estimates(["always yes"], [(1.0, 0.0)]))
    canvas = drawn_canvas(figure)
    corners = canvas.axes[0].patches[0].get_xy()
    assert {tuple(c) for c in corners} == {(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)}
    assert figure.data.loc[0, ["abs_bias", "competence_floor"]].tolist() == [1.0, 0.0]
    assert overlaps(canvas) == ([], [])


def test_words_of_the_quadrants_give_way_to_points():
    """A model that always says Yes, or one at the top, is covered by the words of its quadrant."""
    for accuracy in ((1.0, 0.0), (1.0, 0.25), (0.0, 0.75)):
        canvas = drawn_canvas(class_accuracy_figure(tidy_estimates(["m"], [accuracy])))
        canvas.draw_without_rendering()
        axes = canvas.axes[0]
        spot = axes.transData.transform(accuracy[::-1])
        for words in axes.texts:
            if words.get_text() != "m":
                assert not words.get_window_extent().padded(3).contains(*spot)


@settings(max_examples=50)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1))
def test_absolute_interval_holds_what_its_source_holds(a, b, share):
    """abs() of the two ends misses 0 where the interval spans it, and swaps the ends below 0."""
    low, high = min(a, b), max(a, b)
    lower, upper = absolute_interval(pd.Series([low]), pd.Series([high]))
    inside = low + share * (high - low)
    assert lower[0] <= abs(inside) + 1e-12
    assert upper[0] >= abs(inside) - 1e-12
    assert upper[0] == max(abs(low), abs(high))
    assert lower[0] == (0 if low <= 0 <= high else min(abs(low), abs(high)))


def test_a_missing_interval_leaves_the_point_and_a_missing_estimate_is_named():
    """A point without an interval disappears, or an undefined model is drawn at 0."""
    tidy = tidy_estimates(["a", "b", "c"], [(0.9, 0.3), (0.6, 0.7), (0.5, 0.5)])
    tidy.loc[tidy["model"] == "b", ["ci_low", "ci_high"]] = np.nan
    undefined = tidy["model"].eq("c") & tidy["measure"].ne("acc_yes")
    tidy.loc[undefined, ["estimate", "ci_low", "ci_high"]] = np.nan
    tidy.loc[undefined, "reason"] = "no question has gold No"
    for make in FIGURES:
        figure = make(tidy)
        texts = {t.get_text() for t in drawn_canvas(figure).findobj(Text)}
        assert {"a", "b"} <= texts
        assert "c" not in texts
        assert "Not shown: c (no question has gold No)." in figure.caption
        assert "2 models" in figure.alt


@pytest.mark.parametrize("make", FIGURES)
def test_nothing_defined_gives_a_figure_that_says_so(make):
    """An empty selection ends in a traceback."""
    tidy = tidy_estimates(["a"], [(0.9, 0.3)])
    tidy[["estimate", "ci_low", "ci_high"]] = np.nan
    figure = make(tidy.assign(reason="all responses errored"))
    texts = [t.get_text() for t in drawn_canvas(figure).findobj(Text)]
    assert any(text.startswith("No model has") for text in texts)
    assert "all responses errored" in figure.caption
    assert figure.alt.startswith("Empty plot")
    assert make(tidy.iloc[:0]).alt.startswith("Empty plot")


@pytest.mark.parametrize("make", FIGURES)
def test_rows_of_two_tasks_are_refused(make):
    """The estimates of two tasks are silently drawn as one."""
    tidy = tidy_estimates(["a"], [(0.9, 0.3)])
    with pytest.raises(AnalysisError, match="select one task"):
        make(pd.concat([tidy, tidy.assign(task="other")]))


@pytest.mark.parametrize("make", FIGURES)
def test_arguments_stay_as_they_are(make):
    """The builder adds columns to the caller's table."""
    tidy = tidy_estimates(["a", "b"], [(0.9, 0.3), (0.2, 0.9)])
    before = tidy.copy()
    make(tidy)
    pd.testing.assert_frame_equal(tidy, before)


@pytest.mark.parametrize("make", FIGURES)
def test_hostile_names_are_drawn_as_text(make):
    """Mathematics is typeset, a missing glyph becomes a box, a control character steers the line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = make(tidy_estimates(HOSTILE, scattered(len(HOSTILE))))
        rendered = rendered_figure(figure)
        canvas = drawn_canvas(figure)
    texts = canvas.findobj(Text)
    labels = set(figure.data["label"])
    assert labels <= {t.get_text() for t in texts}
    assert {"$x$", "=cmd()", "two[U+000A]lines", "[blank]", "[empty]"} <= labels
    assert any("[U+202E]" in label for label in labels)
    assert not any(t.get_parse_math() for t in texts if t.get_text() in labels)
    assert len(labels) == len(HOSTILE)
    assert overlaps(canvas) == ([], [])
    assert b"<!--" not in rendered.svg
    assert b"<script" not in rendered.svg


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_a_label_is_short_visible_and_drawable(text):
    """A label is too long, holds what its font lacks, or cuts ``[U+XXXX]`` in two."""
    label = short_label(text, limit=32, glyphs=font_glyphs())
    assert 0 < len(label) <= 32
    assert label.isprintable()
    assert {ord(c) for c in label} - {0x2026} <= font_glyphs()
    if not text.count("[") and not text.count("]") and text.strip():
        assert re.fullmatch(r"(\[U\+[0-9A-F]{4,6}\]|[^\[\]])*", label)


def test_labels_keep_both_ends_and_equal_ones_are_told_apart():
    """Two long names that differ in the middle get the same label."""
    first, second = drawn_labels(["a" * 200 + "1" + "b" * 200, "a" * 200 + "2" + "b" * 200])
    assert first != second
    assert first.startswith("aaa")
    assert "bbb" in first
    assert drawn_labels(["m"], {"m": "Printed name"}) == ("Printed name",)


@pytest.mark.parametrize("make", FIGURES)
def test_files_are_the_same_to_the_byte(make):
    """A date, a random id or the order of a set reaches a file."""
    tidy = tidy_estimates(NAMES[:9], scattered(9))
    assert rendered_figure(make(tidy)) == rendered_figure(make(tidy))


def test_formats_are_what_they_claim():
    """Fonts missing from the PDF (or bitmap Type 3), text in the SVG that needs a font, a tiny PNG."""
    rendered = rendered_figure(floor_bias_figure(tidy_estimates(NAMES[:5], scattered(5))))
    assert b"/FontFile2" in rendered.pdf
    assert b"/Type3" not in rendered.pdf
    assert b"CreationDate" not in rendered.pdf
    root = ET.fromstring(rendered.svg)
    assert not root.findall(".//{http://www.w3.org/2000/svg}text")
    assert b"dc:date" not in rendered.svg
    assert Image.open(io.BytesIO(rendered.png)).width > 1200


def test_simulated_data_are_marked_in_the_figure():
    """A figure from generated logs leaves the report without saying so."""
    figure = floor_bias_figure(tidy_estimates(["m"], [(0.9, 0.3)]))
    assert rendered_figure(figure, simulated=True).svg != rendered_figure(figure).svg


def test_inline_drawing_has_ids_of_its_own_and_no_styles():
    """Two figures on one page share ids, or the page's policy blocks a style attribute."""
    rendered = rendered_figure(floor_bias_figure(tidy_estimates(NAMES[:5], scattered(5))))
    first, second = (inline_svg(rendered.svg, prefix=p, alt='a "quoted" <alt>') for p in ("f1", "f2"))
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip((first, second), ids, strict=True):
        used = re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text)
        assert used
        assert set(used) <= own
        assert not re.search(r"\bstyle=|<style|<metadata|<script|xlink:|<!--", text)
        assert ET.fromstring(text).attrib["aria-label"] == 'a "quoted" <alt>'


def test_alternative_text_is_read_off_the_data():
    """The text counts wrongly, or names the wrong model as best: worked by hand from three models."""
    figure = floor_bias_figure(tidy_estimates(["low", "high", "edge"], [(0.9, 0.2), (0.8, 0.7), (0.5, 0.52)]))
    assert figure.alt == (
        "Scatter plot of the competence floor against the size of the answer bias for 3 models. "
        "Floors run from 0.20 (low) to 0.70 (high). Intervals of the floor above 0.5: 1 of 3; below: 1; "
        "including it: 1. Leaning to Yes: 2; to No: 1. The interval of the bias includes 0 for 1 model. "
        "The largest bias is +0.70 (low)."
    )
    assert figure.data["number"].tolist() == [1, 2, 3]
    assert figure.data["model"].tolist() == ["high", "edge", "low"]


def test_labels_are_annotations_that_share_a_point_with_their_mark():
    """Labels are attached to the wrong point after sorting."""
    figure = floor_bias_figure(tidy_estimates(["low", "high"], [(0.9, 0.2), (0.8, 0.7)]))
    notes = {a.get_text(): a.xy for a in drawn_canvas(figure).findobj(Annotation)}
    assert np.allclose(notes["low"], (0.7, 0.2))
    assert np.allclose(notes["high"], (0.1, 0.7))
