"""Sources that the methods of a report cite, by key."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from analysis.errors import AnalysisError

_CITED = re.compile(r"\s?\[@([a-z0-9]+(?:; ?@[a-z0-9]+)*)\]")


@dataclass(frozen=True, slots=True)
class Reference:
    """An article, or without a volume a book, whose ``journal`` is the publisher; names as BibTeX has them."""

    authors: str
    year: int
    title: str
    journal: str
    volume: str = ""
    pages: str = ""
    doi: str = ""

    @property
    def short(self) -> str:
        """Author and year as cited in prose."""
        names = [name.split(",")[0] for name in self.authors.split(" and ")]
        who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
        return f"{who} {self.year}"


REFERENCES: Final[dict[str, Reference]] = {
    "wilson1927": Reference(
        "Wilson, Edwin B.",
        1927,
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association",
        "22",
        "209--212",
        "10.1080/01621459.1927.10502953",
    ),
    "bell2002": Reference(
        "Bell, Robert M. and McCaffrey, Daniel F.",
        2002,
        "Bias reduction in standard errors for linear regression with multi-stage samples",
        "Survey Methodology",
        "28",
        "169--181",
    ),
    "donner1993": Reference(
        "Donner, Allan and Klar, Neil",
        1993,
        "Confidence interval construction for effect measures arising from cluster randomization trials",
        "Journal of Clinical Epidemiology",
        "46",
        "123--131",
        "10.1016/0895-4356(93)90050-B",
    ),
    "zou2008": Reference(
        "Zou, Guang Yong and Donner, Allan",
        2008,
        "Construction of confidence limits about effect measures: a general approach",
        "Statistics in Medicine",
        "27",
        "1693--1702",
        "10.1002/sim.3095",
    ),
    "berger1982": Reference(
        "Berger, Roger L.",
        1982,
        "Multiparameter hypothesis testing and acceptance sampling",
        "Technometrics",
        "24",
        "295--300",
        "10.1080/00401706.1982.10487790",
    ),
    "holm1979": Reference(
        "Holm, Sture",
        1979,
        "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics",
        "6",
        "65--70",
    ),
    "hautus1995": Reference(
        "Hautus, Michael J.",
        1995,
        "Corrections for extreme proportions and their biasing effects on estimated values of d'",
        "Behavior Research Methods, Instruments, and Computers",
        "27",
        "46--51",
        "10.3758/BF03203619",
    ),
    "fay1979": Reference(
        "Fay, Robert E. and Herriot, Roger A.",
        1979,
        "Estimates of income for small places: an application of James-Stein procedures to census data",
        "Journal of the American Statistical Association",
        "74",
        "269--277",
        "10.1080/01621459.1979.10482505",
    ),
    "vehtari2021": Reference(
        "Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and Carpenter, Bob and Burkner, Paul-Christian",
        2021,
        "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC",
        "Bayesian Analysis",
        "16",
        "667--718",
        "10.1214/20-BA1221",
    ),
    "hoffman2014": Reference(
        "Hoffman, Matthew D. and Gelman, Andrew",
        2014,
        "The No-U-Turn sampler: adaptively setting path lengths in Hamiltonian Monte Carlo",
        "Journal of Machine Learning Research",
        "15",
        "1593--1623",
    ),
    "pymc2023": Reference(
        "Abril-Pla, Oriol and others",
        2023,
        "PyMC: a modern, and comprehensive probabilistic programming framework in Python",
        "PeerJ Computer Science",
        "9",
        "e1516",
        "10.7717/peerj-cs.1516",
    ),
    "kallioinen2024": Reference(
        "Kallioinen, Noa and Paananen, Topi and Burkner, Paul-Christian and Vehtari, Aki",
        2024,
        "Detecting and diagnosing prior and likelihood sensitivity with power-scaling",
        "Statistics and Computing",
        "34",
        "57",
        "10.1007/s11222-023-10366-5",
    ),
    "mcnemar1947": Reference(
        "McNemar, Quinn",
        1947,
        "Note on the sampling error of the difference between correlated proportions or percentages",
        "Psychometrika",
        "12",
        "153--157",
        "10.1007/BF02295996",
    ),
    "obuchowski1998": Reference(
        "Obuchowski, Nancy A.",
        1998,
        "On the comparison of correlated proportions for clustered data",
        "Statistics in Medicine",
        "17",
        "1495--1507",
    ),
    "phipson2010": Reference(
        "Phipson, Belinda and Smyth, Gordon K.",
        2010,
        "Permutation p-values should never be zero: calculating exact p-values when permutations are randomly drawn",
        "Statistical Applications in Genetics and Molecular Biology",
        "9",
        "39",
        "10.2202/1544-6115.1585",
    ),
    "efron1993": Reference(
        "Efron, Bradley and Tibshirani, Robert J.", 1993, "An Introduction to the Bootstrap", "Chapman and Hall"
    ),
    "krippendorff2019": Reference(
        "Krippendorff, Klaus",
        2019,
        "Content Analysis: An Introduction to Its Methodology, 4th edition",
        "Sage",
        doi="10.4135/9781071878781",
    ),
    "fleiss1971": Reference(
        "Fleiss, Joseph L.",
        1971,
        "Measuring nominal scale agreement among many raters",
        "Psychological Bulletin",
        "76",
        "378--382",
        "10.1037/h0031619",
    ),
    "schuirmann1987": Reference(
        "Schuirmann, Donald J.",
        1987,
        "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of "
        "average bioavailability",
        "Journal of Pharmacokinetics and Biopharmaceutics",
        "15",
        "657--680",
        "10.1007/BF01068419",
    ),
    "friedman1937": Reference(
        "Friedman, Milton",
        1937,
        "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
        "Journal of the American Statistical Association",
        "32",
        "675--701",
        "10.1080/01621459.1937.10503522",
    ),
    "wilcoxon1945": Reference(
        "Wilcoxon, Frank",
        1945,
        "Individual comparisons by ranking methods",
        "Biometrics Bulletin",
        "1",
        "80--83",
        "10.2307/3001968",
    ),
}


def cited_keys(sentences: Iterable[str]) -> tuple[str, ...]:
    """Keys cited in sentences, each once, in alphabetical order; an unknown key is an error."""
    keys = {key for said in sentences for found in _CITED.finditer(said) for key in _keys(found)}
    if unknown := sorted(keys - REFERENCES.keys()):
        raise AnalysisError(f"methods cite {unknown[0]!r}, which report.references lacks", offenders=unknown)
    return tuple(sorted(keys))


def split_citations(sentence: str) -> list[tuple[str, tuple[str, ...]]]:
    """The sentence cut at its citations: each piece of text with the keys cited after it."""
    pieces, at = [], 0
    for found in _CITED.finditer(sentence):
        pieces.append((sentence[at : found.start()], _keys(found)))
        at = found.end()
    return [*pieces, (sentence[at:], ())]


def with_short_citations(sentence: str) -> str:
    """The sentence with author and year in round brackets, for text without a list of references."""
    return "".join(
        text + (f" ({'; '.join(REFERENCES[key].short for key in keys)})" if keys else "")
        for text, keys in split_citations(sentence)
    )


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX entries in ASCII."""
    return "\n".join(_entry(key, REFERENCES[key]) for key in keys)


def _keys(found: re.Match[str]) -> tuple[str, ...]:
    return tuple(part.strip().lstrip("@") for part in found[1].split(";"))


def _entry(key: str, reference: Reference) -> str:
    kind, place = ("article", "journal") if reference.volume else ("book", "publisher")
    fields = {
        "author": reference.authors,
        "year": str(reference.year),
        "title": f"{{{reference.title}}}",
        place: reference.journal,
        "volume": reference.volume,
        "pages": reference.pages,
        "doi": reference.doi,
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}}}\n"
