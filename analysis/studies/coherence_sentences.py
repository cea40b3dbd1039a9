"""What a report says of coherence first: sentences made from the tables, by rule."""

from collections.abc import Mapping

import pandas as pd

from analysis.frequentist.incoherence_tests import ONE_WORDING
from analysis.measures.identities_joined import ProbabilityTask
from analysis.measures.identities_residuals import LATENT, state_sums
from analysis.report.numbers import counted, fixed, signed
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.summary import excluding_zero, sentence

#: At most this many models stand in one sentence.
NAMED = 8
#: Truths may miss their own identity by rounding, not by more.
TRUTH_GAP = 0.006
#: Mean sums of a latent's states farther than this from 1 are said.
SUM_GAP = 0.1
#: Decision of the test -> how it is said of models.
DECIDED = {
    "detected": "is detected for",
    "not detected": "is not detected (which does not show that there is none) for",
    "not tested": "cannot be tested for",
}


def coherence_claims(results: CoherenceResults, labels: Mapping[str, str], *, where: str) -> tuple[str, ...]:
    """What can be claimed: sizes of residuals in order, and where something persists."""
    rows = results.estimates[results.estimates["measure"] == "mean_abs_residual"].sort_values(["estimate", "model"])
    sizes = [f"{labels.get(str(m), str(m))} {fixed(e, 2)}{_ends(lo, hi)}" for m, e, lo, hi in _rows(rows)]
    said = _persistence(results, labels, where)
    words = f"mean |residual| of {results.identity.name}, log-odds, which mixes rewording noise with incoherence"
    said.append(sentence(where, f"{words}: {_listed(sizes)}"))
    direction = results.estimates[results.estimates["measure"] == "direction"]
    for word, part in zip(("above", "below"), excluding_zero(direction), strict=True):
        names = [f"{labels.get(str(m), str(m))} ({signed(e, 2)})" for m, e, _, _ in _rows(part)]
        if names:
            words = f"direct answers lie {word} what the other answers imply, on average, for {_listed(names)}"
            said.append(sentence(where, words))
    return tuple(said)


def _persistence(results: CoherenceResults, labels: Mapping[str, str], where: str) -> list[str]:
    """For every model: is a residual that persists over rewordings detected, not detected, or not tested?"""
    persistent = results.estimates[results.estimates["measure"] == "persistent"].set_index("model")
    said = []
    for decision, words in DECIDED.items():
        found = results.tests[results.tests["decision"] == decision]["model"]
        ordered = persistent.reindex(list(found)).sort_values("estimate", ascending=False).reset_index()
        names = [
            labels.get(str(m), str(m)) + (f" {fixed(e, 2)}{_ends(lo, hi)}" if pd.notna(e) else "")
            for m, e, lo, hi in _rows(ordered)
        ]
        if names:
            said.append(sentence(where, f"a residual that persists over rewordings {words} {_listed(names)}"))
    return said


def sums_attention(probabilities: ProbabilityTask, labels: Mapping[str, str], *, where: str) -> tuple[str, ...]:
    """Models whose probabilities of the states of a latent add up to far from 1, on average."""
    for identity, sets in probabilities.joined:
        if LATENT not in identity.summed() or not sets.complete.any():
            continue
        means = pd.Series(state_sums(sets)).groupby(sets.keys["model"].to_numpy()).mean().dropna()
        far = means[(means - 1).abs() > SUM_GAP]
        if len(far):
            names = [f"{labels.get(str(m), str(m))} ({fixed(v, 2)})" for m, v in far.items()]
            words = (
                "the probabilities of a latent's states should add up to 1; on average they do not (a state that was "
                f"not asked, or a model that does not normalise; residuals of {identity.name} hold this gap): "
            )
            return (sentence(where, words + _listed(names)),)
    return ()


def coherence_limits(results: CoherenceResults, design: TaskDesign, *, where: str) -> tuple[str, ...]:
    """What cannot be claimed."""
    said = []
    if not (results.instances["k"] > 1).any():
        asked = results.sets.keys["wording"].nunique()
        words = "one wording only" if asked < 2 else ONE_WORDING
        said.append(sentence(where, f"{words}: incoherence cannot be told from rewording noise"))
    else:
        said.append(sentence(where, "noise that all wordings of a question share counts as persistent incoherence"))
        if results.instances["model"].nunique() > 1:
            words = "that one model's persistent residual is detected and another's is not is no difference between"
            said.append(sentence(where, f"{words} them"))
    units = results.instances.groupby("unit")["identity"].nunique()
    if (units > 1).any():
        words = "identities of one unit share answers, so that their residuals are correlated; intervals go by unit"
        said.append(sentence(where, words))
    if not results.instances["truth"].notna().any():
        said.append(sentence(where, "no truth is logged: coherent answers may all be wrong"))
    if design.varying:
        words = f"conditions ({', '.join(design.varying)}) vary within items: each level counts as a model of its own"
        said.append(sentence(where, words))
    return tuple(said)


def coherence_attention(
    results: CoherenceResults, probabilities: ProbabilityTask, labels: Mapping[str, str], *, where: str
) -> tuple[str, ...]:
    """What to look into before believing a number."""
    said = list(sums_attention(probabilities, labels, where=where))
    tail = results.tests[results.tests["tail"] & (results.tests["decision"] == "detected")]
    if len(tail):
        names = [
            f"{labels.get(str(m), str(m))} ({fixed(rest, 2)} without three units)"
            for m, rest in zip(tail["model"], tail["without_top"], strict=True)
        ]
        said.append(sentence(where, f"few units carry the persistent residual (TAIL): {_listed(names)}"))
    if not results.shared:
        words = "few instances have complete answers of all models: each is estimated on its own, and their order is"
        said.append(sentence(where, f"{words} no comparison (hence no ranks; differences are those of shared units)"))
    absent = sorted(set(probabilities.answers["model"].astype(str)) - set(results.all_instances["model"]))
    if absent:
        words = f"no complete set of answers to {results.identity.name}, hence no estimate of its residual, for "
        said.append(sentence(where, words + _listed([labels.get(model, model) for model in absent])))
    kept = len(results.instances[["unit", "identity"]].drop_duplicates())
    distinct = len(results.all_instances[["unit", "identity"]].drop_duplicates())
    if results.shared and kept < distinct:
        words = f"{counted(distinct - kept, 'instance')} of {distinct:,} left out, because some model lacks an answer"
        said.append(sentence(where, words))
    gap = results.all_instances.dropna(subset=["truth_gap"])
    off = gap[gap["truth_gap"].abs() > TRUTH_GAP]
    if len(off):
        words = (
            f"the logged truths break {results.identity.name} themselves in {counted(off['unit'].nunique(), 'unit')}"
        )
        said.append(sentence(where, f"{words}, first {off['unit'].iloc[0]}"))
    left = sum(int(sets.incomplete()["sets"].sum()) for _, sets in probabilities.joined)
    if left:
        said.append(sentence(where, f"{counted(left, 'set')} of answers incomplete; the section says why"))
    return tuple(said)


def _rows(table: pd.DataFrame) -> list[tuple[str, float, float, float]]:
    return list(table[["model", "estimate", "ci_low", "ci_high"]].itertuples(index=False, name=None))


def _ends(low: float, high: float) -> str:
    return f" [{_limit(low)}, {_limit(high)}]" if pd.notna(low) and pd.notna(high) else ""


def _limit(value: float) -> str:
    """Two decimals; three where a limit other than 0 would print as 0."""
    return fixed(value, 2 if value == 0 or abs(value) >= 0.005 else 3)


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
