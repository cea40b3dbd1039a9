"""Answers of some roles, one row per identity that they serve, with their texts as codes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: What makes one set: all its answers have these in common.
KEYS: Final = ("model", "unit", "identity", "wording", "sample")


@dataclass(frozen=True, slots=True)
class Asked:
    """One row per answer × identity that it serves.

    Texts are codes of their sorted ``names``, so that the order of codes is that of the texts.
    """

    codes: pd.DataFrame
    names: Mapping[str, NDArray[np.object_]]
    probability: Floats
    truth: Floats
    tokens: Floats
    row: Codes

    def column(self, name: str) -> Codes:
        """Codes of one column."""
        return self.codes[name].to_numpy(np.int64)

    def code(self, name: str, text: str) -> int:
        """Code of a text; -1, which no row has, where no row could have it."""
        found = np.flatnonzero(self.names[name] == text)
        return int(found[0]) if len(found) else -1

    def texts(self, name: str, at: Codes) -> NDArray[np.object_]:
        """Texts of a column in some rows."""
        return self.names[name][self.column(name)[at]]

    def among(self, name: str, texts: Collection[str]) -> NDArray[np.bool_]:
        """Rows whose text is one of these."""
        return np.isin(self.column(name), [self.code(name, text) for text in texts])

    def of_rows(self, at: NDArray[np.generic]) -> "Asked":
        """Some of the rows."""
        codes = self.codes[at].reset_index(drop=True)
        return Asked(codes, self.names, self.probability[at], self.truth[at], self.tokens[at], self.row[at])


def served_answers(answers: pd.DataFrame, roles: tuple[str, ...]) -> Asked:
    """Answers of the roles wanted, those of an identity first, then those that serve every identity of their unit."""
    row = np.flatnonzero(answers["role"].isin(roles))
    wanted = answers.iloc[row]
    columns, names = {}, {}
    for name in ("model", "unit", "wording", "sample", "role", "state", "item_family", "level"):
        columns[name], names[name] = _coded(wanted[name])
    identity, listed = _coded(wanted["identity"])
    several = [list(dict.fromkeys(part.strip() for part in text.split(";") if part.strip())) for text in listed]
    names["identity"] = np.array(sorted({"", *(name for part in several for name in part)}), dtype=object)
    number = {name: at for at, name in enumerate(names["identity"])}
    # One row per identity listed; where none is, -1.
    lengths = np.array([max(len(part), 1) for part in several], np.int64)
    flat = np.array([number[name] for part in several for name in part or [""]], np.int64)
    none = np.array([not part for part in several], bool)
    at = np.repeat(np.arange(len(row)), lengths[identity])
    within = np.arange(len(at)) - np.repeat(np.cumsum(lengths[identity]) - lengths[identity], lengths[identity])
    start = np.cumsum(lengths) - lengths
    serves_all = none[identity][at]
    exploded = pd.DataFrame({"at": at, "unit": columns["unit"][at], "identity": flat[start[identity[at]] + within]})
    own = exploded[~serves_all]
    of_unit = own[["unit", "identity"]].drop_duplicates()
    common = exploded[serves_all].drop(columns="identity").merge(of_unit, on="unit", how="left")
    common["identity"] = common["identity"].fillna(number[""]).astype(np.int64)
    whole = pd.concat([own, common], ignore_index=True)
    at = whole["at"].to_numpy(np.int64)
    codes = pd.DataFrame({name: values[at] for name, values in columns.items()}).assign(identity=whole["identity"])
    probability, truth, tokens = (
        wanted[name].to_numpy(float)[at] for name in ("probability", "truth", "tokens_reasoning")
    )
    return Asked(codes, names, probability, truth, tokens, row[at])


def _coded(column: pd.Series) -> tuple[Codes, NDArray[np.object_]]:
    """Codes of a column of texts, and the texts that occur in order."""
    if isinstance(column.dtype, pd.CategoricalDtype) and not column.isna().any():
        levels = column.cat.categories.astype(str).to_numpy(object)
        found, code = np.unique(column.cat.codes.to_numpy(np.int64), return_inverse=True)
        order = np.argsort(levels[found], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank[code], levels[found][order]
    texts, code = np.unique(column.astype(str).to_numpy(object), return_inverse=True)
    return code.astype(np.int64), texts


def joint_codes(columns: Sequence[Codes]) -> Codes:
    """One code for what several columns say together, in the order of the first, then the second and so on."""
    joint = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        size = int(column.max()) + 1 if len(column) else 1
        joint = pd.factorize(joint * size + column, sort=True)[0].astype(np.int64)
    return joint
