"""Parts of the documentation that are made from the program: its commands and the evidence for its methods.

``{commands}`` and ``{evidence}`` stand in a page for what is generated there, so that it cannot fall behind the code.
"""

from collections.abc import Callable

from command_reference import command_reference
from docutils import nodes
from evidence_tables import evidence_tables
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def _directive(written: Callable[[], str]) -> type[SphinxDirective]:
    class Generated(SphinxDirective):
        has_content = False

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            return self.parse_text_to_nodes(written(), allow_section_headings=True)

    return Generated


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("commands", _directive(command_reference))
    app.add_directive("evidence", _directive(evidence_tables))
    return {"parallel_read_safe": True}
