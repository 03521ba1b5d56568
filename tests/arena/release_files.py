"""Write the files of this release that later releases must read: `scripts/release-files [--check]`.

They are in tests/golden/earlier/VERSION:

    protocol.binpb   the protocol, for `buf breaking`
    arena.tar.gz     a data folder with a closed and an unfinished tournament and a local match
    bundle/          the bundle of the closed tournament
    standings.json   its standings
    expected.json    the ids of the tournaments and of a match
"""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from arena.store import database
from tests import tar_files
from tests.arena.cli.terminal import POKEARENA, in_own_process

ROOT = Path(__file__).parents[2]
EARLIER = ROOT / "tests" / "golden" / "earlier"
BUF = Path(sys.executable).with_name("buf")
CYCLES = 4
"""Enough that the tournament is unfinished when the command is interrupted."""
LEFT_OUT = ("logs", "arena.db-", "running.json", "sockets.")
"""Files of the data folder that only the machine that wrote them uses."""


def main(words: list[str]) -> int:
    """Replace the files of this version, or check that they have the present formats."""
    version = metadata.version("pokearena")
    target = EARLIER / version
    if words == ["--check"]:
        return check(target)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = folder / version
        written.mkdir()
        (written / "protocol.binpb").write_bytes(protocol())
        play(folder, written)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(written, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target.relative_to(ROOT)}: {size:,} bytes")
    return 0


def check(release: Path) -> int:
    """Return 1 if the protocol or the database has changed since these files were written."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(release / "arena.tar.gz") as archive:
            tar_files.extract_all(archive, Path(folder))
        with contextlib.closing(sqlite3.connect(Path(folder) / "arena.db")) as store:
            ((migration,),) = store.execute("SELECT version_num FROM alembic_version")
    changed = {
        "protocol": (release / "protocol.binpb").read_bytes() != protocol(),
        "database": migration != database.HEAD,
    }
    for name in (name for name, differs in changed.items() if differs):
        print(f"The {name} has changed since the files of {release.name} were written.")
    return int(any(changed.values()))


def protocol() -> bytes:
    """Return the descriptors of the protocol, without comments."""
    done = subprocess.run(
        [BUF, "build", ROOT / "proto", "--exclude-source-info", "-o", "-#format=binpb"],
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout


def play(folder: Path, written: Path) -> None:
    """Play two tournaments and a local match in a folder, and write the files of the arena.

    The bots are copies of two starter kits, so that later releases play programs with the protocol
    of this release, and a house bot.
    """
    run(folder, "new", "kit")
    run(folder, "new", "lines", "--lang", "shell")
    run(folder, "owner", "add", "ada")
    run(folder, "bot", "add", "kit", "--owner", "ada")
    bots = ("kit", "lines", "sample:greedy")
    closed = run(
        folder, "tournament", "run", "poke", *bots, "-n", "1", "--seed", "release", "--json"
    )
    local = run(folder, "play", "poke", *bots[:2], "--seed", "release", "--json")
    interrupted(folder, ("saint_poker", *bots, "-n", "1", "--seed", "release"))
    closed_id, open_id = (row["tournament"] for row in tournaments(folder))
    assert json.loads(closed)["tournament"] == closed_id
    run(folder, "tournament", "bundle", closed_id, "--output", "bundle")
    shutil.copytree(folder / "bundle", written / "bundle")
    match = min(path.stem for path in (folder / "bundle" / "matches").iterdir())
    expected = {
        "closed": closed_id,
        "open": open_id,
        "match": match,
        "local_match": json.loads(local)["match"],
    }
    (written / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")
    standings = run(folder, "standings", "--tournament", closed_id, "--json")
    (written / "standings.json").write_text(standings, encoding="utf-8")
    with contextlib.closing(sqlite3.connect(folder / ".pokearena" / "arena.db")) as store:
        # Copies the whole write-ahead log into the database.
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with tarfile.open(written / "arena.tar.gz", "w:gz") as archive:
        for path in sorted((folder / ".pokearena").iterdir()):
            if not path.name.startswith(LEFT_OUT):
                archive.add(path, path.name, filter=owned_by_root)


def run(folder: Path, *words: str) -> str:
    """Run a command, which must succeed; return its output."""
    done = in_own_process(folder, words)
    assert done.status == 0, f"{words}\n{done.out}\n{done.err}"
    return done.out


def tournaments(folder: Path) -> list[dict[str, Any]]:
    lines = run(folder, "tournament", "list", "--json").splitlines()
    return [json.loads(line) for line in lines]


def interrupted(folder: Path, words: tuple[str, ...]) -> None:
    """Run a tournament until two of its matches are closed, then interrupt it."""
    process = subprocess.Popen(
        [POKEARENA, "tournament", "run", *words, "--cycles", str(CYCLES), "--workers", "1"],
        cwd=folder,
    )
    while len(known := tournaments(folder)) < 2 or known[-1]["matches"]["closed"] < 2:
        assert process.poll() is None, "the tournament ended before it was interrupted"
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert tournaments(folder)[-1]["state"] != "closed"


def owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner's name and id from a member of the archive."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
