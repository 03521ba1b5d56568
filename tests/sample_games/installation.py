"""Install packages with games into a folder of sys.path, as pip does, with changes."""

import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_games"
TIC_TAC_TOE = Path(__file__).parent / "tic_tac_toe"
"""A game without chance whose positions cannot be made from views."""


def install_package(folder: Path, source: Path, changes: Mapping[str, str] | None = None) -> str:
    """Install a package; return its name.

    Args:
        folder: a folder of sys.path.
        source: the folder of the package, which has the name of the module.
        changes: replacements of texts, each of which occurs once in the files of the package.
    """
    name = source.name
    shutil.copytree(source / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for old, new in (changes or {}).items():
        files = [path for path in (folder / name).glob("*.py") if old in path.read_text("utf-8")]
        assert len(files) == 1, (old, files)
        text = files[0].read_text("utf-8")
        assert text.count(old) == 1, old
        files[0].write_text(text.replace(old, new), "utf-8")
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    package, version = project["name"], project["version"]
    metadata = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", "utf-8"
    )
    points = project["entry-points"]["pokearena.games"].items()
    lines = [f"{game} = {value}" for game, value in points]
    (metadata / "entry_points.txt").write_text("\n".join(("[pokearena.games]", *lines)), "utf-8")
    return str(package)
