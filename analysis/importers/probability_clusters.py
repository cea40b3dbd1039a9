"""Queries of probability tuples: what each asks, and which of them share content."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Query:
    """One question of a tuple and the probability stated for it.

    Two occurrences are one response if question, role and probability agree; ``extra`` is not compared.
    """

    item: str
    probability: float | None
    role: str
    state: str | None = None
    text: str = field(default="", compare=False)
    truth: float | None = field(default=None, compare=False)
    extra: tuple[tuple[str, str], ...] = field(default=(), compare=False)


def clusters(tuples: Sequence[Iterable[Query]]) -> dict[str, str]:
    """Unit of every question: questions joined by common tuples, under the least of their ids."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for queries in tuples:
        roots = sorted({root(query.item) for query in queries})
        for other in roots[1:]:
            parent[other] = roots[0]
    return {item: root(item) for item in list(parent)}


def item_names(tuples: Sequence[Iterable[Query]]) -> dict[tuple[str, str], str]:
    """Item of a question in a role: its id, with the role where one question has several."""
    roles: dict[str, dict[str, None]] = {}
    for queries in tuples:
        for query in queries:
            roles.setdefault(query.item, {}).setdefault(query.role)
    return {
        (item, role): item if len(found) == 1 else f"{item} as {role}"
        for item, found in roles.items()
        for role in found
    }


def schema_roles(logged: tuple[str, ...]) -> dict[str, tuple[str, str | None]]:
    """Role and state in the schema's words where a tuple has them; other roles keep their logged name.

    ``X_given_Y`` is a conditional in state Y. Beside ``X_given_not_Y``, X is the target and Y the latent
    event; a negation ``not_X`` beside X is its complement.
    """
    found: dict[str, tuple[str, str | None]] = {role: (role, None) for role in logged}
    for role in logged:
        event, is_conditional, given = role.partition("_given_")
        if is_conditional:
            found[role] = ("conditional", given)
            if f"{event}_given_not_{given}" in found and {event, given} <= found.keys():
                found[event], found[given] = ("target", None), ("latent", given)
        elif role.startswith("not_") and role.removeprefix("not_") in found:
            found[role] = ("complement", None)
            found[role.removeprefix("not_")] = ("target", None)
    return found
