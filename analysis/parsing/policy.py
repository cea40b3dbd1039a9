"""How answers are read: what the study and the command line say, and which reader a row asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.errors import StudyError
from analysis.parsing.answer_words import answer_words
from analysis.parsing.option_labels import LETTERS, option_labels

KINDS = ("judgement", "choice", "probability", "none")


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """Facts by task.

    ``mixed`` tasks have questions with options other than yes and no, ``texts`` are those of whose responses, in one
    file, some have a text.
    """

    mixed: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    """How answers are read.

    Parameters
    ----------
    reread : bool
        Read the raw text even where the log gives an answer.
    synonyms : mapping of {"yes", "no"} to words
        Further words of the study's vocabulary; ``{"yes": ["true"], "no": ["false"]}``.
    kind : str, optional
        ``judgement``, ``choice``, ``probability`` or ``none`` for every task; by default the gold answer
        of each row decides.
    kinds : mapping of task to kind
        Overrides ``kind`` by task; ``score`` is taken as ``none``.
    labels : sequence of str
        Option labels, by default the letters A to Z.
    percent : bool
        Whether bare numbers stated as probabilities are percentages.
    facts : TaskFacts, optional
        What the rows of each task decide together; by default each batch decides for itself.
    """

    reread: bool = False
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[str] = LETTERS
    percent: bool = False
    facts: TaskFacts | None = None

    def __post_init__(self) -> None:
        answer_words(self.synonyms)
        for kind in {self.kind or "none", *self.kinds.values()} - {"score"}:
            if kind not in KINDS:
                raise StudyError(f"reading: unknown kind {kind!r}; use one of {', '.join(KINDS)}", offenders=[kind])

    def kind_of(self, task: str) -> str | None:
        """Declared kind of a task, None where the gold answer decides."""
        kind = self.kinds.get(task, self.kind)
        return "none" if kind == "score" else kind


def kind_and_gold(
    policy: ReadingPolicy, task: str | None, gold: str | None, *, judged: bool, asked: bool
) -> tuple[str, str | None]:
    """Reader that a row asks for, and its gold answer in the words of that reader.

    Parameters
    ----------
    policy : ReadingPolicy
    task, gold : str or None
        As logged.
    judged : bool
        The row has validity and polarity.
    asked : bool
        The row belongs to a probability query.
    """
    polarity = answer_words(policy.synonyms).polarity(gold)
    label = option_labels(tuple(policy.labels)).fold(gold)
    kind = policy.kind_of(task or "")
    if kind is None:
        if polarity or judged:
            kind = "judgement"
        elif label:
            kind = "choice"
        else:
            kind = "probability" if asked and not gold else "none"
    folded = polarity if kind == "judgement" else label if kind == "choice" else None
    return kind, folded or gold
