"""Replies in labelled fields: an explanation, and beside it a field for the answer."""

import re

from analysis.parsing.corrections import after_correction

_FIELD = re.compile(
    r"^[ \t]*(?:\(?\d[.)][ \t]*)?(?:(?P<reason>(?:brief |short |my )?(?:explanation|reason(?:ing)?|justification"
    r"|rationale"
    r"|analysis|thoughts?|thinking|chain of thought|evidence|comments?|notes?|confidence))"
    r"|(?P<answer>(?:(?:final|my|the|correct|overall) )*(?:answer|verdict|conclusion|decision|judge?ment|grade|label"
    r"|result)))[ \t]*:[ \t]*",
    re.MULTILINE,
)


def answer_field(text: str) -> str | None:
    """Content of the field for the answer, where a prepared text has such a field and one for an explanation.

    None without both, with two fields for answers of different content, and where the text corrects itself.
    """
    fields = list(_FIELD.finditer(text))
    if len(fields) < 2 or all(f["answer"] for f in fields) or text[: fields[0].start()].strip():
        return None
    ends = [f.start() for f in fields[1:]] + [len(text)]
    contents = {text[f.end() : end].strip() for f, end in zip(fields, ends, strict=True) if f["answer"]}
    if len(contents) != 1 or after_correction(text) is not None:
        return None
    return contents.pop()
