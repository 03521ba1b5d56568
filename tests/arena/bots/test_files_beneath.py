"""Test that no file outside of a bot's folder is read as one of its files."""

import errno
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bots import build_archive, manifest, version_store
from arena.bots.manifest import MOST_BYTES, ManifestError
from arena.bots.resolver import from_folder, local
from arena.errors import BotError
from arena.system.file_tree import Entry
from arena.system.structured_file import FileProblem
from tests.errors import has_code, has_number

SECRET = "token-of-the-arena"
MANIFEST = 'name = "mine"\nrun = ["python", "bot.py"]\n'


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a file of the arena that is nearly a manifest, so that errors could show its lines."""
    file = tmp_path / "secret.toml"
    file.write_text(f'name = "{SECRET}!"\n{SECRET} = 1\n')
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "bot.py").write_text("pass\n")
    return folder


def _link_by_text_inside(manifest: Path, secret: Path) -> None:
    (manifest.parent / "n" / "a" / "b").mkdir(parents=True)
    (manifest.parent / "d").symlink_to("n/a/b")
    manifest.symlink_to(f"d/../../../../{secret.name}")


ATTACKS: list[Callable[[Path, Path], object]] = [
    lambda manifest, secret: manifest.symlink_to(secret),
    lambda manifest, secret: manifest.symlink_to(f"../{secret.name}"),
    _link_by_text_inside,
    lambda manifest, secret: manifest.symlink_to(f"/proc/self/root{secret}"),
    lambda manifest, secret: os.mkfifo(manifest),
    lambda manifest, secret: manifest.mkdir(),
    lambda manifest, secret: manifest.write_text(MANIFEST + "#" * MOST_BYTES),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_manifest_outside_of_the_folder_is_not_read(
    folder: Path, secret: Path, attack: Callable[[Path, Path], object]
) -> None:
    (folder / "bot.toml").unlink()
    attack(folder / "bot.toml", secret)
    with pytest.raises(ManifestError) as caught:
        from_folder(folder, content="0" * 64)
    assert caught.value.problem is FileProblem.UNREADABLE
    assert SECRET not in str(caught.value)


def test_a_missing_manifest_and_a_link_to_nothing_are_absent(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    _check_absent(folder)
    (folder / "bot.toml").symlink_to("absent")
    _check_absent(folder)


def _check_absent(folder: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        manifest.read(folder)
    assert caught.value.problem is FileProblem.ABSENT


def test_a_link_to_another_manifest_of_the_folder_is_followed(folder: Path) -> None:
    (folder / "bot.toml").rename(folder / "real.toml")
    (folder / "bot.toml").symlink_to("real.toml")
    assert manifest.read(folder).name == "mine"


def _replaced_by(command: str) -> str:
    return f"build = ['sh', '-c', '''{command}''']\n" + MANIFEST


@pytest.mark.parametrize(
    "command",
    [
        "rm bot.toml; ln -s ../../secret.toml bot.toml",
        "mv bot.toml real.toml; ln -s real.toml bot.toml",
        "rm bot.toml; mkfifo bot.toml",
        "rm bot.toml",
        'echo "# more" >> bot.toml',
        'echo "name = 1" > bot.toml',
        "rm bot.toml; ln -s /proc/self/root/etc/passwd bot.toml",
    ],
)
def test_a_build_that_changes_the_manifest_is_refused(
    tmp_path: Path, folder: Path, secret: Path, command: str
) -> None:
    (folder / "bot.toml").write_text(_replaced_by(command))
    with pytest.raises(BotError, check=has_code("build-failed")) as caught:
        version_store.admit(local(folder), tmp_path / "versions")
    assert SECRET not in str(caught.value)
    assert list((tmp_path / "versions").iterdir()) == []


def test_a_build_that_writes_the_same_manifest_again_is_kept(tmp_path: Path, folder: Path) -> None:
    (folder / "bot.toml").write_text(_replaced_by("cp bot.toml new; mv new bot.toml"))
    assert version_store.admit(local(folder), tmp_path / "versions").content


def test_a_file_that_became_a_link_since_the_walk_is_not_read(folder: Path, secret: Path) -> None:
    files = version_store.files_of(local(folder))
    (program,) = (file for file in files if file.path == "bot.py")
    (folder / "bot.py").unlink()
    (folder / "bot.py").symlink_to(secret)
    with pytest.raises(BotError, check=has_code("unreadable")) as caught:
        _ = program.data
    assert SECRET not in str(caught.value)


def test_a_folder_that_became_a_link_since_the_walk_is_not_read(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("own")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text(SECRET)
    files = version_store.files_of(local(folder))
    (inner,) = (file for file in files if file.path == "inner/file")
    (folder / "inner").rename(folder / "old")
    (folder / "inner").symlink_to("../outside")
    with pytest.raises(BotError, check=has_code("unreadable")):
        _ = inner.data


def test_packing_a_build_never_reads_through_links(
    tmp_path: Path, folder: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are packed as links; a file that becomes a link while it is packed ends the packing."""
    (folder / "link").symlink_to(secret)
    (folder / "z").write_text("z" * secret.stat().st_size)
    packed = io.BytesIO()
    build_archive.pack(folder, packed)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        assert tar.getmember("link").issym()
    member_of = build_archive._member

    def swapping(entry: Entry) -> tarfile.TarInfo:
        member = member_of(entry)
        if entry.name == "z":
            (folder / "z").unlink()
            (folder / "z").symlink_to(secret)
        return member

    monkeypatch.setattr(build_archive, "_member", swapping)
    with pytest.raises(OSError, check=has_number(errno.ELOOP)):
        build_archive.pack(folder, io.BytesIO())
