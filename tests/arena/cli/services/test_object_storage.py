"""An arena whose files are on a real S3 server: every command reads and moves them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.errors import FAILED, OK
from arena.config import Folder
from arena.services.queue import redis_server
from arena.services.queue.match_queue import MatchQueue
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import redis_connection
from tests.arena.cli.terminal import CommandResult, in_own_process
from tests.arena.services.worker_host import WorkerHostHarness
from tests.s3_server import BUCKET, S3Server, s3_server

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]
SIZE = 12 << 20


@pytest.fixture
def server() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


class StoredArena:
    """An arena in the working directory, with the object storage of a server."""

    def __init__(self, cwd: Path, server: S3Server) -> None:
        self._cwd = cwd
        self.server = server
        self.environment = server.environment("arena/one")

    def run(self, *words: object, **environment: str) -> CommandResult:
        """Run a command; further variables replace those of the object storage."""
        return in_own_process(self._cwd, words, {**self.environment, **environment})

    def storage_check(self, **environment: str) -> dict[str, str]:
        """Return the check of the object storage by `doctor`."""
        checks = self.run("doctor", "--json", **environment).json["checks"]
        return next(check for check in checks if check["name"] == "storage")

    def objects(self) -> dict[str, int]:
        """Return the number of objects of each kind on the server."""
        folder = self.server.root / BUCKET / "arena" / "one"
        kinds = ("builds", "records", "probe")
        return {kind: sum(map(Path.is_file, (folder / kind).rglob("*"))) for kind in kinds}


def test_an_arena_keeps_its_files_on_an_s3_server(cwd: Path, server: S3Server) -> None:
    arena = StoredArena(cwd, server)
    assert arena.storage_check()["state"] == "ok"
    played = arena.run("tournament", "run", "poke", "sample:meek", "sample:random", "-n", 2)
    assert played.status == OK, played.err
    assert arena.objects() == {"builds": 2, "records": 0, "probe": 0}
    moved = arena.run("db", "move-files", "objects", "--json").json
    assert (moved["builds"], moved["matches"], moved["deleted"]) == (0, 1, 0)
    assert arena.objects() == {"builds": 2, "records": 1, "probe": 0}
    checked = arena.run("db", "check", "--json").json
    assert (checked["sound"], checked["games"]) == (True, 4)

    # Another machine has only the store.
    shutil.rmtree(cwd / ".pokearena" / "versions")
    again = arena.run("tournament", "run", "poke", "meek@1", "random@1", "-n", 1)
    assert again.status == OK, again.err

    wrong = {"AWS_SECRET_ACCESS_KEY": "wrong"}
    assert "access is denied" in arena.storage_check(**wrong)["found"]
    no_bucket = {"POKEARENA_OBJECT_STORAGE_URL": "s3://no-such-bucket"}
    assert "the bucket does not exist" in arena.storage_check(**no_bucket)["found"]
    unset = arena.run("db", "check", POKEARENA_OBJECT_STORAGE_URL="")
    assert unset.status == FAILED
    assert "POKEARENA_OBJECT_STORAGE_URL" in unset.err

    server.kill()
    for command in (("db", "check"), ("db", "move-files", "database")):
        failed = arena.run(*command)
        assert failed.status == FAILED
        assert "Connection refused" in failed.err
        assert "Traceback" not in failed.err
    # Matches are played and stored without the object storage.
    assert arena.run("tournament", "run", "poke", "meek@1", "random@1", "-n", 1).status == OK
    server.start()

    for builds in (2, 0):
        moved = arena.run("db", "move-files", "database", "--json").json
        assert (moved["builds"], moved["deleted"]) == (builds, builds + min(builds, 1))
    assert arena.objects() == {"builds": 0, "records": 0, "probe": 0}
    assert arena.run("db", "check", POKEARENA_OBJECT_STORAGE_URL="").status == OK


def test_large_files_are_stored_in_parts(cwd: Path, server: S3Server) -> None:
    """obstore writes an object of more than 5 MiB as a multipart upload."""
    arena = StoredArena(cwd, server)
    (cwd / "large").mkdir()
    (cwd / "large" / "bot.toml").write_text('name = "large"\nrun = ["./bot"]\n')
    # Random bytes, which cannot be compressed.
    (cwd / "large" / "book").write_bytes(os.urandom(SIZE))
    assert arena.run("bot", "add", "large").status == OK
    (stored,) = (server.root / BUCKET / "arena" / "one" / "builds").rglob("*-*")
    assert stored.stat().st_size > SIZE
    moved = arena.run("db", "move-files", "database", "--json").json
    assert (moved["builds"], moved["deleted"]) == (1, 1)
    moved = arena.run("db", "move-files", "objects", "--json").json
    assert (moved["builds"], moved["deleted"]) == (1, 0)


def test_an_outage_does_not_void_a_match(
    tmp_path: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that cannot fetch its bots returns the match, without a failure."""
    for name, value in server.environment("other").items():
        monkeypatch.setenv(name, value)
    with redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address:
        host = WorkerHostHarness(tmp_path, address.url)
        host.environment["POKEARENA_OBJECT_STORAGE_URL"] = f"s3://{BUCKET}/other"
        [match] = host.schedule()
        server.kill()
        with host.worker("--max-matches", "1") as worker:
            assert worker.wait() == 0, host.output.read_text()
        returned = listing.find_match(host.engine, match)
        assert (returned.state, returned.failures) == (MatchState.PENDING, 0)
        assert "Connection refused" in (host.there.service_logs / "worker-1.log").read_text()
        server.start()
        with redis_connection.connect(address.url) as connection:
            MatchQueue(connection).enqueue(match)
        with host.worker("--max-matches", "1") as worker:
            assert worker.wait() == 0, host.output.read_text()
        played = listing.find_match(host.engine, match)
        assert (played.state, played.attempt) == (MatchState.CLOSED, 2)
        host.engine.dispose()
