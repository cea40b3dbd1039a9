"""Answer texts made comparable: reasoning cut away, wrappers unfolded, case and letter forms folded.

Only for matching: the text in the store stays exactly as logged.
"""

import html
import re
import unicodedata
from typing import NamedTuple

#: Of a longer text only its beginning and its end are read: answers stand there, and cost stays bounded.
HEAD_CHARS = 2_000
TAIL_CHARS = 4_000
_ECHO_CHARS = 20_000

_REASONING_NAMES = "think|thinking|thought|thoughts|reason|reasoning|scratchpad|reflection|analysis"
_REASONING_TAG = re.compile(
    rf"<(/?)(?:{_REASONING_NAMES})\s*>|\[(/?)(?:think|thinking|reasoning)\]|◁(/?)think▷", re.IGNORECASE
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_END_TOKEN = re.compile(
    r"<\|(?:im_end|endoftext|end_of_text|eot_id|end|return|eom_id|im_start|start_header_id)\|>"
    r"|</s>|<eos>|<eoa>|<end_of_turn>|<\|(?:user|human)\|>",
    re.IGNORECASE,
)
_ROLE = re.compile(r"^\s*<\|(?:assistant|model|bot)\|>", re.IGNORECASE)
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x2060, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_QUOTES = {ord(c): "'" for c in "‘’‚‛´′"} | {ord(c): '"' for c in "“”„‟«»″「」『』"}
#: Pictures and ornaments beside words ("✅ Yes"); ballot boxes have a meaning.
_DECORATION = re.compile(
    "[\u2600-\u260f\u2613-\u2752\u2756-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0e\ufe0f\u20e3¡¿]+"
)
_SUPERSCRIPT = re.compile("(?<=\\d)[⁻⁺]?[⁰¹²³⁴-⁹]+")
_PLAIN_DIGITS = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
_LETTER_FORMS = (
    _INVISIBLE
    | _QUOTES
    | {ord("−"): "-", ord("。"): ".", ord("、"): ",", ord("⁄"): "/", ord("☐"): "[ ] ", ord("☑"): "[x] "}
)
_AFTER_FOLDING = _QUOTES | {ord("⁄"): "/"}

_NEEDS_UNFOLDING = re.compile(r"[\\*_`~#<>$&{}\[\]|•]")
_FENCE = re.compile(r"```+[a-z0-9+-]*")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_LATEX_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathsf|mathtt|emph|mbox|operatorname|underline)"
    r"\s*\{([^{}]{0,400})\}"
)
_LATEX_MARK = re.compile(r"\\[()\[\],;!: ]|\\q?quad\b|\$\$?")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*([\d.]{1,12})\s*\}\s*\{\s*([\d.]{1,12})\s*\}")
_BOXED = re.compile(r"\\(?:f?boxed|fbox)\s*\{|\\boxed\s+(?=\w)")
_JSON_ANSWER = re.compile(
    r"[\"'](?:(?:the[ _-]?)?(?:final|correct)?[ _-]?answer|final|prediction|predicted|label|verdict|conclusion|decision"
    r"|judge?ment|response|result|choice|output|grade|probability|estimate|likelihood|forecast"
    r"|(?:is[ _-]?)?(?:correct|valid|true|entailed|supported|(in(?:correct|valid)|false|wrong|refuted))|follows|holds)"
    r"[\"']\s*:\s*"
    r"(?:\"((?:[^\"\\]|\\.){0,400})\"|'([^'\n]{0,400})'|([a-z0-9.%]{1,20})\b)"
)
_ANSWER_TAG = re.compile(
    r"[<\[](/?)(?:answer|final_answer|finalanswer|final|verdict|conclusion|result|response|output)[>\]]"
)
_RUN_ON = re.compile(
    r"\n\s*(?:(?:question|q|human|user|instruction|input|problem|example\s*\d*|new question"
    r"|next question)\s*\d*\s*[:.)]"
    r"|(?:question|human|user|instruction|problem)[ \t]*\d*[ \t]*\n)"
)
_CHECKED = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?\[x\][ \t]*", re.MULTILINE)
_UNCHECKED = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?\[ \][^\n]*$", re.MULTILINE)
_BRACKETED_WORD = re.compile(r"(?<=[:=] )<(\w{1,12})>(?=\s*(?:$|\n))")
_HTML_TAG = re.compile(r"</?(?!answer[ :])[a-z][^<>\n]{0,120}>")
_HASH_ANSWER = re.compile(r"^[ \t]*####[ \t]*(?=\S{1,16}[ \t]*$)", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t\"'(]*(?:#{1,6}[ \t]+|>[ \t]*+(?![\d.])|[-+•][ \t]+)+", re.MULTILINE)
#: What a character does before it speaks ("*nods slowly*").
_STAGE = re.compile(
    r"^\*(?:nods|shakes|shrugs|sighs|smiles|grins|thinks|ponders|pauses|scratches|looks|leans|laughs|chuckles|adjusts"
    r"|clears|strokes|winks|frowns|raises|bows|blinks|tilts|checks|whispers|mutters|beeps|waves|wags|gulps)\b"
    r"[^*\n]{0,60}\*\s+(?=\S)"
)
_PRINTED = re.compile(r"(?:console\.log|\bprint(?:f|ln)?|\breturn)\s*\(?\s*[\"']([^\"'\n]{1,20})[\"']\s*\)?;?")
_BLANKS = re.compile(r"\s{2,}")
_EMPHASIS = str.maketrans({"*": None, "_": " ", "~": None, "{": " ", "}": " ", "|": " "})
_BOOLEANS = {"true": "yes", "false": "no"}


