"""Wheel and source distribution: complete, and usable outside of the repository."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import analysis

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


def tracked() -> list[str]:
    """Files that belong to the project: those that Git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted(name for name in found if name and (ROOT / name).is_file())


def built(kind: str, source: Path, folder: Path) -> Path:
    """A distribution, by the backend that pyproject.toml names, without the network."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Source distribution of a copy of the repository."""
    folder = tmp_path_factory.mktemp("distributions")
    for name in tracked():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / "source" / name)
    return built("sdist", folder / "source", folder / "dist")


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """Wheel made from the source distribution alone."""
    with tarfile.open(sdist) as archive:
        archive.extractall(sdist.parent / "unpacked", filter="data")
    (source,) = (sdist.parent / "unpacked").iterdir()
    return built("wheel", source, sdist.parent)


@pytest.fixture(scope="module")
def evenhand(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment of its own, which holds the wheel and sees the locked packages."""
    home = tmp_path_factory.mktemp("environment") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=120)
    python = home / "bin" / "python"
    install = ["install", "--no-index", "--no-deps", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True, timeout=300)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = home / "lib" / version / "site-packages"
    # A path alone: .pth files of the locked environment, and with them its editable install, are not read.
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin" / "evenhand"


def ran(*command: str | Path, cwd: Path) -> str:
    """Output of a command outside of the repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_the_package_and_what_it_reads(wheel: Path) -> None:
    """Catches a module, a style sheet or a declaration that pyproject.toml forgets, and tests or logs that it ships."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
    held = {name for name in names if ".dist-info/" not in name}
    assert held == {name for name in tracked() if name.startswith("analysis/")}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert f"Version: {analysis.__version__}\n" in metadata
    assert "License-Expression: BSD-3-Clause\n" in metadata


def test_the_source_distribution_holds_what_the_repository_holds(sdist: Path) -> None:
    """Catches a source distribution whose tests, pages or legal files are missing."""
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    own = (".gitignore", ".ci/", ".github/")
    assert [name for name in tracked() if name not in names and not name.startswith(own)] == []
    for name in ("LICENSE", "CITATION.cff", "CHANGELOG.md", "README.md", "requirements.lock"):
        assert name in names


def test_an_installed_wheel_runs_outside_of_the_repository(evenhand: Path, tmp_path: Path) -> None:
    """Catches a package that works in its repository alone: an import of a test, a file read beside the sources."""
    where = "import analysis; print(analysis.__file__)"
    assert Path(ran(evenhand.parent / "python", "-c", where, cwd=tmp_path).strip()).is_relative_to(evenhand.parents[1])
    assert ran(evenhand, "--version", cwd=tmp_path) == f"evenhand {analysis.__version__}\n"
    ran(evenhand, "simulate", "logs", "--study", "yes-no", "--items", "40", "--models", "2", cwd=tmp_path)
    said = ran(evenhand, "report", "logs", "--no-bayes", "--no-pdf", "--out", "out", cwd=tmp_path)
    assert "80 responses read" in said
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assets = ROOT / "analysis" / "report" / "assets"
    assert (assets / "page.css").read_text(encoding="utf-8").strip().splitlines()[0] in page
    assert "Answer bias" in ran(evenhand, "show", "out", "cells_yes_no", cwd=tmp_path).replace(
        "answer bias", "Answer bias"
    )


def test_declarations_of_printed_tables_come_along(evenhand: Path, tmp_path: Path) -> None:
    """Catches `check-tables` without its declarations."""
    code = "from analysis.verification.printed_declarations import shipped_declarations as s; print(len(s().tables))"
    assert int(ran(evenhand.parent / "python", "-c", code, cwd=tmp_path)) > 1


def test_versions_are_one() -> None:
    """Catches a release whose citation or changelog is that of another version."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {analysis.__version__}\n" in citation
    assert f"## {analysis.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
