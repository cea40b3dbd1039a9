"""The reference of the command line, from the definitions of its arguments."""

import argparse
import textwrap
from collections.abc import Iterator

from analysis.cli.main import build_parser


def command_reference() -> str:
    """Markdown: one section per command with its usage and a table of its arguments."""
    return "\n".join(_sections(build_parser()))


def _sections(parser: argparse.ArgumentParser) -> Iterator[str]:
    for help_text, command in _commands(parser):
        yield f"## `{command.prog}`\n"
        yield f"{_sentence(command.description or help_text)}\n"
        inner = list(_commands(command))
        if not inner:
            yield from _arguments(command)
        for action_help, action in inner:
            yield f"### `{action.prog}`\n"
            yield f"{_sentence(action.description or action_help)}\n"
            yield from _arguments(action)
        if command.epilog:
            yield f"{_sentence(command.epilog)}\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            said = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield said.get(name, ""), command


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    lines = textwrap.wrap(usage, 88, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    yield "```text\n" + "\n".join(lines) + "\n```\n"
    own, rest = [], []
    for group in parser._action_groups:
        actions = [a for a in group._group_actions if a.help != argparse.SUPPRESS and a.dest != "help"]
        if group.title in ("positional arguments", "options"):
            own += actions
        elif actions:
            rest.append((group.title, actions))
    for title, actions in [("", own), *rest]:
        if title:
            yield f"Options of {title}:\n"
        if actions:
            yield "| argument | meaning |\n|---|---|"
            yield from (f"| {_name(action)} | {_meaning(parser, action)} |" for action in actions)
            yield ""


def _name(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else None
    if not action.option_strings:
        return f"`{value or action.dest}`"
    if action.nargs == 0:
        value = ""
    elif value is None:
        value = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    return ", ".join(f"`{option} {value}".rstrip().replace("|", "\\|") + "`" for option in action.option_strings)


def _meaning(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    said = (action.help or "") % {**vars(action), "prog": parser.prog} if action.help else ""
    named = f" (one of {', '.join(f'`{c}`' for c in action.choices)})" if action.choices and action.metavar else ""
    return (said + named).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _sentence(text: str) -> str:
    text = text.strip().replace("<", "&lt;")
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
