"""Settings of the documentation site (``make docs``)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "extensions"))

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import analysis

project = "Evenhand"
author = "The Evenhand developers"
copyright = "The Evenhand developers, BSD-3-Clause"
release = version = analysis.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "generated_pages"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["extensions"]
myst_heading_anchors = 3
napoleon_google_docstring = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

# The theme that comes with Sphinx; nothing is loaded from the network when a page is read.
lexers["csv"] = TextLexer()
html_theme = "alabaster"
html_theme_options = {
    "description": "Statistics over response logs of language models",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "240px",
    "show_powered_by": False,
}
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_sourcelink = False
html_copy_source = False
