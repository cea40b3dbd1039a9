"""The direction of imports: a stage knows the contracts and earlier stages, nothing else."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "analysis"
CONTRACTS = {"display", "errors", "arguments", "vocabulary", "provenance", "new_folder", "schema", "__version__"}
#: Stage -> earlier stages it may import besides the contracts.
ALLOWED = {
    "schema": set(),
    "importers": set(),
    "parsing": {"importers"},
    "reduction": {"importers", "parsing"},
    "measures": {"importers", "parsing", "reduction"},
    "frequentist": {"reduction", "measures"},
    "bayes": {"reduction", "measures"},
    "simulation": {"measures"},
    "comparison": {"reduction", "measures", "frequentist", "bayes"},
    "report": {"reduction", "measures", "frequentist", "bayes", "comparison"},
    "planning": {"reduction", "measures", "frequentist", "bayes", "comparison", "simulation"},
    "verification": {"importers", "parsing", "reduction", "measures", "frequentist", "bayes", "comparison", "planning"},
    "studies": {"reduction", "measures", "frequentist", "bayes", "comparison", "planning", "report"},
}
# The Python interface stands above everything but the command.
ALLOWED["api"] = set(ALLOWED)
ROOT_FILES = {"__init__", "__main__", "display", "errors", "arguments", "vocabulary", "provenance", "new_folder"}
#: Library -> stages that alone may import it.
CONFINED = {
    "pymc": {"bayes"},
    "nutpie": {"bayes"},
    "pytensor": {"bayes"},
    "arviz": {"bayes"},
    "matplotlib": {"report"},
    "pingouin": {"verification"},
}
FILES = sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """(module, line, whether at the top level) of every import statement of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names = [f"{base}.{alias.name}" for alias in node.names] if base == "analysis" else [base]
            found += [(name, node.lineno, id(node) in top) for name in names]
    return found


def stage_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else Path(parts[0]).stem


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_contracts_and_earlier_stages(path: Path) -> None:
    """Catches a stage that reaches forward or sideways (frequentist importing bayes, say)."""
    stage = stage_of(path)
    for module, line, top in imports(path):
        where = f"{path.relative_to(ROOT)}:{line} imports {module}"
        assert not module.startswith("."), f"{where}: imports are absolute"
        if stage == "__init__" and module == "analysis.api":
            continue  # for type checkers only: names are loaded at their first use
        library = module.split(".")[0]
        assert library not in CONFINED or stage in CONFINED[library], f"{where}: only in {CONFINED.get(library)}"
        if stage == "cli":
            continue
        assert top or library == "pingouin", f"{where}: imports stand at the top"
        if library != "analysis" or stage == "__main__":
            continue
        target = module.split(".")[1] if "." in module else "__init__"
        if stage in ROOT_FILES:
            assert target in CONTRACTS | {"__init__"}, f"{where}: a contract imports contracts only"
        else:
            assert target in CONTRACTS | ALLOWED[stage] | {stage}, f"{where}: a later or forbidden stage"


def test_every_stage_is_known() -> None:
    """Catches a folder or root file that the map of stages does not name (a new `utils`, say)."""
    stages = {p.name for p in ROOT.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert stages <= set(ALLOWED) | {"cli"}
    assert {p.stem for p in ROOT.glob("*.py")} <= ROOT_FILES
    banned = {"utils", "util", "helpers", "common", "base", "misc"}
    assert not [p for p in ROOT.rglob("*.py") if p.stem in banned]
