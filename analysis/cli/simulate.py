"""``evenhand simulate``: logs of responders whose truth is known."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError

if TYPE_CHECKING:
    import numpy as np

    from analysis.simulation.latent_coherence import LatentCoherence
    from analysis.simulation.probability_operators import ProbabilityOperators
    from analysis.simulation.responders import Responder
    from analysis.simulation.yes_no import YesNo

STUDIES = ("probability-operators", "yes-no", "latent-coherence", "syllogisms")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "simulate",
        help="write logs of simulated responders with known truth",
        description="Write logs of simulated responders, one file per model, and what is true of them (truth.json). "
        "By default 8 models: 14,400 responses of each in the study probability-operators, 400 in yes-no; "
        "7 models in latent-coherence, 1,600 probabilities of each; 14 models in syllogisms, 160 questions under 12 "
        "configurations with up to 10 votes.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="new or empty directory")
    parser.add_argument("--study", choices=STUDIES, default=STUDIES[0], help="default: %(default)s")
    parser.add_argument("--models", type=int, metavar="M", help="draw M responders from a population (default: 8)")
    parser.add_argument("--responders", nargs="+", metavar="NAME", help="use these named responders instead")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv", "parquet", "votes"),
        help="default: jsonl; in syllogisms votes, the vote files of that design",
    )
    parser.add_argument("--answers", action="store_true", help="log the answers read, not the texts")
    parser.add_argument("--prompts", action="store_true", help="log the questions too (probability-operators)")
    parser.add_argument(
        "--long-share", type=float, default=0.9, help="share of answers with an explanation (default: 0.9)"
    )
    operators = parser.add_argument_group("probability-operators")
    operators.add_argument("--surfaces", type=int, metavar="S", default=80, help="surfaces per question (default: 80)")
    operators.add_argument("--valid", type=int, default=11, help="valid arguments (default and most: 11)")
    operators.add_argument("--invalid", type=int, default=4, help="invalid arguments (default and most: 4)")
    operators.add_argument("--forms", nargs="+", metavar="FORM", help="question forms (default: all five)")
    operators.add_argument("--no-not-forms", action="store_true", help="leave out the negated-only questions")
    operators.add_argument(
        "--omit-block", action="store_true", help="leave out one block: direct, negated, last valid argument"
    )
    plain = parser.add_argument_group("yes-no")
    plain.add_argument("--items", type=int, default=400, help="questions (default: 400)")
    plain.add_argument("--samples", type=int, default=1, help="responses to each question (default: 1)")
    latent = parser.add_argument_group("latent-coherence")
    latent.add_argument("--units", type=int, default=90, help="items with latent variables (default: 90)")
    latent.add_argument("--causal", type=int, default=5, help="causal items (default: 5)")
    latent.add_argument("--reworded", type=int, default=57, help="items asked in all wordings (default: 57)")
    latent.add_argument("--wordings", type=int, default=3, help="wordings (default: 3)")
    latent.add_argument("--identities", type=int, default=2, help="latent variables per item, 1 or 2 (default: 2)")
    latent.add_argument("--states", type=int, default=3, help="most states of a latent variable (default: 3)")
    latent.add_argument("--full-size", action="store_true", help="3,198 items in three wordings: 335,790 rows")
    syllogisms = parser.add_argument_group("syllogisms")
    syllogisms.add_argument("--base-items", type=int, default=40, help="base items in four versions (default: 40)")
    syllogisms.add_argument("--votes", type=int, default=10, help="most votes above temperature 0 (default: 10)")
    syllogisms.add_argument("--unreadable", type=float, default=0.0, help="rate of votes without answer (default: 0)")
    syllogisms.add_argument("--failed", type=float, default=0.0, help="rate of calls that failed (default: 0)")
    syllogisms.add_argument("--interrupted", type=int, default=0, help="configurations that end halfway (default: 0)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the logs and say what was written."""
    import numpy as np

    from analysis.new_folder import check_new_folder
    from analysis.simulation.latent_coherence import simulate_latent_coherence
    from analysis.simulation.probability_operators import simulate_probability_operators
    from analysis.simulation.write_logs import write_logs
    from analysis.simulation.yes_no import simulate_yes_no

    _check(args)
    check_new_folder(args.out)
    rng = np.random.default_rng(args.seed)
    if args.study == "syllogisms":
        return _syllogisms(args, rng)
    if args.study == "yes-no":
        logs = simulate_yes_no(rng, _yes_no_settings(args, rng))
    elif args.study == "latent-coherence":
        logs = simulate_latent_coherence(rng, _latent_settings(args))
    else:
        logs = simulate_probability_operators(rng, _operators_settings(args, rng))
    paths = write_logs(logs, args.out, fmt=args.format or "jsonl", seed=args.seed)
    print(f"{logs.rows:,} simulated responses of {len(paths)} models in {args.out}; what is true of them: truth.json")
    return 0


