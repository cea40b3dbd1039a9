"""``evenhand schema``: the standard schema as a table or as JSON Schema."""

import argparse
import json


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("schema", help="print the columns that logs are brought to")
    parser.add_argument("--json", action="store_true", help="as JSON Schema of one row, for programs")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    from analysis.schema.describe import json_schema, schema_table

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False) if args.json else schema_table())
    return 0
