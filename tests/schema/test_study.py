"""``study.toml``: what is read, and what is refused."""

from pathlib import Path

import pytest

from analysis.errors import StudyError
from analysis.schema.coherence_settings import Coherence, IdentityEntry
from analysis.schema.external_settings import External
from analysis.schema.gate_settings import GATED
from analysis.schema.map_rules import MapRule
from analysis.schema.planning_settings import PlanningSettings
from analysis.schema.report_settings import DeclaredTable, Family
from analysis.schema.responses import CONDITIONS
from analysis.schema.study import Contrast, ModelEntry, Restriction, Study, find_study, load_study
from analysis.schema.study_keys import KEYS
from analysis.schema.vote_settings import Votes

FULL = """
[study]
name = "Operators"
kind = { "task a" = "judgement", b = "probability" }
target = "new_templates"
unit = "surface"
conditions = ["strategy", "voice"]
factors = "nationality"
weights = "template"
uncertain = "half"
exclude = { negation = ["not"], form = "x" }
unpaired_forms = "include"
pool_tasks = true
probability_scale = "percent"

[reading]
synonyms = { yes = ["true", "valid"], no = "false" }
verdicts = "correct"

[items]
file = "key.csv"

[map]
item = "doc.id"
surface = "s"
answer = { from = "pred", values = { correct = "yes", incorrect = "no" }, default = "" }
model = { value = "gpt" }
factor.x = "x"

[models."openai/gpt-4o"]
label = "GPT-4o"
size = 8

[[contrast]]
factor = "negation"
levels = ["prefix", "not"]
match = ["template"]

[[contrast]]
factor = "form"
levels = ["a", "b"]
where = { polarity = "affirmative" }

[factor.nationality]
baseline = "none"

[[restriction]]
name = "core"
keep = { validity = ["valid"] }
drop = { template = ["t1", "t2"] }

[[identity]]
name = "two states"
left = "target"
right = "sum(latent * conditional)"
relation = "<="
scale = "probability"

[coherence]
clip = 0.02

[votes]
tie = "no"
label_column = "meta.believable"
label_yes = "1"

[external]
file = "arena.csv"
model = "Model"
value = "Rank"
lower_is_better = true
names = { "openai/gpt-4o" = "GPT" }

[gate]
mode = "possible"
competence_floor = -0.02
balanced_accuracy = -0.02
accuracy = -0.03
answer_bias = 0.05
polarity_sensitivity = 0.05
uncertain_rate = 0.01

[planning]
smallest_effect = 0.03
smallest_log_odds = 0.2
power = 0.9

[[family]]
name = "floors"
tests = "floor_tests"
where = { alternative = ["greater"] }
method = "bonferroni"
[[table]]
name = "main"
title = "Main results"
columns = ["accuracy"]
rows = "topic"
headers = { accuracy = "Acc." }
model = "gpt"
task = "t"
source = "level_estimates"
order = "-accuracy"
digits = 3
intervals = false
number = "2"
label = "tab:main"
note = "A note."
[report]
primary = ["competence_floor"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(StudyError) as caught:
        load_study(written(folder, text))
    return caught.value.offenders


def test_every_key_reaches_the_study(tmp_path: Path) -> None:
    """Catches a key of the table that is checked and then dropped."""
    study = load_study(written(tmp_path, FULL))
    assert (study.name, study.target, study.unit, study.weights) == (
        "Operators",
        "new_templates",
        "surface",
        "template",
    )
    assert study.kind_of("task a") == "judgement"
    assert study.kind_of("other") is None
    assert study.conditions == ("strategy", "voice")
    assert study.factors == ("nationality",)
    assert (study.uncertain, study.unpaired_forms, study.pool_tasks) == ("half", "include", True)
    assert study.probability_scale == "percent"
    assert study.exclude == {"negation": ("not",), "form": ("x",)}
    assert study.reading.synonyms == {"yes": ("true", "valid", "correct"), "no": ("false", "incorrect")}
    assert study.items_file == "key.csv"
    assert study.models == {"openai/gpt-4o": ModelEntry("GPT-4o", None, 8)}
    assert study.label("openai/gpt-4o") == "GPT-4o"
    assert study.label("other/gpt-4o") == "other/gpt-4o"
    assert study.contrasts == (
        Contrast("negation", ("prefix", "not"), ("template",)),
        Contrast("form", ("a", "b"), where={"polarity": ("affirmative",)}),
    )
    assert study.baselines == {"nationality": "none"}
    assert study.restrictions == (Restriction("core", {"validity": ("valid",)}, {"template": ("t1", "t2")}),)
    entry = IdentityEntry("two states", "target", "sum(latent * conditional)", "<=", "probability")
    assert study.coherence == Coherence((entry,), 0.02)
    assert study.votes == Votes("no", "meta.believable", "1")
    assert study.external == External("arena.csv", "Model", "Rank", "", True, {"openai/gpt-4o": "GPT"})
    assert study.gate.mode == "possible"
    assert study.gate.thresholds["accuracy"] == -0.03
    assert set(study.gate.thresholds) == set(GATED)
    assert study.report.primary == ("competence_floor",)
    assert study.families == (Family("floors", ("floor_tests",), {"alternative": ("greater",)}, "bonferroni"),)
    headers = {"accuracy": "Acc."}
    assert study.tables == (
        DeclaredTable(
            "main", "Main results", ("accuracy",), "topic", headers, "gpt", "t", "level_estimates", "-accuracy",
            3, False, "2", "tab:main", "A note.",
        ),
    )  # fmt: skip
    assert study.planning == PlanningSettings(effect=0.03, log_odds=0.2, power=0.9)
    assert study.map["item"] == MapRule("doc.id")
    assert study.map["answer"].default == ""
    assert study.map["model"].constant == "gpt"
    assert study.map["factor.x"] == MapRule("x"), "an unquoted factor.x is one name, not a nested table"


def test_example_of_the_table_uses_every_key() -> None:
    """Catches a new key that the text above leaves out, and that no test reads therefore."""
    unused = {key.name for keys in KEYS.values() for key in keys if key.name not in FULL}
    assert unused == {"tables"}


def test_without_a_file_the_defaults_hold() -> None:
    study = load_study(None)
    assert study == Study()
    assert (study.target, study.weights, study.uncertain, study.conditions) == (
        "these",
        "micro",
        "incorrect",
        CONDITIONS,
    )
    assert not study.given


def test_given_tells_a_default_from_a_choice(tmp_path: Path) -> None:
    """Catches assumptions printed for what the user did declare."""
    study = load_study(written(tmp_path, '[study]\ntarget = "these"\n'))
    assert study.given == {"study.target"}


def test_all_problems_come_at_once_with_their_keys(tmp_path: Path) -> None:
    """Catches a loader that stops at the first problem."""
    found = problems(
        tmp_path,
        """
        [stdy]
        [study]
        nam = "x"
        kind = "judgment"
        tables = ["x"]
        pool_tasks = "yes"
        exclude = { a = [1] }
        conditions = [true]
        name = ""
        [map]
        itm = "x"
        item = { from = "a", value = "b", rgx = "c" }
        gold = { from = "a", regex = "(" }
        [models]
        x = 1
        [[contrast]]
        levels = ["a"]
        [report]
        primary = ["cel_floor"]
        """,
    )
    assert found == (
        '[stdy]: unknown section; did you mean "study"?',
        '[study] nam: unknown key; did you mean "name"?',
        "[study] kind: unknown value 'judgment'; did you mean \"judgement\"?",
        "[study] tables: unknown key; it belongs to [report]",
        "[study] pool_tasks: must be true or false, not a text ('yes')",
        "[study] exclude: must be a table of lists of texts, not a table",
        "[study] conditions: must be a list of texts, not a list",
        "[study] name: must be a text that is not empty, not a text ('')",
        '[models."x"]: must be a table, not a whole number (1)',
        "[[contrast]] 1: lacks 'factor', factor whose levels are compared",
        "[report] primary: unknown value 'cel_floor'; did you mean \"cell_floor\"?",
        '[map] itm: no column of the schema; did you mean "item"?; others are declared in [study], or named factor.x',
        '[map] item rgx: unknown key; did you mean "regex"?',
        "[map] item: needs either from (a column) or value (a constant)",
        "[map] gold regex: not a regular expression of RE2, which has no lookaround and no back references: "
        "missing ): (",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 1", "[kind]: unknown section"),
        ("study = 1", "[study]: must be a table, not a whole number (1)"),
        ("[[study]]", "[study]: must be a table, not a list"),
        ("models = 3", "[models]: must hold one table per name, not a whole number (3)"),
        ("[contrast]\nfactor = 'a'", "[[contrast]]: must be an array of tables (double brackets), not a table"),
        ("map = []", "[map]: must be a table, not a list"),
        ("[models.x]\nsize = nan", '[models."x"] size: must be a finite number, not a number (nan)'),
        ("[models.x]\nsize = true", '[models."x"] size: must be a finite number, not true or false (True)'),
        ("[reading]\nsynonyms = { yes = ['T'], no = ['t '] }", "[reading] synonyms: 't ' stands under two answers"),
        ("[map]\ngold = { value = 'x', values = { a = 'b' } }", "[map] gold: a constant takes no other key"),
        (
            "[map]\ngold = { from = 'x', values = { a = [] } }",
            "[map] gold values: must be a table of texts, not a table",
        ),
        ("[map]\ngold = { }", "[map] gold: needs either from (a column) or value (a constant)"),
        ("[map]\ngold = 3", "[map] gold: must be the name of a column or a table, not a whole number (3)"),
        (
            "[map]\nsurface = 'x'",
            'no column of the schema; did you mean "source"?; others are declared in [study], or named factor.x',
        ),
    ],
)
def test_wrong_shapes_are_named(tmp_path: Path, text: str, message: str) -> None:
    """Catches a traceback, or silence, for TOML of the wrong shape."""
    assert any(message in problem for problem in problems(tmp_path, text)), problems(tmp_path, text)


@pytest.mark.parametrize("content", [b"[study\n", b"x = yes\n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_what_is_not_toml_is_a_study_error(tmp_path: Path, content: bytes) -> None:
    """Catches a traceback from the parser; YAML habits (yes) get a hint at quotes."""
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(StudyError, match=r"study\.toml"):
        load_study(path)


def test_a_missing_file_is_a_study_error(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(tmp_path / "study.toml")


def test_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b'\xef\xbb\xbf[study]\r\nname = "x"\r\n')
    assert load_study(path).name == "x"


def test_study_beside_the_logs_is_found_and_two_are_refused(tmp_path: Path) -> None:
    """Catches the settings of one directory applied to another."""
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    (first / "log.csv").write_text("")
    assert find_study([first]) is None
    written(first, "")
    assert find_study([first / "log.csv", second]) == first / "study.toml"
    written(second, "")
    with pytest.raises(StudyError, match="--study"):
        find_study([first, second])


def test_study_further_down_is_used_only_where_it_holds_for_all_logs(tmp_path: Path) -> None:
    """Catches settings in logs/study/ that are passed over in silence when logs/ is named."""
    inner = tmp_path / "logs" / "study"
    (inner / "deep").mkdir(parents=True)
    (inner / "deep" / "log.csv").write_text("")
    (tmp_path / "logs" / "README.md").write_text("")
    written(inner, "")
    assert find_study([tmp_path / "logs"]) == inner / "study.toml"
    (tmp_path / "logs" / "other.csv").write_text("")
    with pytest.raises(StudyError, match=r"some of the logs only.*--study"):
        find_study([tmp_path / "logs"])
    written(tmp_path / "logs", "")
    assert find_study([tmp_path / "logs"]) == tmp_path / "logs" / "study.toml"


def test_two_studies_further_down_are_refused_and_one_named_twice_is_one(tmp_path: Path) -> None:
    """Catches one of two studies applied to the logs of both."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "")
    with pytest.raises(StudyError, match=r"a.study\.toml.*b.study\.toml.*--study"):
        find_study([tmp_path])
    assert find_study([tmp_path / "b" / ".." / "a", tmp_path / "a"]) is not None


def test_toml_nested_too_deeply_is_a_message(tmp_path: Path) -> None:
    """Catches a traceback out of the parser."""
    path = tmp_path / "study.toml"
    path.write_text("a = " + "[" * 20_000 + "]" * 20_000)
    with pytest.raises(StudyError, match=r"study\.toml: not valid TOML: nested too deeply"):
        load_study(path)
