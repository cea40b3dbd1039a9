"""What a report leaves out where the benchmark is the whole population and nothing is inferred."""

from collections.abc import Sequence

from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign


def census_limits(designs: Sequence[TaskDesign], study: Study) -> tuple[str, ...]:
    """One sentence that names the tested parts which the tasks of a census would otherwise have; none without one."""
    tasks = [design for design in designs if design.target == "census"]
    judged = [design for design in tasks if design.cells is not None]
    left_out = {
        "tests of the floor": bool(judged),
        "comparisons of models": any(design.n_models > 1 for design in judged),
        "levels of factors": any(len(levels) > 1 for design in tasks for levels in design.item_factors.values()),
        "paired contrasts": bool(tasks and study.contrasts),
        "templates": any(len(design.item_factors.get("template", ())) > 1 for design in judged),
        "floors on parts of the items": any(design.cells == "validity_polarity" for design in judged)
        or bool(judged and study.restrictions),
        "correlations of measures over models": any(design.n_models > 2 for design in judged),
        "token probabilities where known": bool(judged),
        "position bias": any(design.kind == "choice" for design in tasks),
    }
    names = [name for name, there in left_out.items() if there]
    if not names:
        return ()
    return (
        "The benchmark is taken as the whole population (target = census): values have no intervals, and what rests on "
        f"tests is left out ({', '.join(names)}).",
    )
