"""Reads an option letter (or another label) from the text of a reply.

Rules: ``exact``, ``boxed``, ``json``, ``tagged``, ``final_answer`` ("the answer is (B)", "option B", "答案是B"),
``first_word`` ("B. Paris"), ``last_line``, ``only_one_option`` (one option alone is named in brackets or as
"option X"), ``self_correction``. Rules that give none: ``empty``, ``none``, ``conflicting``, ``several``,
``retracted``, ``undecided``, ``refusal``, ``open_reasoning``, and ``outside_options``: a label that the question
does not have. A letter is never taken from an ordinary word: "A dog" and "I think" name no option.
"""

import json
import re

from analysis.parsing.clauses import is_reported
from analysis.parsing.corrections import after_correction
from analysis.parsing.option_labels import LONGEST_LABEL, OptionLabels
from analysis.parsing.reading import Reading, answered, unanswered
from analysis.parsing.refusal import is_refusal, is_undecided
from analysis.parsing.text import before_run_on, prepare, strip_reasoning
from analysis.schema.status import Status

_NOT_CHOSEN = re.compile(
    r"[\"')\]]*[ \t]*(?:[^.!?\n;,]{0,60}?[ \t])?(?:is|are|was|can be|must be|seems|isn't)\s+(?:\w+\s+)?"
    r"(?:wrong|incorrect|false|not|eliminated|ruled|excluded|implausible|unlikely|invalid)"
)
_DENIED = re.compile(
    r"(?:\bnot(?: list| have| see| find)?|n't|\bno|\bwithout|\black(?:s|ing)?|\b(?:figure|fig\.?|table|section"
    r"|appendix|equation|eq\.?|step"
    r"|line|part|case|exhibit|panel|chapter)|\brather than|\binstead of|\bneither|\bnor|\bexcept|\bif|\bwhether)\s+"
    r"(?:be\s+)?(?:option\s+)?[\"'(\[]*$"
)
#: An option as prompts list them, and how much of a prompt is looked at.
_OFFERED = re.compile(r"^[ \t]*[*(\[]{0,3}([A-Z])[)\].:][*)]*[ \t]+\S", re.MULTILINE)
_PROMPT_CHARS = 8_000
#: A label in angle brackets would be taken for a tag.
_IN_ANGLES = re.compile(r"<+\s*(\w{1,3})\s*>+")
_SHORT = 20
#: Characters from the end of a reply in which its conclusion is looked for.
_SHORT_TAIL = 60
_POSSIBLE = re.compile(r"(?:\b(?:could|might|may|can|cannot|not)|n't)\s+(?:\w+\s+)?be\s+\W*$|\bnot\s+\W*$")
_RIGHT = ("correct", "right", "true", "yes")
_VERDICTS = re.compile(
    r"^\s*\(?([a-z])[).:][\s–—-]*(?:[^\n]{0,80}[–—:-]\s*)?(correct|right|true|yes|incorrect|wrong|false|no)[.!]*\s*$",
    re.MULTILINE,
)
_LISTED = re.compile(r"^\s*\(?([a-z])[).:]\s", re.MULTILINE)


def read_choice(text: str, options: OptionLabels, offered: int | None = None) -> Reading:
    """Read a reply to a question with labelled options.

    Parameters
    ----------
    text : str
    options : OptionLabels
    offered : int, optional
        How many options the question has: a label beyond them is no answer to it.
    """
    reading = _read(text, options)
    if reading.answer is None or offered is None or reading.answer in options.ordered[:offered]:
        return reading
    return unanswered("outside_options")


def n_options(choices: str | None, prompt: str | None) -> int | None:
    """How many options a question has, by the logged choices (a JSON list) or by the list that ends its prompt."""
    if choices and choices.startswith("["):
        try:
            listed = json.loads(choices)
        except ValueError:
            listed = None
        if isinstance(listed, list) and len(listed) > 1:
            return len(listed)
    letters = _OFFERED.findall(prompt[-_PROMPT_CHARS:]) if prompt else []
    starts = [at for at, letter in enumerate(letters) if letter == "A"]
    offered = letters[starts[-1] :] if starts else []
    in_order = [chr(ord("A") + at) for at in range(len(offered))]
    return len(offered) if len(offered) > 1 and offered == in_order else None


def _read(text: str, options: OptionLabels) -> Reading:
    stripped = strip_reasoning(text)
    prepared = prepare(stripped.text)
    bracketed = _IN_ANGLES.fullmatch(stripped.text.strip()) if len(stripped.text) < _SHORT else None
    if bracketed and bracketed[1].casefold() in options.labels:
        return answered(options.labels[bracketed[1].casefold()], "exact")
    if not prepared:
        return unanswered("open_reasoning", Status.TRUNCATED) if stripped.open_reasoning else unanswered("empty")
    reading = _read_prepared(prepared, options)
    if reading.answer is None and stripped.open_reasoning:
        return unanswered("open_reasoning", Status.TRUNCATED)
    return reading