def _syllogisms(args: argparse.Namespace, rng: "np.random.Generator") -> int:
    from analysis.simulation.syllogisms import Syllogisms, as_schema_rows, simulate_syllogisms
    from analysis.simulation.vote_files import write_vote_files
    from analysis.simulation.write_logs import write_logs

    settings = Syllogisms(
        models=args.models or 14,
        base_items=args.base_items,
        votes=args.votes,
        unanimous=min(5, args.votes),
        unreadable=args.unreadable,
        failed=args.failed,
        interrupted=args.interrupted,
        long_share=args.long_share,
    )
    simulated = simulate_syllogisms(rng, settings)
    if args.format in (None, "votes"):
        paths = write_vote_files(simulated, args.out, seed=args.seed)
    else:
        paths = write_logs(as_schema_rows(simulated), args.out, fmt=args.format, seed=args.seed)
    votes = sum(int((model.votes >= 0).sum()) for model in simulated.models)
    print(
        f"{votes:,} simulated votes of {len(simulated.models)} models in {len(paths)} files in {args.out}; "
        "what is true of them: truth.json"
    )
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.models is not None and args.responders:
        raise AnalysisError("give --models (drawn responders) or --responders (named ones), not both")
    if args.format == "votes" and args.study != "syllogisms":
        raise AnalysisError("--format votes is that of --study syllogisms")
    if args.seed < 0:
        raise AnalysisError(f"--seed must not be negative, not {args.seed}")
    if not 0 <= args.long_share <= 1:
        raise AnalysisError(f"--long-share must lie in [0, 1], not {args.long_share}")


def _latent_settings(args: argparse.Namespace) -> "LatentCoherence":
    from analysis.simulation.latent_coherence import LatentCoherence, full_size
    from analysis.simulation.latent_responders import RESPONDERS, named_coherence_responders

    if args.models is not None:
        raise AnalysisError("latent-coherence has named responders only: give --responders, not --models")
    responders = named_coherence_responders(args.responders) if args.responders else RESPONDERS
    if args.full_size:
        return full_size(responders)
    return LatentCoherence(
        responders,
        units=args.units,
        causal=args.causal,
        reworded=min(args.reworded, args.units),
        wordings=args.wordings,
        identities=args.identities,
        states=args.states,
    )


def _responders(args: argparse.Namespace, rng: "np.random.Generator") -> "tuple[Responder, ...]":
    from analysis.simulation.responders import named_responders, responder_population

    if args.responders:
        return named_responders(args.responders)
    return responder_population(rng, 8 if args.models is None else args.models)


def _operators_settings(args: argparse.Namespace, rng: "np.random.Generator") -> "ProbabilityOperators":
    from analysis.simulation.operator_settings import model_sizes
    from analysis.simulation.probability_operators import ProbabilityOperators
    from analysis.simulation.probability_questions import FORMS

    responders = _responders(args, rng)
    return ProbabilityOperators(
        responders,
        sizes=() if args.responders else model_sizes(len(responders)),
        surfaces=args.surfaces,
        valid_templates=args.valid,
        invalid_templates=args.invalid,
        forms=tuple(args.forms or FORMS),
        not_forms=not args.no_not_forms,
        omit_block=args.omit_block,
        answers=args.answers,
        prompts=args.prompts,
        long_share=args.long_share,
    )


def _yes_no_settings(args: argparse.Namespace, rng: "np.random.Generator") -> "YesNo":
    from analysis.simulation.yes_no import YesNo

    return YesNo(
        _responders(args, rng), items=args.items, samples=args.samples, answers=args.answers, long_share=args.long_share
    )
