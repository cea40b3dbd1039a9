"""Expressions over the roles of probability queries: a small grammar with its own parser, never evaluated as code.

    expression = term { ("+" | "-") term }
    term       = factor { ("*" | "/") factor }
    factor     = number | role [ "[" state "]" ] | name "(" expression { "," expression } ")"
               | "(" expression ")" | "-" factor

``name`` is ``sum``, ``prod``, ``count`` (over the states of a role), ``min`` or ``max`` (of one expression over
states, of several among them). A role is a name of the column ``role``; a state stands as a word or in quotes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from analysis.errors import AnalysisError

#: Bounds on what a study may write: characters, depth of brackets, parts.
LONGEST: Final = 400
DEEPEST: Final = 16
MOST_PARTS: Final = 100
OVER_STATES: Final = ("sum", "prod", "count", "min", "max")
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<number>\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,63})"""
    r"""|(?P<text>"[^"\n]{0,200}"|'[^'\n]{0,200}')|(?P<sign>[-+*/(),\[\]]))""",
)


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Role:
    """The probabilities of a role: all its states, or the one that is named."""

    name: str
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions joined by ``+``, ``-``, ``*`` or ``/``."""

    sign: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class OverStates:
    """``sum``, ``prod``, ``count``, ``min`` or ``max`` of an expression over the states of its roles."""

    name: str
    inner: "Expression"


@dataclass(frozen=True, slots=True)
class Extreme:
    """The smallest or largest of several expressions."""

    name: str
    members: tuple["Expression", ...]


Expression = Number | Role | Operation | OverStates | Extreme


def parse_expression(text: str) -> Expression:
    """Read an expression.

    Parameters
    ----------
    text : str
        At most 400 characters, 100 parts and 16 levels of brackets.

    Raises
    ------
    AnalysisError
        It breaks the grammar or a bound; the message says where.
    """
    if len(text) > LONGEST:
        raise AnalysisError(f"an expression has at most {LONGEST} characters, not {len(text)}")
    return _Parser(text, _tokens(text)).whole()


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it, outermost first."""
    yield expression
    inner: tuple[Expression, ...] = ()
    match expression:
        case Operation():
            inner = (expression.left, expression.right)
        case OverStates():
            inner = (expression.inner,)
        case Extreme():
            inner = expression.members
    for part in inner:
        yield from parts_of(part)


def roles_of(expression: Expression) -> tuple[str, ...]:
    """Names of the roles in an expression, each once, in order."""
    return tuple(dict.fromkeys(part.name for part in parts_of(expression) if isinstance(part, Role)))


def free_roles(expression: Expression) -> tuple[str, ...]:
    """Roles that stand outside every ``sum`` (and the like) and name no state."""
    match expression:
        case Role(name=name, state=None):
            return (name,)
        case Operation(left=left, right=right):
            return tuple(dict.fromkeys((*free_roles(left), *free_roles(right))))
        case Extreme(members=members):
            return tuple(dict.fromkeys(name for member in members for name in free_roles(member)))
    return ()


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """(kind, text, column from 1) of every token."""
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            rest = text[at:].lstrip()
            column = len(text) - len(rest) + 1
            raise AnalysisError(f"column {column}: {rest[:20].rstrip()!r} is no number, role or sign")
        found.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) + 1))
        at = match.end()
    return [*found, ("end", "", end + 1)]


class _Parser:
    """Recursive descent over the tokens; depth and number of parts are bounded."""

    def __init__(self, text: str, tokens: list[tuple[str, str, int]]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
        self.depth, self.parts = 0, 0

    def whole(self) -> Expression:
        found = self.expression()
        kind, text, column = self.tokens[self.at]
        if kind != "end":
            raise AnalysisError(f"column {column}: {text!r} is one too many")
        return found

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise AnalysisError(f"brackets nest at most {DEEPEST} deep")
        found = self.term()
        while self.tokens[self.at][1] in ("+", "-") and self.tokens[self.at][0] == "sign":
            found = self.counted(Operation(self.taken(), found, self.term()))
        self.depth -= 1
        return found

    def term(self) -> Expression:
        found = self.factor()
        while self.tokens[self.at][1] in ("*", "/") and self.tokens[self.at][0] == "sign":
            found = self.counted(Operation(self.taken(), found, self.factor()))
        return found

    def factor(self) -> Expression:
        kind, text, column = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return self.counted(Number(float(text)))
        if kind == "name":
            return self.counted(self.call(text, column) if self.next_is("(") else Role(text, self.state()))
        if text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if text == "-":
            self.depth += 1
            if self.depth > DEEPEST:
                raise AnalysisError(f"brackets and signs nest at most {DEEPEST} deep")
            negative = Operation("-", Number(0.0), self.factor())
            self.depth -= 1
            return self.counted(negative)
        raise AnalysisError(f"column {column}: expected a number, a role or a bracket, found {text or 'the end'!r}")

    def call(self, name: str, column: int) -> Expression:
        if name not in OVER_STATES:
            raise AnalysisError(f"column {column}: {name!r} is none of {', '.join(OVER_STATES)}")
        self.expect("(")
        members = [self.expression()]
        while self.next_is(","):
            self.at += 1
            members.append(self.expression())
        self.expect(")")
        if len(members) == 1:
            if any(isinstance(part, OverStates) for part in parts_of(members[0])):
                raise AnalysisError(f"column {column}: {name}() over states stands inside no other")
            return OverStates(name, members[0])
        if name not in ("min", "max"):
            raise AnalysisError(f"column {column}: {name}() takes one expression, not {len(members)}")
        return Extreme(name, tuple(members))

    def state(self) -> str | None:
        if not self.next_is("["):
            return None
        self.at += 1
        kind, text, column = self.tokens[self.at]
        if kind not in ("name", "text", "number"):
            raise AnalysisError(f"column {column}: expected a state, found {text or 'the end'!r}")
        self.at += 1
        self.expect("]")
        return text[1:-1] if kind == "text" else text

    def counted(self, part: Expression) -> Expression:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise AnalysisError(f"an expression has at most {MOST_PARTS} parts")
        return part

    def taken(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def next_is(self, sign: str) -> bool:
        kind, text, _ = self.tokens[self.at]
        return kind == "sign" and text == sign

    def expect(self, sign: str) -> None:
        _, text, column = self.tokens[self.at]
        if not self.next_is(sign):
            raise AnalysisError(f"column {column}: expected {sign!r}, found {text or 'the end'!r}")
        self.at += 1
