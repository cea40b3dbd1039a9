"""Labels of a task's options, compiled into the patterns by which they are found in a reply."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from analysis.parsing.text import prepare

#: A text longer than this is no label.
LONGEST_LABEL = 200
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

_NOUN = (
    r"(?:answer|option|choice|letter|pick|vote|guess|response|conclusion|verdict|solution|selection|selected|label"
    r"|prediction|output"
    r"|result|ans|antwort|respuesta(?: correcta)?|réponse|risposta(?: corretta)?|resposta(?: correta)?|ответ)"
)
_GAP = r"(?:\s+(?:to|for|here|in|of|on|given|based|that|from)\b[^.!?\n:]{0,90}?)?"
_LINK = (
    r"(?:\s*(?::|=|->|→|–|—|-)\s*"
    r"|\s+(?:is|(?:would|should|must|has to|can only|would have to)(?: therefore| thus| then)? be|was|letter|option"
    r"|choice"
    r"|ist|es|est|è|é)\b\s*:?\s*)"
)
_FILL = (
    r"(?:(?:therefore|thus|clearly|definitely|most likely|likely|probably|option|choice|letter|answer|the|is|:)\s*)*"
)
_MARKER = (
    rf"\b(?:(?P<final>final|boxed|json|tagged)\s+)?(?:correct\s+|right\s+|best\s+)?{_NOUN}{_GAP}{_LINK}{_FILL}"
    r"|\b(?:it|that|this)(?:'s| is| would be| must be| has to be)\s+(?:option\s+)?"
    r"|\b(?:i|we)(?:'d|'ll|'m| would| will| am)?(?: therefore| thus)?\s+(?:choose|select|pick|go with"
    r"|going (?:to go )?with|say|answer|guess"
    r"|opt for|settle on|conclude|lean(?:ing)? towards?|vote for)\s+(?:option\s+|choice\s+)?"
    r"|\bif i (?:had|have|must|need) (?:to )?(?:pick|choose|guess|answer)(?: one)?,\s*"
    r"|(?:答案|选|選)[^a-z\n]{0,6}"
)


@dataclass(frozen=True, slots=True)
class OptionLabels:
    """Labels of a task's options, compiled into the patterns that the rules use."""

    labels: dict[str, str]
    ordered: tuple[str, ...]
    exact: re.Pattern[str]
    named: re.Pattern[str]
    first: re.Pattern[str]
    line: re.Pattern[str]
    marked: re.Pattern[str]
    more: re.Pattern[str]
    concluded: re.Pattern[str]
    affirmed: re.Pattern[str]
    set_against: re.Pattern[str]
    taken_back: re.Pattern[str]
    alternative: re.Pattern[str]

    def fold(self, text: str | None) -> str | None:
        """Label meant by a gold or given answer (" B", "(b).", "B)"), else None."""
        return None if text is None or len(text) > LONGEST_LABEL else self.whole(prepare(text))

    def whole(self, text: str) -> str | None:
        """Label that a short prepared text consists of."""
        found = self.exact.fullmatch(text) if len(text) <= LONGEST_LABEL else None
        return None if found is None else self.labels[found[1]]


