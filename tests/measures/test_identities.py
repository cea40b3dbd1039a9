"""Grammar, evaluation and residuals of identities."""

import contextlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.measures.coherence import at_clip, cross_products, log_odds, residual, root
from analysis.measures.identities import BUILT_IN, identity
from analysis.measures.identities_grammar import (
    LONGEST,
    Extreme,
    Number,
    Operation,
    OverStates,
    Role,
    free_roles,
    parse_expression,
)
from analysis.measures.identities_residuals import (
    identity_residuals,
    join_rule,
    renormalised,
    sets_of_residuals,
    state_sums,
)
from analysis.reduction.instances import answer_sets

KEYS = ("model", "unit", "identity", "wording", "sample")


def answers(*rows: tuple) -> pd.DataFrame:
    """Rows (role, state, probability, truth, changes of the other columns)."""
    made = []
    for at, (role, state, probability, *rest) in enumerate(rows):
        truth = rest[0] if rest else np.nan
        base = {"model": "m", "unit": "u", "identity": "", "wording": "w1", "sample": "0", "item": f"i{at}",
                "item_family": "f", "level": "l", "tokens_reasoning": 10.0, "status": "answered"}  # fmt: skip
        changed = rest[1] if len(rest) > 1 else {}
        made.append(base | {"role": role, "state": state, "probability": probability, "truth": truth} | changed)
    return pd.DataFrame(made)


def rows_of(name: str, table: pd.DataFrame, **options) -> pd.DataFrame:
    """Residuals of a built-in identity."""
    one = next(i for i in BUILT_IN if i.name == name)
    sets = answer_sets(table, join_rule(one))
    assert sets is not None
    return identity_residuals(sets, one, **options)


def test_last_digits_are_no_residual() -> None:
    """.1 + .2 is not .3 to a computer. Catches dust of 1e-16, alike in all wordings, tested as persistent."""
    assert 0.1 + 0.2 != 0.3
    for scale in ("log_odds", "probability"):
        found = residual([0.1 + 0.2, 0.3001, np.nan], [0.3, 0.3, 0.3], scale=scale)
        assert found[0] == 0.0
        assert found[1] > 1e-5
        assert np.isnan(found[2])


