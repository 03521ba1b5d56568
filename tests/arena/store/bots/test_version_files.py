"""Files of hosted bots on two machines: two data folders with one store."""

import io
import os
import socket
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from arena.bots import build_archive, version_store
from arena.bots.bot import Bot
from arena.bots.resolver import fetched, from_folder, local, strangers
from arena.config import Folder
from arena.errors import BotError, StoreError
from arena.store import database, schema
from arena.store.bots import stored_builds, version_files, versions
from arena.store.bots.versions import Version
from tests.errors import has_code

BUILD = 'build = [["mkdir", "-p", "target"], ["cp", "bot", "target/bot"]]\n'


@dataclass(frozen=True)
class TwoMachineArena:
    """A store, the machine where bots are added, and a second machine."""

    engine: Engine
    here: Folder
    there: Folder

    def add(self, folder: Path, trusted: bool = True) -> Bot:
        bot = version_store.admit(replace(local(folder), trusted=trusted), self.here.versions)
        version_files.keep(self.engine, bot)
        return bot

    def registered(self, bot: Bot) -> Version:
        return versions.add_version(self.engine, "mine", "1", bot.content, str(bot.folder), {})

    def fetched(self, bot: Bot) -> Bot:
        """Fetch a bot on the second machine, on which its first folder does not exist."""
        return version_files.bot(
            self.engine, "mine@1", bot.content, "/elsewhere", self.there.versions
        )


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[TwoMachineArena]:
    engine = database.open(f"sqlite:///{tmp_path}/shared.db")
    database.upgrade(engine)
    yield TwoMachineArena(
        engine, Folder(tmp_path / "here").create(), Folder(tmp_path / "there").create()
    )
    engine.dispose()


@pytest.fixture
def bot_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = ["./target/bot"]\n{BUILD}')
    (folder / "bot").write_text("#!/bin/sh\n")
    (folder / "bot").chmod(0o755)
    (folder / "data" / "book").write_bytes(os.urandom(3 * stored_builds.PIECE // 2))
    return folder


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode & 0o777, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "mine"\nrun = ["./bot"]\n')
    return folder


def test_a_fetched_version_equals_the_built_one(arena: TwoMachineArena, bot_folder: Path) -> None:
    bot = arena.add(bot_folder)
    fetched = arena.fetched(bot)
    assert fetched.folder == arena.there.versions / bot.content
    assert bot.folder is not None
    assert tree(fetched.folder) == tree(bot.folder)
    assert os.access(fetched.folder / "target" / "bot", os.X_OK)
    assert (fetched.label, fetched.content, fetched.trusted) == ("mine@1", bot.content, True)


def test_a_version_in_the_folder_is_not_fetched_again(
    arena: TwoMachineArena, bot_folder: Path
) -> None:
    bot = arena.add(bot_folder)
    arena.fetched(bot)
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM crate_pieces")
    assert arena.fetched(bot).folder == arena.there.versions / bot.content


def test_an_existing_original_folder_is_used(arena: TwoMachineArena, bot_folder: Path) -> None:
    bot = version_store.admit(local(bot_folder), arena.here.versions)
    fetched = version_files.bot(
        arena.engine, "mine@1", bot.content, str(bot.folder), arena.there.versions
    )
    assert fetched.folder == bot.folder
    assert list(arena.there.versions.iterdir()) == []


def test_an_untrusted_version_is_marked_until_the_organiser_adds_it(
    arena: TwoMachineArena, plain: Path
) -> None:
    bot = arena.add(plain, trusted=False)
    assert not arena.fetched(bot).trusted
    arena.add(plain)
    kept = stored_builds.find_build(arena.engine, bot.content)
    assert kept is not None
    assert kept.trusted


def test_several_workers_can_fetch_a_version_at_once(
    arena: TwoMachineArena, bot_folder: Path
) -> None:
    bot = arena.add(bot_folder)
    with ThreadPoolExecutor(4) as pool:
        bots = list(pool.map(lambda _: arena.fetched(bot), range(4)))
    assert {fetched.folder for fetched in bots} == {arena.there.versions / bot.content}
    assert {path.name for path in arena.there.versions.iterdir()} == {
        bot.content,
        f"{bot.content}.fetched",
    }


def test_fetching_evicts_versions_except_those_in_use(
    arena: TwoMachineArena, bot_folder: Path, plain: Path
) -> None:
    def fetch(bot: Bot, match: ExitStack) -> None:
        version_files.bot(
            arena.engine, "x@1", bot.content, "/elsewhere", arena.there.versions, match, 0
        )

    def there() -> set[str]:
        return {path.name for path in arena.there.versions.iterdir() if path.is_dir()}

    first, second = arena.add(bot_folder), arena.add(plain)
    (plain / "more").touch()
    third = arena.add(plain)
    with ExitStack() as match:
        fetch(first, match)
        fetch(second, match)
        assert there() == {first.content, second.content}
    with ExitStack() as match:
        fetch(second, match)
        assert there() == {first.content, second.content}
        fetch(third, match)
        assert there() == {second.content, third.content}


def test_adding_a_fetched_version_keeps_it_from_eviction(
    arena: TwoMachineArena, plain: Path
) -> None:
    bot = arena.add(plain)
    arena.fetched(bot)
    mark = fetched(arena.there.versions / bot.content)
    assert mark.exists()
    version_store.admit(local(plain), arena.there.versions)
    assert not mark.exists()


def test_concurrent_uploads_of_a_version_store_it_once(
    arena: TwoMachineArena, bot_folder: Path
) -> None:
    bot = version_store.admit(local(bot_folder), arena.here.versions)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: version_files.keep(arena.engine, bot), range(4)))
    with database.reading(arena.engine) as connection:
        assert len(connection.execute(select(schema.crates)).all()) == 1
    assert arena.fetched(bot).content == bot.content