def _read_prepared(text: str, options: OptionLabels) -> Reading:
    first = before_run_on(text)
    if first is not None and (reading := _read_prepared(first, options)).answer is not None:
        return reading
    exact = options.whole(text)
    if exact:
        return answered(exact, "exact")
    taken_back = options.taken_back.search(text, max(0, len(text) - _SHORT_TAIL))
    if taken_back is not None:
        return answered(options.labels[taken_back[1]], "self_correction")
    named = _named(text, options)
    first = _first(text, options)
    last = _last_line(text, options)
    corrected = _corrected(text, options)
    if corrected is not None:
        return corrected
    concluded = options.concluded.search(text, max(0, len(text) - _SHORT_TAIL))
    if concluded and _is_no_conclusion(text[max(0, concluded.start() - 90) : concluded.start(1)]):
        concluded = None
    if concluded and (named is None or named.rule == "conflicting") and first in (None, options.labels[concluded[1]]):
        return answered(options.labels[concluded[1]], "last_line")
    if named is not None:
        return named
    verdict = _only_verdict(text, options)
    if verdict is not None:
        return answered(verdict, "final_answer")
    found = {label for label in (first, last) if label is not None}
    if len(found) > 1:
        return unanswered("conflicting")
    if found:
        return answered(found.pop(), "first_word" if first is not None else "last_line")
    return _only_one(text, options)


def _named(text: str, options: OptionLabels) -> Reading | None:
    """Options named as the answer: the final ones if any, which must agree."""
    against = {options.labels[m[1]] for m in options.set_against.finditer(text)}
    if len(against) == 1:
        return answered(against.pop(), "final_answer")
    chosen = [m for m in options.named.finditer(text) if _is_chosen(text, m)]
    affirmed = {options.labels[m[1] or m[2]] for m in options.affirmed.finditer(text)}
    final = [m for m in chosen if m["final"]] or chosen
    if not final:
        one = len(affirmed) == 1
        return answered(affirmed.pop(), "final_answer") if one else unanswered("conflicting") if affirmed else None
    if any(_another_follows(text, m.end(), m[2], options) for m in final):
        return unanswered("several")
    labels = {options.labels[m[2]] for m in final} | (affirmed if not final[-1]["final"] else set())
    if len(labels) > 1:
        return unanswered("conflicting")
    wrapped = final[-1]["final"] or ""
    return answered(labels.pop(), wrapped if wrapped in ("boxed", "json", "tagged") else "final_answer")


def _is_no_conclusion(left: str) -> bool:
    """Whether a label at the end is only possible, denied, or what others say."""
    return _POSSIBLE.search(left) is not None or is_reported(re.sub(r"answer is\W*$", "", left))


def _is_chosen(text: str, named: re.Match[str]) -> bool:
    """Whether a marker names what the reply itself chooses: not what is wrong, or what others say."""
    if _NOT_CHOSEN.match(text, named.end()):
        return False
    return not is_reported(text[max(0, named.start() - 90) : named.start()])


def _corrected(text: str, options: OptionLabels) -> Reading | None:
    """What is read behind the last correction, if the text has one; only a retraction leaves nothing."""
    rest = after_correction(text)
    if not rest:
        return unanswered("retracted") if rest == "" and options.marked.search(text) else None
    reading = _read_prepared(rest, options)
    return answered(reading.answer, "self_correction") if reading.answer is not None else None


def _only_verdict(text: str, options: OptionLabels) -> str | None:
    """The one label of a list that is called right where all the others are called wrong."""
    verdicts = [(label, verdict in _RIGHT) for label, verdict in _VERDICTS.findall(text) if label in options.labels]
    right = [options.labels[label] for label, is_right in verdicts if is_right]
    return right[0] if len(verdicts) > 1 and len(right) == 1 else None


def _another_follows(text: str, end: int, label: str, options: OptionLabels) -> bool:
    """Whether further labels are listed behind the first: "Answer: B, C", "B and D"."""
    following = options.more.match(text, end)
    return following is not None and following[1] != label


def _first(text: str, options: OptionLabels) -> str | None:
    found = options.first.match(text)
    if found is not None and (
        _another_follows(text, found.end(1), found[1], options) or options.alternative.match(text, found.end(1))
    ):
        return None
    if found is None or text.startswith(("q:", "(c) 1", "(c) 2")) or _NOT_CHOSEN.match(text, found.end(1)):
        return None
    listed = [letter for letter in _LISTED.findall(text) if letter in options.labels]
    is_list = len(set(listed)) > 1 and listed == sorted(listed)
    return None if is_list else options.labels[found[1]]


def _last_line(text: str, options: OptionLabels) -> str | None:
    line = text[text.rfind("\n") + 1 :]
    found = options.line.fullmatch(line) if len(line) <= LONGEST_LABEL else None
    return None if found is None else options.labels[found[1]]


def _only_one(text: str, options: OptionLabels) -> Reading:
    chosen = set()
    denied = False
    for found in options.marked.finditer(text):
        if _NOT_CHOSEN.match(text, found.end()) or _DENIED.search(text[max(0, found.start() - 40) : found.start()]):
            denied = True
        elif _another_follows(text, found.end(), found[1], options):
            return unanswered("several")
        else:
            chosen.add(options.labels[found[1]])
    if len(chosen) == 1 and not denied:
        return answered(chosen.pop(), "only_one_option")
    if len(chosen) > 1:
        return unanswered("conflicting")
    if is_refusal(text):
        return unanswered("refusal", Status.REFUSED)
    return unanswered("undecided" if is_undecided(text) else "none")