class Stripped(NamedTuple):
    """A text without its reasoning; ``open_reasoning`` if a block begins and never ends."""

    text: str
    open_reasoning: bool


def strip_reasoning(text: str) -> Stripped:
    """Drop reasoning blocks; what follows an unclosed one is no answer.

    A closing mark without an opening one (the template opened it in the prompt) makes everything
    before it reasoning.
    """
    if "<|channel|>" in text:
        _, found, final = text.rpartition(_FINAL_CHANNEL)
        return Stripped(final, False) if found else Stripped("", True)
    if "<" not in text and "[" not in text and "◁" not in text:
        return Stripped(text, False)
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING_TAG.finditer(text):
        if any(tag.groups()):
            if not inside:
                kept.clear()
            start, inside = tag.end(), False
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    if not inside:
        kept.append(text[start:])
    return Stripped("\n".join(kept) if len(kept) > 1 else "".join(kept), inside)


def strip_echo(output: str, prompt: str | None) -> str:
    """Drop what an output repeats of its prompt: all of it, or whole lines up to a question or its end."""
    if not prompt or len(output) < 12:
        return output
    start, asked = output.lstrip(), prompt.strip()
    if asked and start.startswith(asked):
        return start[len(asked) :]
    first = start[:_ECHO_CHARS].partition("\n")[0].strip()
    if len(first) < 8 or first not in asked[-_ECHO_CHARS:]:
        return output
    return _without_echoed_lines(start, asked) or output


def _without_echoed_lines(output: str, asked: str) -> str:
    lines, given = output.split("\n"), [line.strip() for line in asked[-_ECHO_CHARS:].split("\n")]
    last = 0
    starts = [at for at, line in enumerate(given) if line and line == lines[0].strip()]
    for first in starts[-20:]:
        run = 0
        while run < len(lines) and first + run < len(given) and lines[run].strip() == given[first + run]:
            run += 1
        ends_asking = lines[run - 1].rstrip().endswith(("?", ":"))
        last = max(last, run if first + run == len(given) or ends_asking else 0)
    return "\n".join(lines[last:]).strip()


def clip(text: str) -> str:
    """Beginning and end of a long text, with a paragraph break between."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n\n[...]\n\n" + text[-TAIL_CHARS:]


def fold(text: str) -> str:
    """Lower-case text in one letter form: NFKC, plain quotes, no invisible characters."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda power: "^" + power[0].translate(_PLAIN_DIGITS), text)
        text = _DECORATION.sub(" ", text)
        text = unicodedata.normalize("NFKC", text.translate(_LETTER_FORMS)).translate(_AFTER_FOLDING)
    return text.casefold()