def test_expressions_are_read_with_the_usual_precedence() -> None:
    """Catches a parser that adds before it multiplies, or that reads a - b - c as a - (b - c)."""
    product = Operation("*", Role("latent"), Role("conditional"))
    assert parse_expression("sum(latent * conditional)") == OverStates("sum", product)
    assert parse_expression("1 - a*b") == Operation("-", Number(1.0), Operation("*", Role("a"), Role("b")))
    assert parse_expression("a - b - c") == Operation("-", Operation("-", Role("a"), Role("b")), Role("c"))
    assert parse_expression("min(a, 0.5)") == Extreme("min", (Role("a"), Number(0.5)))
    assert parse_expression('latent["not y"]') == Role("latent", "not y")
    assert free_roles(parse_expression("posterior - sum(latent) + target[x]")) == ("posterior",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target +", "column 9"),
        ("sum(latent", "expected ')'"),
        ("__import__('os')", "is none of sum, prod"),
        ("target.real", "column 7"),
        ("latent[", "expected a state"),
        ("a b", "one too many"),
        ("sum(sum(a))", "inside no other"),
        ("sum(a, b)", "one expression"),
        ("(" * 40 + "a" + ")" * 40, "at most 16 deep"),
        ("-" * 40 + "a", "at most 16 deep"),
        ("a" * (LONGEST + 1), "at most 400 characters"),
        ("+".join("a" * 150), "at most 100 parts"),
        ("", "found 'the end'"),
    ],
)
def test_what_breaks_the_grammar_is_a_message(text: str, said: str) -> None:
    """Catches text that runs, recursion without end, and a traceback for a slip in study.toml."""
    with pytest.raises(AnalysisError, match="|".join([said.replace("(", r"\(").replace(")", r"\)")])):
        parse_expression(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_message(text: str) -> None:
    """Catches an exception of another kind, which fails this test."""
    with contextlib.suppress(AnalysisError):
        parse_expression(text)


def test_total_probability_by_hand() -> None:
    """P(z) = .258, P(X|z) = .114 and .374 give .307 (an item that an article prints): catches a wrong pairing."""
    table = answers(
        ("target", "", 0.5, 0.307),
        ("latent", "careful", 0.258, 0.258),
        ("latent", "careless", 0.742, 0.742),
        ("conditional", "careless", 0.374, 0.374),
        ("conditional", "careful", 0.114, 0.114),
    )
    row = rows_of("total probability", table).iloc[0]
    assert row["right"] == pytest.approx(0.258 * 0.114 + 0.742 * 0.374)
    assert round(row["right"], 3) == 0.307
    assert row["residual"] == pytest.approx(0 - np.log(row["right"] / (1 - row["right"])))
    assert row["difference"] == pytest.approx(0.5 - row["right"])
    assert abs(row["truth_gap"]) < 0.0005
    assert row["error_latent"] == pytest.approx(0)


def test_states_may_number_differently_and_one_target_serves_two_identities() -> None:
    """Catches a sum over absent states, and a target without identity that only one identity gets."""
    table = answers(
        ("target", "", 0.3),
        *[("latent", s, p, np.nan, {"identity": "a"}) for s, p in (("z1", 0.2), ("z2", 0.3), ("z3", 0.5))],
        *[("conditional", s, p, np.nan, {"identity": "a"}) for s, p in (("z1", 0.1), ("z2", 0.2), ("z3", 0.4))],
        *[("latent", s, p, np.nan, {"identity": "b"}) for s, p in (("y1", 0.5), ("y2", 0.5))],
        *[("conditional", s, p, np.nan, {"identity": "b"}) for s, p in (("y1", 0.1), ("y2", 0.7))],
    )
    rows = rows_of("total probability", table).set_index("identity")
    assert rows.loc["a", "right"] == pytest.approx(0.02 + 0.06 + 0.2)
    assert rows.loc["b", "right"] == pytest.approx(0.4)


def test_an_identity_column_may_list_several() -> None:
    """Catches a list of identities that is taken for the name of one."""
    table = answers(
        ("target", "", 0.3, np.nan, {"identity": "a; b"}),
        *[("latent", s, 0.5, np.nan, {"identity": i}) for i in "ab" for s in ("1", "2")],
        *[("conditional", s, 0.3, np.nan, {"identity": i}) for i in "ab" for s in ("1", "2")],
    )
    assert list(rows_of("total probability", table)["identity"]) == ["a", "b"]


def test_bayes_rule_has_an_instance_for_every_state_asked() -> None:
    """Catches a posterior compared with the wrong state, and states without a posterior that count as missing."""
    table = answers(
        ("target", "", 0.4),
        *[("latent", s, p) for s, p in (("z1", 0.5), ("z2", 0.5))],
        *[("conditional", s, p) for s, p in (("z1", 0.6), ("z2", 0.2))],
        ("posterior", "z2", 0.25),
    )
    rows = rows_of("Bayes' rule", table)
    assert list(rows["identity"]) == ["|z2"]
    assert rows["right"].iloc[0] == pytest.approx(0.25)
    assert rows["residual"].iloc[0] == pytest.approx(0)


@pytest.mark.parametrize(("conjunction", "upper", "lower"), [(0.5, 0.2, 0.0), (0.05, 0.0, 0.05), (0.2, 0.0, 0.0)])
def test_bounds_give_directed_violations(conjunction: float, upper: float, lower: float) -> None:
    """With P(A) = .8 and P(B) = .3 a conjunction lies in [.1, .3]: catches a violation with the wrong sign."""
    table = answers(("event", "A", 0.8), ("event", "B", 0.3), ("conjunction", "", conjunction))
    above = rows_of("conjunction, upper bound", table).iloc[0]
    below = rows_of("conjunction, lower bound", table).iloc[0]
    assert above["difference"] == pytest.approx(upper)
    assert below["difference"] == pytest.approx(lower)
    assert (above["residual"] > 0) == (upper > 0)


def test_normalisation_and_complement() -> None:
    """Catches a sum that leaves a state out, and a complement compared with the probability itself."""
    table = answers(("latent", "z1", 0.6), ("latent", "z2", 0.5), ("target", "", 0.3), ("complement", "", 0.6))
    assert rows_of("normalisation", table)["residual"].iloc[0] == pytest.approx(0.1)
    row = rows_of("complement", table).iloc[0]
    assert (row["right"], row["difference"]) == (pytest.approx(0.4), pytest.approx(-0.1))


def test_declared_identity_with_named_states_and_division_by_zero() -> None:
    """Catches a named state that is looked up in another set, and an infinite side that reaches a table."""
    one = identity("by state", "target", "latent[y] * conditional[y] / (conditional[y] + conditional['not y'])")
    table = answers(
        ("target", "", 0.5),
        ("latent", "y", 0.5),
        ("conditional", "y", 0.0),
        ("conditional", "not y", 0.0),
        *[(r, s, p, np.nan, {"unit": "v"}) for r, s, p in
          (("target", "", 0.3), ("latent", "y", 0.5), ("conditional", "y", 0.6), ("conditional", "not y", 0.4))],
    )  # fmt: skip
    sets = answer_sets(table, join_rule(one))
    rows = identity_residuals(sets, one)
    assert list(rows["unit"]) == ["v"]
    assert rows["right"].iloc[0] == pytest.approx(0.3)


def test_causal_units_have_no_total_probability_of_their_marginal() -> None:
    """P(y | x) is no average over P(z): catches an identity applied where the latent answers are marginal."""
    table = answers(
        ("do", "", 0.5), ("target", "", 0.6), *[("latent", s, 0.5) for s in "ab"],
        *[("conditional", s, 0.5) for s in "ab"],
    )  # fmt: skip
    assert answer_sets(table, join_rule(BUILT_IN[0])) is None
    assert rows_of("back-door adjustment", table)["residual"].iloc[0] == pytest.approx(0)


def test_printed_residuals_follow_from_their_answers(shared) -> None:
    """.6735 where .605 is right is +.30 in log-odds, .375 for .275 is +.46: catches another base or sign."""
    printed = pd.read_csv(shared / "published" / "latent_coherence" / "quoted_figures.csv", dtype=str)
    table = printed[printed["quantity"].str.startswith("example causal-full-00244")].set_index(["quantity", "model"])
    head = "example causal-full-00244"
    for model, arm in (("DeepSeek V4-Pro", "slow"), ("GLM 5.3", "fast")):
        answer = float(table.loc[(f"{head}: answer for P(y | do({arm}))", model), "value"])
        truth = float(table.loc[(f"{head}: P(y | do({arm}))", "truth"), "value"])
        said = float(table.loc[(f"{head}: residual", model), "value"])
        assert residual(answer, truth) == pytest.approx(said, abs=0.005)


def test_printed_source_item_obeys_the_law(shared) -> None:
    """The printed truths of the source item give its P(X) to the printed digit."""
    printed = pd.read_csv(shared / "published" / "latent_coherence" / "quoted_figures.csv", dtype=str)
    rows = printed[printed["quantity"].str.startswith("example source-full-00000")]
    value = {q.split(": ")[1]: float(v) for q, v in zip(rows["quantity"], rows["value"], strict=True)}
    careful = value["P(careful)"]
    implied = careful * value["P(X | careful)"] + (1 - careful) * value["P(X | careless)"]
    assert round(implied, 3) == value["P(X)"]


def test_zero_and_one_stand_at_the_clip() -> None:
    """Catches infinite log-odds of 0 and 1, and answers at the clip that are not counted as such."""
    assert log_odds([0, 1, 0.01]) == pytest.approx([-np.log(99), np.log(99), -np.log(99)])
    assert list(at_clip([0, 0.01, 0.02, 0.99, 1, np.nan])) == [True, True, False, True, True, False]
    with pytest.raises(AnalysisError, match="clip"):
        log_odds([0.5], clip=0.5)


def test_cross_products_are_the_mean_over_pairs_of_wordings() -> None:
    """mean^2 - s^2 / k = mean of r_k r_l over k < l, for any k: catches s^2 with k instead of k - 1."""
    rng = np.random.default_rng(1)
    for k in (2, 3, 7):
        r = rng.normal(size=k)
        pairs = [r[i] * r[j] for i in range(k) for j in range(i)]
        assert cross_products(r.mean(), ((r - r.mean()) ** 2).sum(), k) == pytest.approx(np.mean(pairs))
    assert np.isnan(cross_products(0.3, 0.0, 1))
    assert root(-0.2) == 0


def test_cross_products_are_unbiased_whatever_the_noise() -> None:
    """Appendix E by simulation: skewed, heteroscedastic noise and unequal k; catches pooling of the noise variance."""
    rng = np.random.default_rng(7)
    n = 200_000
    k = rng.integers(2, 5, size=n)
    mu, sigma = rng.normal(0.1, 0.3, size=n), 0.2 * k
    noise = (rng.exponential(size=(n, 4)) - 1) * sigma[:, None]
    r = np.where(np.arange(4) < k[:, None], mu[:, None] + noise, np.nan)
    mean = np.nanmean(r, axis=1)
    q = cross_products(mean, np.nansum((r - mean[:, None]) ** 2, axis=1), k)
    assert q.mean() == pytest.approx((mu**2).mean(), abs=4 * q.std() / np.sqrt(n))


def test_renormalising_rescales_states_and_leaves_zero_alone() -> None:
    """Catches a sum over the padding, and a division by 0."""
    table = answers(
        ("target", "", 0.3),
        *[("latent", s, p) for s, p in (("a", 0.8), ("b", 0.4))],
        *[("conditional", s, 0.3) for s in "ab"],
        ("target", "", 0.3, np.nan, {"unit": "v"}),
        *[("latent", s, 0.0, np.nan, {"unit": "v"}) for s in "ab"],
        *[("conditional", s, 0.3, np.nan, {"unit": "v"}) for s in "ab"],
    )
    sets = answer_sets(table, join_rule(BUILT_IN[0]))
    assert state_sums(sets) == pytest.approx([1.2, 0.0])
    assert renormalised(sets).by_role["latent"][0] == pytest.approx([2 / 3, 1 / 3])
    assert renormalised(sets).by_role["latent"][1] == pytest.approx([0, 0])


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("", "no state is logged for the latent: its complement is missing"),
        ("z", "only one state of the latent was asked: its complement is missing"),
    ],
)
@pytest.mark.parametrize("name", ["total probability", "normalisation", "back-door adjustment"])
def test_a_latent_without_its_complement_is_no_sum_over_states(state: str, reason: str, name: str) -> None:
    """Catches P(z) P(X|z) that stands for the whole sum, and P(z) that should be 1, as complete sets."""
    direct = "do" if name == "back-door adjustment" else "target"
    table = answers((direct, "", 0.75), ("latent", state, 0.8), ("conditional", state, 0.86))
    one = next(i for i in BUILT_IN if i.name == name)
    sets = answer_sets(table, join_rule(one))
    assert sets is not None
    assert list(sets.reason) == [reason]
    assert rows_of(name, table).empty


