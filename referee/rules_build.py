"""Find out whether the installed rules are compiled extension modules or pure Python."""

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import Literal

Build = Literal["compiled", "pure Python"]


def rules_build() -> Build:
    """Return the build of the rules that this Python imports (docs/how-to/install.md)."""
    spec = find_spec("referee.games.contract")
    compiled = spec is not None and (spec.origin or "").endswith(tuple(EXTENSION_SUFFIXES))
    return "compiled" if compiled else "pure Python"
