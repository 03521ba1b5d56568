"""Hook of the wheel's build: adds the Python kit, and compiles the rules on request.

The modules of the kit are not in a package, because hosted bots import them so. An editable
installation finds the kit in its folder and gets no copy.

With ``POKEARENA_COMPILE=1`` the wheel also contains extension modules, made by Cython from the same
Python source (docs/decisions/2026-11-25-compiled-build.md). Python prefers an extension module to
the ``.py`` file beside it, which stays in the wheel for tracebacks and readers.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KIT = ("pokearena_bot.py", "pokearena_server.py")
"""Modules of the Python kit, in ``sample_bots/python``."""
CYTHON = "cython>=3.3,<3.4"

COMPILED = ("referee/game_codec.py", "referee/games/contract.py", "referee/games/*/*.py")
"""Modules in which a decision takes most of its time."""
INTERPRETED = {"__init__", "actions", "coded_errors", "from_view"}
"""Modules of the games without code that a decision runs often."""
DIRECTIVES = ("language_level=3", "annotation_typing=False")
"""Annotations do not become C types, because Cython's types refuse subclasses."""


class WheelHook(BuildHookInterface):  # type: ignore[misc]
    """Runs before and after a wheel is built."""

    def dependencies(self) -> list[str]:
        """Return the build requirements: a compiled build needs Cython."""
        return [CYTHON] if _compiled_build() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kit, and the extension modules of a compiled build, if not editable."""
        if version != "standard":
            return
        for module in KIT:
            build_data["force_include"][f"sample_bots/python/{module}"] = module
        if _compiled_build():
            self._folder = tempfile.TemporaryDirectory()
            build_data["force_include"].update(compile_modules(Path(self.root), self._folder.name))
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the files of the compiler."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _compiled_build() -> bool:
    return os.environ.get("POKEARENA_COMPILE", "") not in ("", "0")


def compile_modules(root: Path, folder: str) -> dict[str, str]:
    """Compile the modules, one per core at a time.

    Args:
        root: the folder of the project.
        folder: where the C files and the extension modules are written.

    Returns:
        The path in the wheel of each extension module, by its path on disk.
    """
    sources = list(_sources(root))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        modules = list(pool.map(lambda source: _compile(root, source, Path(folder)), sources))
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return {
        str(module): str(source.with_suffix(suffix))
        for module, source in zip(modules, sources, strict=True)
    }


def _sources(root: Path) -> Iterator[Path]:
    """Yield the modules to compile, relative to the project."""
    for pattern in COMPILED:
        for path in sorted(root.glob(pattern)):
            if path.stem not in INTERPRETED:
                yield path.relative_to(root)


def _compile(root: Path, source: Path, folder: Path) -> Path:
    """Compile one module and return the path of its extension module."""
    name = ".".join(source.with_suffix("").parts)
    code, module = folder / f"{name}.c", folder / f"{name}.so"
    directives = [word for directive in DIRECTIVES for word in ("-X", directive)]
    cython = (sys.executable, "-m", "cython", *directives, "--module-name", name)
    _run(*cython, source, "-o", code, cwd=root)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = shlex.split(os.environ.get("CFLAGS", "-O2"))
    include = sysconfig.get_path("include")
    _run(*compiler, *options, "-fwrapv", "-fPIC", "-shared", "-I", include, code, "-o", module)
    return module


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"POKEARENA_COMPILE requires a C compiler, but {command[0]} is not installed. "
            "Install gcc, or name another compiler in CC."
        ) from None
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