def test_missing_files_are_reported_with_a_remedy(arena: TwoMachineArena) -> None:
    with pytest.raises(BotError, check=has_code("files-missing")):
        version_files.bot(arena.engine, "mine@1", "0" * 64, "/elsewhere", arena.there.versions)


def test_changed_blobs_are_refused(arena: TwoMachineArena, bot_folder: Path) -> None:
    bot = arena.add(bot_folder)
    table = schema.crate_pieces
    with database.writing(arena.engine) as connection:
        connection.execute(update(table).where(table.c.number == 1).values(data=b"other"))
    with pytest.raises(StoreError, check=has_code("files-damaged")):
        arena.fetched(bot)
    assert list(arena.there.versions.iterdir()) == []


def test_files_of_another_bot_are_refused(arena: TwoMachineArena, bot_folder: Path) -> None:
    bot = arena.add(bot_folder)
    assert bot.folder is not None
    packed = io.BytesIO()
    build_archive.pack(bot.folder, packed)
    packed.seek(0)
    stored_builds.keep_build(arena.engine, "0" * 64, packed, trusted=True)
    with pytest.raises(BotError, check=has_code("hash-mismatch")):
        arena.fetched(replace(bot, content="0" * 64))
    assert list(arena.there.versions.iterdir()) == []


def test_local_versions_are_uploaded_to_the_store(arena: TwoMachineArena, bot_folder: Path) -> None:
    bot = version_store.admit(local(bot_folder), arena.here.versions)
    arena.registered(bot)
    versions.add_version(arena.engine, "gone", "1", "1" * 64, "/nowhere", {})
    version_files.keep_all(arena.engine)
    assert arena.fetched(bot).content == bot.content
    assert stored_builds.find_build(arena.engine, "1" * 64) is None


def test_the_same_folder_is_packed_to_the_same_bytes(
    arena: TwoMachineArena, bot_folder: Path
) -> None:
    bot = version_store.admit(local(bot_folder), arena.here.versions)
    assert bot.folder is not None
    first, second = io.BytesIO(), io.BytesIO()
    build_archive.pack(bot.folder, first)
    build_archive.pack(bot.folder, second)
    assert first.getvalue() == second.getvalue()


def test_links_are_archived_as_links_and_sockets_are_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    (folder / "bin").mkdir(parents=True)
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = ["./bin/python"]\n{BUILD}')
    (folder / "target").mkdir()
    (folder / "target" / "python").symlink_to("/usr/bin/python3")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "target" / "s"))
    bot = from_folder(folder)
    packed = io.BytesIO()
    build_archive.pack(folder, packed)
    packed.seek(0)
    content = version_store.content_hash(bot)
    build_archive.unpack(packed, tmp_path, content)
    assert os.readlink(tmp_path / content / "target" / "python") == "/usr/bin/python3"
    assert not (tmp_path / content / "target" / "s").exists()


def test_intermediate_files_of_cargo_are_not_archived(tmp_path: Path) -> None:
    release = tmp_path / "target" / "release"
    for name in ("deps", "build", ".fingerprint", "incremental"):
        (release / name).mkdir(parents=True)
        (release / name / "large").touch()
    (release / ".cargo-lock").touch()
    (release / "random").touch()
    (tmp_path / "build").mkdir()
    packed = io.BytesIO()
    build_archive.pack(tmp_path, packed)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        assert tar.getnames() == ["build", "target", "target/release", "target/release/random"]


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    "entries",
    [
        [entry("../out")],
        [entry("x", tarfile.DIRTYPE), entry("x/../../out")],
        [entry("/tmp/out")],
        [entry("x", tarfile.SYMTYPE, ".."), entry("x/out")],
        [entry("x", tarfile.SYMTYPE, "../out"), entry("x")],
        [entry("x"), entry("out", tarfile.LNKTYPE, "x")],
        [entry("out", tarfile.FIFOTYPE)],
        [entry("out", tarfile.CHRTYPE)],
        [entry("x"), entry("x/out")],
        [entry("missing/out")],
        [entry("x", tarfile.DIRTYPE), entry("x", tarfile.DIRTYPE)],
        [entry("..", tarfile.SYMTYPE, "x")],
    ],
    ids=lambda entries: " ".join(f"{info.name}:{info.type.decode()}" for info in entries),
)
def test_a_build_archive_that_no_build_made_is_refused(
    tmp_path: Path, entries: list[tarfile.TarInfo]
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for info in entries:
            tar.addfile(info, io.BytesIO())
    packed.seek(0)
    with pytest.raises(BotError, check=has_code("invalid-archive")):
        build_archive.unpack(packed, tmp_path / "versions", "0" * 64)
    assert list(tmp_path.rglob("out")) == []


def test_a_build_that_is_too_large_is_refused(
    arena: TwoMachineArena, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_archive, "MOST_BYTES", stored_builds.PIECE)
    with pytest.raises(BotError, check=has_code("build-too-large")):
        arena.add(bot_folder)


def test_the_untrusted_marker_exists_before_the_folder(arena: TwoMachineArena, plain: Path) -> None:
    bot = arena.add(plain, trusted=False)
    arena.fetched(bot)
    assert strangers(arena.there.versions / bot.content).exists()
