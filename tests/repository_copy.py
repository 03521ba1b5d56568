"""A copy of the repository to which a test adds a game.

The copy has its own protocol, so the published one contains no game of the tests.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).parent.parent
_PARTS = ("arena", "docs", "proto", "referee", "sample_bots/house", "sample_bots/python", "scripts")
_MODULE = """\
from google.protobuf import descriptor_pool
from google.protobuf.internal import builder
{imports}
DESCRIPTOR = descriptor_pool.Default().AddSerializedFile({data!r})
builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, {name!r}, globals())
"""


@dataclass(frozen=True)
class RepositoryCopy:
    """The copied packages, protocol, tests and scripts."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that imports the packages of the copy."""
        paths = (self.root, self.root / "proto" / "gen", self.root / "sample_bots" / "python")
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}

    def run(self, *words: str | Path, status: int = 0) -> str:
        """Run a program in the copy and return its output.

        Args:
            words: the program and its arguments; "python" is this interpreter.
            status: the expected exit status.
        """
        program = sys.executable if words[0] == "python" else words[0]
        done = subprocess.run(
            [program, *words[1:]],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def cli(self, *words: str | Path) -> str:
        """Run a command of the arena."""
        return self.run(
            "python", "-c", "from arena.cli import main; raise SystemExit(main())", *words
        )

    def generate(self) -> None:
        """Generate the Python code of the protocol, as scripts/generate does, without protoc."""
        image = self.root / "image.binpb"
        self.run(Path(sys.executable).with_name("buf"), "lint", "proto")
        self.run(Path(sys.executable).with_name("buf"), "build", "proto", "-o", image)
        files = FileDescriptorSet.FromString(image.read_bytes()).file
        for file in files:
            if not file.name.startswith("pokearena/"):
                continue
            imports = [_module_of(name) for name in file.dependency]
            file.ClearField("source_code_info")
            text = _MODULE.format(
                imports="".join(f"import {module}\n" for module in imports),
                data=file.SerializeToString(),
                name=_module_of(file.name),
            )
            path = self.root / "proto" / "gen" / file.name.replace(".proto", "_pb2.py")
            path.write_text(text, encoding="utf-8")


def _module_of(file: str) -> str:
    return file.replace(".proto", "_pb2").replace("/", ".")


def copied(root: Path) -> RepositoryCopy:
    """Copy the repository without its history, golden records and build output."""
    ignored = shutil.ignore_patterns("golden", "hostile", "decisions", "build")
    for part in (*_PARTS, "tests"):
        shutil.copytree(ROOT / part, root / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    return RepositoryCopy(root)
