"""How a simulated benchmark on probability operators is analysed: its ``study.toml``, and families of responders."""

from collections.abc import Sequence
from typing import Final

from analysis.simulation.probability_questions import Argument

_SETTINGS: Final = """\
# Written by evenhand simulate; every row of these logs is simulated.
[study]
name = "Probability operators (simulated)"
kind = "judgement"
unit = "unit"
exclude = { negation = ["not"] }   # asked in the negative only: no affirmative counterpart

[factor.nationality]
baseline = "letters"

[factor.gender]
baseline = "letters"
"""
_NEGATION: Final = """
[[contrast]]
name = "Negation as a prefix or as the word not"
factor = "negation"
levels = ["prefix", "not"]
match = ["unit", "template", "form"]
"""
_WORDINGS: Final = """
[[contrast]]
name = "{name}"
factor = "template"
levels = ["{first}", "{second}"]
match = ["unit", "form", "polarity"]
where = {{ polarity = ["affirmative"] }}
"""
_RESTRICTION: Final = """
[[restriction]]
name = "{name}"
drop = {{ template = [{templates}] }}
"""
#: Templates whose answer some may contest, and those that every reader grants.
CONTESTABLE: Final = ("complement", "double_complement")
CORE: Final = (
    "certain_to_probable",
    "probable_to_possible",
    "likely_ponens",
    "probable_to_certain",
    "possible_to_probable",
)
#: Families of drawn responders: sizes in billions of parameters, in turn; the rest has neither.
FAMILIES: Final = {
    "Alder": (0.3, 1.0, 4.0, 12.0, 27.0),
    "Birch": (2.0, 4.0, 12.0, 31.0),
    "Cedar": (0.6, 1.7, 4.0, 8.0, 14.0, 32.0),
    "Dogwood": (7.0, 14.0, 32.0),
}


def model_sizes(n: int) -> tuple[tuple[str, float] | None, ...]:
    """Family and size of each of ``n`` drawn responders, None for those beyond the families."""
    known = [(family, size) for family, sizes in FAMILIES.items() for size in sizes]
    return tuple(known[m] if m < len(known) else None for m in range(n))


def settings_text(arguments: Sequence[Argument], *, not_forms: bool) -> str:
    """``study.toml`` for these arguments: the contrasts and restrictions that they allow.

    ``not_forms`` says whether some questions are negated a second time, with the word "not".
    """
    families: dict[str, list[str]] = {}
    for argument in {argument.name: argument for argument in arguments}.values():
        families.setdefault(argument.pattern, []).append(argument.name)
    present = [name for names in families.values() for name in names]
    parts = [_SETTINGS]
    if not_forms:
        parts.append(_NEGATION)
    parts += [
        _WORDINGS.format(name=f"Two wordings of {family.replace('_', ' ')}", first=names[0], second=names[1])
        for family, names in families.items()
        if len(names) > 1
    ]
    dropped = {
        "without contestable templates": [name for name in present if name in CONTESTABLE],
        "conservative core": [name for name in present if name not in CORE],
    }
    parts += [
        _RESTRICTION.format(name=name, templates=", ".join(f'"{t}"' for t in templates))
        for name, templates in dropped.items()
        if 0 < len(templates) < len(present)
    ]
    return "".join(parts)
