"""Configuration of the documentation site; `scripts/docs` builds it."""

import re
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util import logging

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LINK = re.compile(r"\[([^]\n]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
sys.path[:0] = [str(ROOT), str(ROOT / "proto" / "gen"), str(ROOT / "sample_bots" / "python")]

project = "pokearena"
html_title = "pokearena"
html_theme = "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_numpy_docstring = False
default_role = "code"


def setup(app: Sphinx) -> None:
    """Turn links to files that are not on the site into text, after checking that they exist."""
    app.add_lexer("vectors", TextLexer)
    app.connect("source-read", _without_outside_links)


def _without_outside_links(app: Sphinx, name: str, source: list[str]) -> None:
    folder = (DOCS / name).parent

    def text(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(DOCS) and target.suffix == ".md":
            return link[0]
        if not target.exists():
            logging.getLogger(__name__).warning("%s does not exist", link[2], location=name)
        return f"{link[1]} (`{target.relative_to(ROOT)}`)" if link[1] != "" else link[0]

    source[0] = LINK.sub(text, source[0])