def before_end_token(text: str) -> str:
    """Text up to the first end-of-turn token that follows anything; a leading one is dropped."""
    if "[/INST]" in text:
        asked, _, replied = text.partition("[/INST]")
        text = replied.partition("[INST]")[0] if not asked.strip() or "[INST]" in asked else asked
    if "<" not in text:
        return text
    start = 0
    text = _ROLE.sub("", text)
    for token in _END_TOKEN.finditer(text):
        if text[start : token.start()].strip():
            return text[start : token.start()]
        start = token.end()
    return text[start:]


def before_run_on(prepared: str) -> str | None:
    """A prepared text up to where it runs on into an invented question; None if it does not."""
    run_on = _RUN_ON.search(prepared)
    before = prepared[: run_on.start()].rstrip() if run_on else ""
    return before or None


def unfold(folded: str) -> str:
    """Unwrap markdown, LaTeX, HTML and JSON; answers in a wrapper get a marker such as ``boxed answer:``."""
    if not _NEEDS_UNFOLDING.search(folded):
        return folded
    text = html.unescape(folded) if "&" in folded else folded
    text = text.replace(" | ", "\n")
    if "```" in text:
        text = _FENCE.sub("", text)
        printed = _PRINTED.fullmatch(text.strip())
        text = printed[1] if printed else text
    text = _STAGE.sub("", text.replace("`", "'"))
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if "\\" in text or "$" in text:
        text = _FRACTION.sub(r"\1/\2", _LATEX_TEXT.sub(r"\1", text))
        text = _LATEX_MARK.sub(" ", _mark_boxed(text))
    if ":" in text and "{" in text:
        text = _JSON_ANSWER.sub(_mark_json, text)
    if "[x]" in text and "[ ]" in text:
        text = _CHECKED.sub("tagged answer: ", _UNCHECKED.sub("", text))
    if "<" in text or "[" in text:
        text = _BRACKETED_WORD.sub(r"\1", text)
        text = _HTML_TAG.sub(" ", _ANSWER_TAG.sub(lambda tag: "\n" if tag[1] else "\ntagged answer: ", text))
    text = _HASH_ANSWER.sub("final answer: ", text)
    return _LINE_MARK.sub("", text.translate(_EMPHASIS))


def _mark_json(found: re.Match[str]) -> str:
    negative, text, other, bare = found.groups()
    value = text if text is not None else other if other is not None else _BOOLEANS.get(bare, bare)
    if negative is not None:
        value = {"yes": "no", "no": "yes", "true": "no", "false": "yes"}.get(value.strip(), "")
    return f"\njson answer: {value.replace(chr(92) + 'n', ' ').strip()}\n"


def _mark_boxed(text: str) -> str:
    parts: list[str] = []
    at = 0
    for box in _BOXED.finditer(text):
        if box.start() < at:
            continue
        braced = box[0].endswith("{")
        end = _closing_brace(text, box.end()) if braced else text.find(" ", box.end())
        if end < 0:
            end = min(len(text), box.end() + 200)
        parts += [text[at : box.start()], "\nboxed answer: ", text[box.end() : end].strip(), "\n"]
        at = end + 1 if braced else end
    return "".join(parts) + text[at:] if parts else text


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for at in range(start, min(len(text), start + 400)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return -1


def prepare(text: str) -> str:
    """Folded, unwrapped text ready for the readers; takes text without reasoning blocks."""
    folded = fold(clip(before_end_token(text)))
    if len(folded) > 400:
        # Runs of blanks are what could make a pattern's cost more than linear; letter forms may expand.
        folded = clip(_BLANKS.sub(_one_blank, folded))
    return unfold(folded).strip()


def _one_blank(blanks: re.Match[str]) -> str:
    return "\n" * min(2, blanks[0].count("\n")) or " "
