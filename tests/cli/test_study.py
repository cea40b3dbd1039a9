"""Tests of ``evenhand study init`` as a user calls it."""

import argparse
import tomllib
from pathlib import Path

from analysis.cli import study


def call(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    study.add_parser(parser.add_subparsers())
    args = parser.parse_args(["study", *map(str, arguments)])
    return int(args.run(args))


def test_foreign_tables_get_candidates_and_no_settings(tmp_path):
    """Catches a refusal in the one case where a draft is needed, and a guess that becomes a setting."""
    (tmp_path / "t.csv").write_text("LLM,Question_ID,Response,Label,note\ng,1,Yes,yes,\n")
    assert call("init", tmp_path) == 0
    text = (tmp_path / "study.toml").read_text()
    for line in ('# model = "LLM"', '# item = "Question_ID"', '# output = "Response"', '# gold = "Label"'):
        assert line in text.splitlines()
    assert tomllib.loads(text)["map"] == {}


def test_logs_are_drafted_as_before(tmp_path):
    """Catches logs with a stray table beside them taken for foreign tables."""
    (tmp_path / "a.csv").write_text("model,item,output,gold\nm,1,Yes,yes\n")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    assert call("init", tmp_path) == 0
    assert 'kind = "judgement"' in (tmp_path / "study.toml").read_text()