@lru_cache(maxsize=32)
def option_labels(labels: Sequence[str] = LETTERS) -> OptionLabels:
    """Compile option labels; a tuple of texts, by default the letters A to Z."""
    by_folded = {" ".join(label.casefold().split()): label for label in labels}
    either = "(?:" + "|".join(re.escape(label) for label in sorted(by_folded, key=lambda x: (-len(x), x))) + ")"
    edge = r"[\s\"'()\[\].,:;!*=>→-]*"
    stop = (
        r"(?=[\"')\]]*(?:\s*$|\s*\n|\s*[.,;:!)\]—–-]|[^\x00-\x7f]"
        r"|\s+(?:because|since|as it|which|and|or|the|is (?:correct|right|the)|\()))"
    )
    whole_word = r"(?!\w|'\w|-\w)"
    return OptionLabels(
        labels=by_folded,
        ordered=tuple(labels),
        exact=re.compile(
            rf"{edge}(?:(?:question|q|item|problem)\s*\d{{1,3}}\s*[:.)]\s*)?(?:(?:the )?(?:option|choice|answer"
            rf"|letter)\s*:?\s*|a\s*:\s*|(?:choose|select|pick|go with"
            rf"|definitely"
            rf"|certainly|clearly|(?:most )?(?:probably|likely)|i (?:think|guess|believe|choose|pick"
            rf"|say))\s+(?:option\s+|it's\s+)?)?"
            rf"[\"'(\[]*({either}){edge}(?:(?:i (?:think|guess|believe|suppose)|probably|definitely|for sure|it is"
            rf"|please){edge})?"
        ),
        named=re.compile(rf"(?:{_MARKER})[\"'(\[ ]*({either})(?:{whole_word}{stop}|(?=[^\x00-\x7f]))"),
        first=re.compile(
            rf"(?:(?:most likely|probably|likely|definitely|clearly)\s+(?=\W*{either}[,.;]))?(?:(?:option|choice"
            rf"|answer)\s+|(?:answer|a|response)\s*[:>]\s*(?=\W*{either}{whole_word}\W*(?:\n|$)"
            rf"|\(?{either}[).]))?[\"'(\[]*({either})"
            r"(?:(?:[)\]][.:,]?|[.:]|\s+[–—-])(?=\s|$|[^\x00-\x7f])|:(?=\d)|[ ]*\n|,\s+(?:though|although|but)\b"
            r"|,?\s+(?:because|since|as it)\b)"
        ),
        affirmed=re.compile(
            rf"(?<![\w'-])[\"'(]*({either})[\"').:]*\s+(?:is|must be|would be|has to be)\s+(?:clearly\s+|therefore\s+)?"
            r"(?:the\s+|my\s+)?(?:only\s+|final\s+)?(?:correct|right|best|better|true|answer|choice|pick"
            r"|one)\b(?!\s+(?:only|if)\b)"
            rf"|(?<![\w'-])[\"'(]*({either})[\"').:]*\s+(?:fits|matches|satisfies|meets)\b"
        ),
        # "not B but C", "B... no, C", "A. Or maybe B".
        set_against=re.compile(
            rf"\bnot\s+(?:option\s+)?[\"'(\[]*{either}[\"')\]]*(?:,[^,.!?\n]{{0,40}},|,)?\s+but\s+(?:rather\s+)?"
            rf"(?:option\s+)?[\"'(\[]*({either}){whole_word}"
        ),
        taken_back=re.compile(
            rf"{either}[\"')\]]*\s*(?:\.\.\.?|…|[—–,;.-])+\s*(?:no|nope|wait|or rather|i mean|sorry)[\s,:;.…—–-]+"
            rf"(?:(?:no|it's|it is|i mean|rather|that should be|should be|make that)[\s,:]+)*"
            rf"(?:option\s+)?[\"'(\[]*({either})[\"')\]]*[\s.!]*$"
        ),
        alternative=re.compile(
            rf"[\"')\]]*[\s.,;…—–-]*\bor\s+(?:maybe|perhaps|possibly"
            rf"|even)\s+(?:option\s+)?[\"'(\[]*{either}{whole_word}"
        ),
        concluded=re.compile(
            r"(?:\b(?:so|hence|thus|therefore|leaves|leaving|remains|leaves (?:us|only|me) with?|(?<!so )is"
            r"|be)[,:]?\s+|(?<!\d)[.!?:]\s+|[-=]>\s*|→\s*)"
            rf"(?:(?:it|that)(?:'s| is| must be)\s+)?(?:only\s+)?(?:option\s+"
            rf"|choice\s+)?[\"'(\[]*({either})[\"')\]]*[.!]*\s*$"
        ),
        line=re.compile(rf"{edge}(?:(?:option|choice|answer|so|therefore|thus)[\s,:]*)*[\"'(\[]*({either}){edge}"),
        marked=re.compile(rf"(?:\(|\b(?:option|choice)\s+[\"'(]?)({either})(?:\)|{whole_word}(?!(?<=\b[ai])[ \t]+\w))"),
        more=re.compile(
            r"[\"')\]]*\s*(?:,|/|&|\band\b|\bor\b)(?:\s*(?:and|or)\b)?\s*(?:option\s+)?[\"'(\[]*"
            rf"({either})[\"')\]]*\s*(?:$|[\n.,;/&]|(?:and|or)\b|[^\x00-\x7f])"
        ),
    )
