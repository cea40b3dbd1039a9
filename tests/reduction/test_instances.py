"""Answers joined into sets: what is missing, what stands twice, and that nothing depends on the order of rows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from analysis.reduction.instances import JoinRule, answer_sets
from analysis.reduction.moments import by_wording, instance_moments, residual_matrix
from analysis.reduction.probability_answers import probability_answers, rows_without_use

RULE = JoinRule(("target", "latent", "conditional"), over_states=("latent", "conditional"), not_with=("do",))


def row(role: str, state: str = "", probability: float | None = 0.5, **changed) -> dict:
    """One response of the standard schema."""
    status = "answered" if probability is not None else changed.pop("status", "unparsed")
    base = {"model": "m", "unit": "u", "role": role, "state": state, "wording": "w1", "probability": probability}
    named = base | {"status": status} | changed
    item = "/".join(str(named.get(name, "")) for name in ("unit", "identity", "wording", "role", "state"))
    return {"item": item} | named


def whole(**changed) -> list[dict]:
    """A complete set of five answers."""
    parts = [row(role, state, **changed) for role in ("latent", "conditional") for state in ("a", "b")]
    return [row("target", **changed), *parts]


def sets_of(analysed, design, rows: list[dict]):
    """The answers and their sets."""
    answers = probability_answers(analysed(rows), design(kind="probability"))
    return answers, answer_sets(answers, RULE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[:-1], "not asked with the others (wording, sample, state): conditional"),
        (lambda rows: rows[1:], "not asked with the others (wording, sample, state): target"),
        (lambda rows: [rows[0] | {"probability": None, "status": "refused"}, *rows[1:]], "no probability: target"),
        (lambda rows: [*rows, rows[2] | {"item": "again"}], "two items for one query: latent"),
        (lambda rows: [rows[0] | {"wording": "w9"}, *rows[1:]], "not asked with the others (wording, sample, state): "),
    ],
)
def test_incomplete_sets_are_set_aside_by_reason(analysed, design, change, reason: str) -> None:
    """Catches a missing state that counts as 0, and a pair formed across wordings."""
    full = whole(unit="v") + whole(wording="w2")
    _, sets = sets_of(analysed, design, [*change(whole()), *full])
    found = sets.incomplete()
    assert len(found) >= 1
    assert found["reason"].str.startswith(reason.split(": ")[0]).all()
    assert sets.complete.sum() == 2


def test_a_state_is_expected_wherever_any_model_was_asked_for_it(analysed, design) -> None:
    """Catches a model that lacks a state in every row and passes for complete with the other."""
    rows = whole() + [r | {"model": "n"} for r in whole() if r["state"] != "b"]
    _, sets = sets_of(analysed, design, rows)
    assert list(sets.keys.loc[sets.complete, "model"]) == ["m"]


def test_instances_of_another_kind_are_left_alone(analysed, design) -> None:
    """Catches a total probability formed in a unit that intervenes."""
    _, sets = sets_of(analysed, design, [*whole(), row("do")])
    assert sets is None


def test_rows_without_use_have_reasons_and_add_up(analysed, design) -> None:
    """Rows in = used + set aside: catches a row that is neither, and one that is both."""
    rows = [
        *whole(),
        *whole(unit="v")[1:],
        row("", probability=0.2, unit="w", item="plain"),
        row("", probability=0.2, unit="x", item="true", truth=1.0),
        row("target", probability=None, unit="y", status="refused"),
        row("target", probability=None, unit="z", status="missing"),
    ]
    answers, sets = sets_of(analysed, design, rows)
    joined = pd.Series(sets.rows_used(len(answers)), index=answers.index)
    left = rows_without_use(answers, joined, task="t").set_index("reason")["rows"]
    assert left.to_dict() == {
        "a probability without a truth or an identity to compare it with": 1,
        "no truth, and other answers of its identity are missing": 4,
        "no readable probability: refused": 1,
    }
    assert joined.sum() + 1 + left.sum() + 1 == len(rows), "joined, with a truth, set aside, missing"


def test_conditions_that_vary_make_models_of_their_own(analysed, design) -> None:
    """Catches answers of two strategies joined into one set."""
    rows = whole(strategy="a") + [r | {"item": r["item"] + "b", "strategy": "b"} for r in whole()]
    varying = dataclasses.replace(design(kind="probability"), varying=("strategy",))
    answers = probability_answers(analysed(rows), varying)
    assert set(answers["model"]) == {"m [strategy=a]", "m [strategy=b]"}
    assert answer_sets(answers, RULE).complete.sum() == 2


def test_order_of_rows_changes_nothing(analysed, design) -> None:
    """Catches pairing by position."""
    rng = np.random.default_rng(0)
    rows = [r | {"probability": float(rng.random())} for u in "uvw" for w in "12" for r in whole(unit=u, wording=w)]
    one, two = (sets_of(analysed, design, r)[1] for r in (rows, [rows[i] for i in rng.permutation(len(rows))]))
    pd.testing.assert_frame_equal(one.keys, two.keys)
    for role in RULE.roles:
        np.testing.assert_array_equal(one.by_role[role], two.by_role[role])


def test_moments_by_hand() -> None:
    """Residuals .1, .3, .2 of one instance: mean .2, ss .02; samples of a wording count once."""
    rows = pd.DataFrame(
        {
            "model": "m", "unit": "u", "identity": "i", "wording": ["1", "2", "2", "3"], "sample": ["0", "0", "1", "0"],
            "item_family": "f", "level": "l", "left": 0.5, "right": 0.4, "residual": [0.1, 0.2, 0.4, 0.2],
            "difference": 0.1, "at_clip_left": [False, True, False, False], "at_clip_right": False, "tokens": 3.0,
            "truth": 0.5, "truth_gap": 0.0, "error_left": 0.2, "error_right": 0.3,
        }
    )  # fmt: skip
    table = instance_moments(by_wording(rows), task="t").iloc[0]
    assert (table["k"], table["mean"], table["ss"]) == (3, pytest.approx(0.2), pytest.approx(0.02))
    assert table["clipped"] == pytest.approx(1 / 3)
    instances, wordings, matrix = residual_matrix(by_wording(rows))
    assert (len(instances), wordings) == (1, ("1", "2", "3"))
    assert matrix[0] == pytest.approx([0.1, 0.3, 0.2])


def test_a_state_left_out_says_how_its_complement_is_declared(analysed, design) -> None:
    """Catches P(z) asked without P(not z) told as an answer of another wording or sample, without a way out."""
    rule = dataclasses.replace(RULE, exhaustive=("latent",))
    rows = [answer for answer in whole() if (answer["role"], answer["state"]) != ("latent", "b")]
    answers = probability_answers(analysed(rows), design(kind="probability"))
    found = answer_sets(answers, rule)
    assert found is not None
    assert found.reason.tolist() == [
        "not every state of the latent was asked: if they add up to 1, an [[identity]] of study.toml can say so"
    ]