def test_a_declared_sum_takes_the_states_that_there_are() -> None:
    """Catches a declaration that is overruled: who writes the sum knows its states."""
    one = identity("half", "target", "sum(latent * conditional)", declared=True)
    table = answers(("target", "", 0.75), ("latent", "z", 0.8), ("conditional", "z", 0.86))
    sets = answer_sets(table, join_rule(one))
    assert sets is not None
    assert identity_residuals(sets, one)["right"].tolist() == pytest.approx([0.688])


def test_one_state_is_enough_for_bayes_rule() -> None:
    """Catches a complement that is demanded where nothing is summed."""
    table = answers(("target", "", 0.5), ("latent", "z", 0.4), ("conditional", "z", 0.5), ("posterior", "z", 0.4))
    assert rows_of("Bayes' rule", table)["residual"].tolist() == pytest.approx([0.0])


def test_sets_of_some_residuals_are_found() -> None:
    """Catches sets that are not compared, and sets whose residuals are named after a state taken for absent."""
    one = next(i for i in BUILT_IN if i.name == "Bayes' rule")
    rows = [
        (role, state, 0.5, np.nan, {"wording": w})
        for w in ("w1", "w2", "w3")
        for role, state in (("target", ""), *((r, s) for r in ("latent", "conditional", "posterior") for s in "ab"))
        if (w, role) != ("w3", "target")
    ]
    sets = answer_sets(answers(*rows), join_rule(one))
    assert sets is not None
    found = identity_residuals(sets, one)
    assert set(found["identity"]) == {"|a", "|b"}
    assert sets_of_residuals(sets, one, found).tolist() == [True, True, False]
    assert sets_of_residuals(sets, one, found[found["wording"] == "w2"]).tolist() == [False, True, False]
