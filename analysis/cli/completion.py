"""``evenhand completion``: the script that makes a shell complete commands, options and names of tables."""

import argparse

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("completion", help="print the script by which a shell completes evenhand")
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script; the shell asks ``evenhand`` itself what completes a line."""
    import argcomplete

    print(argcomplete.shellcode(["evenhand"], shell=args.shell))
    return 0


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """Where a shell asks what completes its line, say so and end; otherwise do nothing."""
    import argcomplete

    argcomplete.autocomplete(parser, always_complete_options=False)
