"""Names under which models are printed: two models of one name could not be told apart."""

import duckdb

from analysis.errors import StudyError
from analysis.schema.quoting import shown
from analysis.schema.study import Study


def check_labels(con: duckdb.DuckDBPyConnection, study: Study) -> None:
    """Refuse labels that give two logged models one printed name.

    Raises
    ------
    StudyError
        Models share a label, or a label is the name of another model; all of them in one message.
    """
    rows = con.execute("SELECT DISTINCT model FROM responses WHERE model IS NOT NULL ORDER BY 1").fetchall()
    by_name: dict[str, list[str]] = {}
    for (model,) in rows:
        by_name.setdefault(study.label(model), []).append(model)
    problems = [
        f"{' and '.join(map(shown, models))} are both printed as {shown(name)}"
        for name, models in by_name.items()
        if len(models) > 1
    ]
    if problems:
        raise StudyError(
            f"{study.path}: [models] gives several models one label: {'; '.join(problems)}; "
            "give each a label of its own (models are never merged)",
            offenders=problems,
        )
