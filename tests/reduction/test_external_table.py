"""A table from elsewhere: exact names, unmatched ones named, and no file outside the study's directory."""

import pytest

from analysis.errors import StudyError
from analysis.reduction.external_table import external_values
from analysis.schema.external_settings import External

MODELS = ("org/alpha", "beta", "gamma")


@pytest.fixture
def read(tmp_path):
    def run(text: str, *, file: str = "arena.csv", **settings):
        folder = tmp_path / "study"
        folder.mkdir(exist_ok=True)
        (folder / "arena.csv").write_text(text)
        (tmp_path / "outside.csv").write_text(text)
        return external_values(External(file, "Model", "Rank", **settings), str(folder / "study.toml"), MODELS)

    return run


GOOD = 'Model,Rank\nAlpha,3\nbeta,"1,200"\nother,7\n'


def test_names_match_exactly_or_by_the_mapping(read):
    """Catches names matched by likeness, and unmatched ones lost in silence."""
    found = read(GOOD, names={"org/alpha": "Alpha"})
    assert found.values == {"org/alpha": 3, "beta": 1200}
    assert found.unmatched_models == ("gamma",)
    assert found.unmatched_names == ("other",)
    assert read(GOOD).values == {"beta": 1200}


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (GOOD, {"file": "../outside.csv"}, "outside the directory of study.toml"),
        (GOOD, {"file": "none.csv"}, "cannot be read"),
        ("Name,Rank\nx,1\n", {}, "no column 'Model'"),
        ("Model,Rank\nbeta,1\nbeta,2\n", {}, "arena.csv:3: 'beta' stands in two rows"),
        ("Model,Rank\nbeta,first\n", {}, "arena.csv:2: 'first' is no number"),
        ("Model,Rank\nbeta,nan\n", {}, "'nan' is no number"),
        (GOOD, {"names": {"org/alfa": "Alpha"}}, "no model 'org/alfa' in the logs"),
        (GOOD, {"names": {"org/alpha": "Alfa"}}, "no model 'Alfa' in the arena.csv"),
        (GOOD, {"names": {"org/alpha": "beta"}}, "several models stand for 'beta'"),
    ],
)
def test_what_cannot_be_meant_is_refused(read, text, settings, message):
    """Catches a guess in place of a message."""
    with pytest.raises(StudyError, match=message):
        read(text, **settings)
