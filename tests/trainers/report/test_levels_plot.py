"""The plot of `verigym levels`: a file that is well formed and says everything in it."""

from xml.etree import ElementTree

from verigym.trainers.report.levels import Curve, draw_levels

SVG = "{http://www.w3.org/2000/svg}"
CURVES = [
    Curve("errs in 1 %", [(1, 0.9, 0.8, 1.0), (2, 0.5, 0.4, 0.6)]),
    Curve("a < b", [(1, 0.0, 0.0, 0.3), (2, 0.0, 0.0, 0.3)], is_thin=True),
]


def drawn(curves, operations=((1, 21.0), (2, 1978.0))):
    return ElementTree.fromstring(draw_levels("nim & co", operations, curves))


def test_names_levels_and_operations_are_written():
    texts = [text.text for text in drawn(CURVES).iter(f"{SVG}text")]
    for wanted in ("nim & co", "errs in 1 %", "a < b", "1", "2", "21", "1.98k"):
        assert wanted in texts


def test_a_curve_in_the_background_has_no_band():
    root = drawn(CURVES)
    classes = [path.get("class") for path in root.iter(f"{SVG}path")]
    assert [one for one in classes if one.startswith("band")] == ["band s0"]
    assert classes.count("line s1 thin") == 2  # the curve, and its line in the legend


def test_higher_success_is_drawn_higher():
    dots = [float(dot.get("cy")) for dot in drawn(CURVES).iter(f"{SVG}circle")]
    assert dots[0] < dots[1] < dots[2] == dots[3]


def test_a_policy_that_was_never_scored_leaves_no_line():
    assert "errs" in draw_levels("t", [(1, 3.0)], [Curve("errs", [])])
