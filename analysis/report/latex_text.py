"""Text from logs as LaTeX source in ASCII that pdflatex and lualatex set alike."""

import re
import unicodedata

from analysis.report.escape import NEWLINE_SIGN, code_point

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    # After a row's end these would be read as the options of the line break.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_TEXT_SIGNS = r"""
¡ \textexclamdown ¢ \textcent £ \textsterling ¤ \textcurrency ¥ \textyen ¦ \textbrokenbar § \textsection
¨ \textasciidieresis © \textcopyright ª \textordfeminine « \guillemotleft ¬ \textlnot ® \textregistered
¯ \textasciimacron ° \textdegree ± \textpm ² \texttwosuperior ³ \textthreesuperior ´ \textasciiacute µ \textmu
¶ \textparagraph · \textperiodcentered ¹ \textonesuperior º \textordmasculine » \guillemotright
¼ \textonequarter ½ \textonehalf ¾ \textthreequarters ¿ \textquestiondown × \texttimes ÷ \textdiv
Þ \TH þ \th Ð \DH ð \dh ß \ss Æ \AE æ \ae Ø \O ø \o Å \AA å \aa ı \i Œ \OE œ \oe Ł \L ł \l
– \textendash — \textemdash ‘ \textquoteleft ’ \textquoteright “ \textquotedblleft ” \textquotedblright
‚ \quotesinglbase „ \quotedblbase ‹ \guilsinglleft › \guilsinglright • \textbullet € \texteuro
™ \texttrademark ‰ \textperthousand † \textdagger ‡ \textdaggerdbl
"""
_MATH_SIGNS = r"""
− - ≤ \leq ≥ \geq ≠ \neq ≈ \approx → \rightarrow ← \leftarrow ∞ \infty ∈ \in ∼ \sim √ \surd ′ {}^{\prime}
α \alpha β \beta γ \gamma δ \delta ε \varepsilon ζ \zeta η \eta θ \theta ι \iota κ \kappa λ \lambda μ \mu ν \nu
ξ \xi π \pi ρ \rho σ \sigma τ \tau υ \upsilon φ \varphi χ \chi ψ \psi ω \omega Γ \Gamma Δ \Delta Θ \Theta
Λ \Lambda Ξ \Xi Π \Pi Σ \Sigma Υ \Upsilon Φ \Phi Ψ \Psi Ω \Omega
"""
_ACCENTS = {
    "\u0300": ("`", "AEIOUaeiou"),
    "\u0301": ("'", "AEIOUYaeiouy"),
    "\u0302": ("^", "AEIOUaeiou"),
    "\u0303": ("~", "ANOano"),
    "\u0308": ('"', "AEIOUYaeiouy"),
    "\u030c": ("v", "CSZcsz"),
    "\u0327": ("c", "Cc"),
}


def _pairs(signs: str) -> list[tuple[str, str]]:
    words = signs.split()
    return list(zip(words[::2], words[1::2], strict=True))


_PIECES = (
    _ASCII
    | {char: f"{command}{{}}" for char, command in _pairs(_TEXT_SIGNS)}
    | {char: f"${command}$" for char, command in _pairs(_MATH_SIGNS)}
    | {"\n": r"\textsuperscript{N}\textsubscript{L}", NEWLINE_SIGN: r"\textsuperscript{N}\textsubscript{L}"}
    # Fonts differ in the width of their ellipsis.
    | {"\u00a0": "~", "\u2026": r".\kern.1em.\kern.1em."}
)
#: Pairs of neighbours that fonts would join to another character (``--`` to a dash).
_JOINED_FIRST, _JOINED_SECOND = frozenset("-,<>'`!?"), frozenset("-,<>'`")
_LONG_WORD = 20
#: After these a reader expects a long name to break.
_SIGNS = frozenset("/-_.:=,;|")
_CODE_POINT = r"\texttt{"


def _accented(char: str) -> str | None:
    base, *accents = tuple(unicodedata.normalize("NFD", char))
    if len(accents) != 1 or base not in _ACCENTS.get(accents[0], ("", ""))[1]:
        return None
    return f"\\{_ACCENTS[accents[0]][0]}{{{chr(92) + 'i' if base == 'i' else base}}}"


def _piece(char: str) -> str:
    if char in _PIECES:
        return _PIECES[char]
    if " " <= char <= "~":
        return char
    return _accented(char) or f"{_CODE_POINT}{_word(code_point(char))}}}"


def latex_width(text: str) -> int:
    """Characters that ``escape_latex(text)`` prints, code points in brackets counted in full."""
    return sum(len(code_point(c)) if _piece(c).startswith(_CODE_POINT) else 1 for c in text)


def escape_latex(text: str, *, breakable: bool = False) -> str:
    """Text as LaTeX source in ASCII, for a table cell, a caption or a paragraph.

    Every character is either typeset from a fixed table (ASCII, Latin-1, dashes and quotes, Greek and
    some signs through mathematics) or printed as its code point, so that both engines show the same;
    a line feed prints as a small NL. Needs T1 or a Unicode font encoding.

    Parameters
    ----------
    text : str
    breakable : bool
        Let words of more than 20 characters break at the end of a line, for paragraphs.
    """
    words = re.split("( +)", text)
    return "".join(_word(w, breakable=breakable) if w.strip(" ") else _spaces(w, text) for w in words)


def _spaces(part: str, text: str) -> str:
    # A space at either end, or after another, would vanish.
    return " " if part == " " and text.strip(" ") == text else "\\ " * len(part)


def _word(word: str, *, breakable: bool = False) -> str:
    breaks = _breaks(word) if breakable and latex_width(word) > _LONG_WORD else frozenset[int]()
    pieces = []
    for place, (before, char) in enumerate(zip(" " + word, word, strict=False)):
        if before in _JOINED_FIRST and char in _JOINED_SECOND:
            pieces.append(r"\kern0pt ")
        if place in breaks:
            pieces.append(r"\allowbreak{}")
        pieces.append(_piece(char))
    return "".join(pieces)


def _breaks(word: str) -> frozenset[int]:
    """Places before which a long word may break: after its own signs, and every four characters where it has none."""
    found: set[int] = set()
    start = 0
    for end in [*(at + 1 for at, char in enumerate(word) if char in _SIGNS), len(word)]:
        if latex_width(word[start:end]) > _LONG_WORD:
            found.update(range(start + 4, end, 4))
            found.update(at for at in range(start + 1, end) if _piece(word[at]).startswith(_CODE_POINT))
        found.add(end)
        start = end
    return frozenset(found - {0, len(word)})
