"""The JavaScript that tests run in pages."""

from pathlib import Path

FOLDER = Path(__file__).with_name("scripts")


def page_script(name: str) -> str:
    """Return the text of a script in the folder `scripts`."""
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8").strip()
