"""Shell completion, asked of the shells themselves."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.completion import SHELLS
from analysis.cli.main import COMMANDS, main
from tests.conftest import skip_or_fail

#: What each shell is told to print: its completions of a line, one each.
ASK = {
    "bash": """
source "$SCRIPT"
COMP_LINE="$LINE" COMP_POINT=${#LINE} COMP_TYPE=9
_python_argcomplete evenhand
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
compdef() { : }
_describe() { print -l -- "${completions[@]}" }
source "$SCRIPT"
BUFFER="$LINE" CURSOR=${#LINE} words=(evenhand)
_python_argcomplete
""",
    "fish": """
source "$SCRIPT"
complete -C "$LINE"
""",
}


def completions(shell: str, line: str, folder: Path) -> set[str]:
    """First word of everything that the shell offers for a line."""
    program = shutil.which(shell)
    if program is None:
        skip_or_fail(f"{shell} is not installed")
    script = folder / f"completion.{shell}"
    done = subprocess.run(
        [sys.executable, "-m", "analysis", "completion", shell], capture_output=True, text=True, check=True
    )
    script.write_text(done.stdout, encoding="utf-8")
    command = folder / "evenhand"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m analysis "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "LINE": line, "SCRIPT": str(script), "HOME": str(folder)}
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    asked = subprocess.run(
        [str(program), *quiet, "-c", ASK[shell]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return {text.split("\t")[0].split(":")[0].strip() for text in asked.stdout.splitlines() if text.strip()}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_commands_options_and_values(shell: str, tmp_path: Path) -> None:
    """Catches a script that a shell cannot run, and one that asks a program that does not answer."""
    assert completions(shell, "evenhand re", tmp_path) == {"report"}
    assert completions(shell, "evenhand report --no-b", tmp_path) == {"--no-bayes"}
    assert completions(shell, "evenhand report --uncertain ", tmp_path) >= {"incorrect", "excluded", "half"}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_the_tables_of_a_report(shell: str, tmp_path: Path) -> None:
    """Catches names of tables that are not offered, and of files that are no tables."""
    report = tmp_path / "r"
    report.mkdir()
    outputs = {name: {} for name in ("tables/cells.csv", "tables/classes.csv", "figures/cells.csv")}
    (report / "manifest.json").write_text(
        json.dumps({"format": "evenhand report", "format_version": 1, "outputs": outputs})
    )
    assert completions(shell, f"evenhand show {report} c", tmp_path) == {"cells", "classes"}


def test_every_command_is_offered(tmp_path: Path) -> None:
    """Catches a command that completion does not know."""
    offered = completions("bash", "evenhand ", tmp_path)
    names = {"import" if name == "import_logs" else name.replace("_", "-") for name in COMMANDS}
    assert names <= offered


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a script of another shell given out as that of this one."""
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "tcsh"])
    assert stopped.value.code == 2
    assert "bash" in capsys.readouterr().err
