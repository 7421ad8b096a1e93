"""Sphinx settings of the documentation site: `make docs` writes it to build/docs.

The pages are the Markdown files of the repository as they stand; docs/index.md is where the site begins.
"""

import sys
from pathlib import Path

from verigym import __version__

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # generated, versions

project = "Verigym"
version = release = __version__
copyright = "the Verigym authors, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "generated"]

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/*/*.md",
    "deploy/*.md",
    "examples/typescript/*.md",
    "verifiers/*/cards/*.md",
]
exclude_patterns = [".*", "build", "dist", "runs", "results"]

myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]
# Cards begin at the second level of headings; traces and diagrams have no language that Pygments knows.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

default_role = "code"
smartquotes = False  # options begin with two hyphens
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "furo"
html_title = f"Verigym {__version__}"
html_extra_path = ["start"]
html_show_sourcelink = False
