"""The part of the page that says where the numbers come from, out of the manifest."""

from collections.abc import Mapping
from typing import Any, Final

from analysis.report.escape import escape_html

#: Files listed on the page; the manifest has them all.
MOST_FILES: Final = 200


def provenance_section(manifest: Mapping[str, Any]) -> str:
    """Row accounting, settings, seeds, versions and files read, as a section of the page; timings stay out.

    A page without timings is the same to the byte whenever input and settings are.
    """
    blocks = [
        _named("Rows", manifest.get("rows", {})),
        _named("Settings", manifest.get("settings", {})),
        _named("Seeds", manifest.get("seeds", {})),
        _named("Versions", _versions(manifest)),
        _inputs(manifest.get("inputs", [])),
    ]
    shown = "\n".join(block for block in blocks if block)
    return (
        '<section id="provenance" aria-labelledby="provenance-heading">\n'
        '<h2 id="provenance-heading">Provenance</h2>\n'
        "<p>The whole record, with a hash of every file read and written, is in "
        '<a href="manifest.json">manifest.json</a>.</p>\n'
        f"{shown}\n</section>"
    )


def _versions(manifest: Mapping[str, Any]) -> dict[str, Any]:
    system = {key: manifest[key] for key in ("python", "platform") if key in manifest}
    return {**manifest.get("versions", {}), **system}


def _named(title: str, values: Mapping[str, Any]) -> str:
    if not values:
        return ""
    terms = "".join(f"<dt>{escape_html(key)}</dt><dd>{escape_html(text)}</dd>" for key, text in _flat(values))
    return f"<details><summary>{title}</summary>\n<dl>{terms}</dl>\n</details>"


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Dotted names and printed values of a nested mapping."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{before}.{key}" if before else str(key)
        if isinstance(value, Mapping):
            lines += _flat(value, name)
        else:
            lines.append((name, _printed(value)))
    return lines


def _printed(value: Any) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(_printed(entry) for entry in value)
    return str(value)


def _inputs(inputs: list[Mapping[str, Any]]) -> str:
    if not inputs:
        return ""
    rows = "".join(
        f'<tr><td class="path">{escape_html(str(entry["path"]))}</td><td class="number">{entry["bytes"]:,}</td>'
        f"<td><code>{escape_html(str(entry['sha256'])[:16])}\u2026</code></td></tr>"
        for entry in inputs[:MOST_FILES]
    )
    more = len(inputs) - MOST_FILES
    rest = f'<p class="small">{more:,} more are listed in the manifest.</p>' if more > 0 else ""
    count = f"{len(inputs):,} file{'s' if len(inputs) > 1 else ''}"
    return (
        f"<details><summary>Files read ({count})</summary>\n"
        '<div class="scroll" role="region" aria-label="Files read" tabindex="0"><table>'
        '<thead><tr><th scope="col">file</th><th scope="col" class="number">bytes</th>'
        '<th scope="col">SHA-256</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{rest}\n</details>"
    )
