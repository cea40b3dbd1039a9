"""Identities that coherent probabilities obey: which queries they join, and what equals what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import (
    Expression,
    OverStates,
    Role,
    free_roles,
    parse_expression,
    parts_of,
    roles_of,
)

RELATIONS: Final = ("=", "<=", ">=")
SCALES: Final = ("log_odds", "probability")


@dataclass(frozen=True, slots=True)
class Identity:
    """``left relation right``, over the roles of the queries of one instance.

    Attributes
    ----------
    name : str
    left, right : Expression
        What is observed (a direct answer, as a rule) and what the other answers imply.
    relation : {"=", "<=", ">="}
        An equation, or a bound of ``left``.
    scale : {"log_odds", "probability"}
        Scale on which the residual is reported.
    not_with : tuple of str
        An instance that has a query of one of these roles is no instance of the identity.
    declared : bool
        Written in ``study.toml``.
    """

    name: str
    left: Expression
    right: Expression
    relation: str = "="
    scale: str = "log_odds"
    not_with: tuple[str, ...] = ()
    declared: bool = False

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles that it joins, each once."""
        return tuple(dict.fromkeys((*roles_of(self.left), *roles_of(self.right))))

    @property
    def free(self) -> tuple[str, ...]:
        """Roles outside every sum: with several states, there is one instance per state."""
        return tuple(dict.fromkeys((*free_roles(self.left), *free_roles(self.right))))

    @property
    def decomposes(self) -> bool:
        """Whether one direct answer stands against what other answers imply: it can be closer to the truth, or not."""
        return isinstance(self.left, Role) and self.relation == "=" and len(self.roles) > 1

    def named_states(self) -> dict[str, tuple[str, ...]]:
        """Role -> states that the identity names."""
        found: dict[str, list[str]] = {}
        for side in (self.left, self.right):
            for part in parts_of(side):
                if isinstance(part, Role) and part.state is not None:
                    found.setdefault(part.name, []).append(part.state)
        return {name: tuple(dict.fromkeys(states)) for name, states in found.items()}

    def summed(self) -> tuple[str, ...]:
        """Roles that stand inside a sum or the like: all states of an instance are needed."""
        sides = [part for side in (self.left, self.right) for part in parts_of(side)]
        inner = [part.inner for part in sides if isinstance(part, OverStates)]
        return tuple(dict.fromkeys(name for expression in inner for name in roles_of(expression)))


def identity(
    name: str,
    left: str,
    right: str,
    *,
    relation: str = "=",
    scale: str = "log_odds",
    not_with: tuple[str, ...] = (),
    declared: bool = False,
) -> Identity:
    """An identity from its two sides as texts.

    Raises
    ------
    AnalysisError
        A side breaks the grammar, a relation or scale is unknown, or no role occurs.
    """
    if relation not in RELATIONS or scale not in SCALES:
        raise AnalysisError(
            f"identity {name!r}: relation is one of {' '.join(RELATIONS)}, scale one of {', '.join(SCALES)}; "
            f"found {relation!r}, {scale!r}"
        )
    sides = []
    for side, text in (("left", left), ("right", right)):
        try:
            sides.append(parse_expression(text))
        except AnalysisError as error:
            raise AnalysisError(f"identity {name!r}, {side} = {text[:80]!r}: {error}") from error
    made = Identity(name, sides[0], sides[1], relation, scale, not_with, declared)
    if not made.roles:
        raise AnalysisError(f"identity {name!r}: names no role of a query")
    return made


#: In order of precedence: the first with instances is the one that the tables are about.
BUILT_IN: Final[tuple[Identity, ...]] = (
    identity("total probability", "target", "sum(latent * conditional)", not_with=("do",)),
    identity("back-door adjustment", "do", "sum(latent * conditional)"),
    identity("Bayes' rule", "posterior", "latent * conditional / target", not_with=("do",)),
    identity("complement", "target", "1 - complement"),
    identity("paraphrase", "target", "paraphrase"),
    identity("normalisation", "sum(latent)", "1", scale="probability"),
    identity("conjunction, upper bound", "conjunction", "min(event)", relation="<="),
    identity("conjunction, lower bound", "conjunction", "max(0, sum(event) - count(event) + 1)", relation=">="),
    identity("disjunction, lower bound", "disjunction", "max(event)", relation=">="),
    identity("disjunction, upper bound", "disjunction", "min(1, sum(event))", relation="<="),
)


def check_distinct(identities: Sequence[Identity]) -> None:
    """Refuse two identities of one name, whose instances could not be told apart."""
    names = [one.name for one in identities]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise AnalysisError(f"two identities are called {twice[0]!r}; give each a name of its own", offenders=twice)
