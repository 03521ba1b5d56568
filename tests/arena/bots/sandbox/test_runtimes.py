"""Test which programs a bot may run, and what they may read outside of the bot's folder."""

import os
import sys
from pathlib import Path

import pytest

from arena import config
from arena.bots import resolver, version_store
from arena.bots.sandbox import linux, runtimes
from arena.errors import BotError
from tests.errors import has_code

NOT_ALLOWED = has_code("program-not-allowed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a bot, with a program of its own."""
    folder = tmp_path / "bot"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "prog").write_text("#!/bin/sh\n")
    return folder


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "opt" / "node-20" / "bin" / "node"
    program.parent.mkdir(parents=True)
    (program.parent.parent / "lib").mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


def granted(folder: Path, word: str) -> set[str]:
    """Return what a program may read in addition to what every bot may read."""
    return {*runtimes.grants(folder, (word,)).read} - {*runtimes.grants(folder, ("sh",)).read}


@pytest.mark.parametrize("word", ["./bin/prog", "bin/prog", "bin/../bin/prog", "./missing", "sh"])
def test_a_program_of_the_folder_or_the_system_needs_no_further_files(
    folder: Path, word: str
) -> None:
    assert granted(folder, word) == set()


def test_a_program_of_the_path_brings_its_installation_folder(folder: Path, node: Path) -> None:
    assert granted(folder, "node") == {str(node.parent.parent)}
    assert granted(folder, str(node)) == {str(node.parent.parent)}


def test_a_link_in_the_folder_may_lead_to_a_program_of_the_list(folder: Path, node: Path) -> None:
    (folder / "mine").symlink_to(node)
    (folder / "second").symlink_to("mine")
    (folder / "python3.11").symlink_to(os.path.realpath(sys.executable))
    (folder / "env").symlink_to("/usr/bin/env")
    assert granted(folder, "./second") == {str(node.parent.parent)}
    assert granted(folder, "./python3.11") == granted(folder, "./env") == set()
    assert runtimes.grants(folder, ("./mine",)).argv == (str(folder / "mine"),)


def test_the_folder_of_a_compiler_is_that_of_the_list(folder: Path, node: Path) -> None:
    (node.parent / "inner").mkdir()
    (folder / "link").symlink_to(node.parent / "inner")
    for word in ("node", "./link/../node", f"{folder}/link/../node", f"/usr/..{node}"):
        assert runtimes.grants(folder, (word,)).folder == str(node.parent)
    assert runtimes.grants(folder, ("./bin/prog",)).folder == ""


def test_the_python_of_a_virtual_environment_is_run_by_its_path(folder: Path) -> None:
    venv = folder / ".venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "python").symlink_to(os.path.realpath(sys.executable))
    assert runtimes.grants(folder, ("python",)).argv == (str(venv / "python"),)
    (venv / "python").unlink()
    (venv / "python").symlink_to("/etc/passwd")
    with pytest.raises(BotError, check=NOT_ALLOWED):
        runtimes.grants(folder, ("python",))


@pytest.mark.parametrize(
    "word",
    [
        "/etc/passwd",
        "/proc/self/root/bin/sh",
        "/proc/self/exe",
        "/proc/thread-self/root/usr/bin/env",
        "/proc/1/root/bin/sh",
        "/dev/fd/0",
        "/dev/stdin",
        "/sys/kernel/notes",
        "../secret",
        "bin/../../secret",
        "/tmp/../etc/passwd",
        "./out",
        "./magic",
        "./deep/secret",
        "./loop",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(folder: Path, word: str) -> None:
    secret = folder.parent / "secret"
    secret.write_text("secret")
    secret.chmod(0o755)
    (folder / "out").symlink_to(secret)
    (folder / "magic").symlink_to("/proc/self/root/bin/sh")
    (folder / "deep").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    with pytest.raises(BotError, check=NOT_ALLOWED):
        runtimes.grants(folder, (word,))


def test_a_missing_file_outside_is_refused_like_an_existing_one(folder: Path) -> None:
    texts = []
    for name in ("passwd", "no-such-file"):
        (folder / "link").unlink(missing_ok=True)
        (folder / "link").symlink_to(f"/etc/{name}")
        with pytest.raises(BotError, check=NOT_ALLOWED) as refused:
            runtimes.grants(folder, ("./link",))
        texts.append(str(refused.value))
    assert texts[0] == texts[1]


def test_the_text_of_a_link_grants_nothing(folder: Path, tmp_path: Path) -> None:
    # The text names a file of the arena; the kernel follows the first link and stays inside.
    data = tmp_path / "data"
    data.mkdir()
    (data / "arena.db").write_text("secret")
    deep = folder / "n" / "a" / "b"
    (deep / "data").mkdir(parents=True)
    (deep / "data" / "arena.db").write_text("#!/bin/sh\n")
    (folder / "d").symlink_to("n/a/b/x/y")
    (deep / "x" / "y").mkdir(parents=True)
    (folder / "prog").symlink_to("d/../../data/arena.db")
    assert granted(folder, "./prog") == set()


def test_relative_folders_of_the_path_are_not_searched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tool").write_text("#!/bin/sh\n")
    (folder / "tool").chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", ".::/usr/bin:/bin")
    with pytest.raises(BotError):
        runtimes.grants(folder, ("tool",))


def test_named_runtimes_are_granted_without_the_data_folder_in_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "srv"
    for name in ("app/.pokearena/versions", "app/lib", "bin"):
        (named / name).mkdir(parents=True)
    (named / "app" / "link").symlink_to("/etc")
    monkeypatch.setenv(runtimes.SETTING, f"{named}:relative")
    monkeypatch.setenv(config.DATA, str(named / "app" / ".pokearena"))
    read = {path for path in runtimes.grants(folder, ("sh",)).read if path.startswith(str(named))}
    assert read == {str(named / "bin"), str(named / "app" / "lib")}


def test_a_folder_below_the_system_is_left_out_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtimes.grants(folder, ("sh",)).system == ("/usr",)
    monkeypatch.setenv(config.DATA, "/usr/share/doc")
    system = runtimes.grants(folder, ("sh",)).system
    assert "/usr/bin" in system
    assert "/usr/share/doc" not in system
    assert not any(path in ("/usr", "/usr/share") for path in system)


def test_a_link_to_a_program_of_the_system_is_followed_as_far_as_the_system(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to("further")
    (tmp_path / "bin" / "further").symlink_to("/bin/sh")
    (tmp_path / "bin" / "loop").symlink_to("loop")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    granted = runtimes.grants(folder, ("tool",))
    assert granted.argv == ("/bin/sh",)
    assert {*granted.read} <= runtimes.allowed()
    with pytest.raises(BotError):
        runtimes.grants(folder, ("loop",))


def test_every_grant_is_on_the_list(folder: Path, node: Path) -> None:
    listed = runtimes.allowed()
    for word in ("python", "node", "sh", "./bin/prog", str(node)):
        for bridge in (False, True):
            assert {*runtimes.grants(folder, (word,), bridge=bridge).read} <= listed


def _admitted(folder: Path, toml: str, versions: Path) -> None:
    (folder / "bot.toml").write_text(toml)
    version_store.admit(resolver.local(folder), versions)


def test_a_stored_version_must_name_an_allowed_program(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BotError, check=NOT_ALLOWED):
        _admitted(folder, 'name = "bot"\nrun = ["/proc/self/exe"]\n', tmp_path / "versions")
    toml = 'name = "bot"\nbuild = ["ln", "-sfn", "/etc/passwd", "x"]\nrun = ["./x"]\n'
    with pytest.raises(BotError, check=NOT_ALLOWED):
        _admitted(folder, toml, tmp_path / "versions")
    assert [path for path in (tmp_path / "versions").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("path", ["//", "//usr//bin/", "/"])
def test_a_path_with_two_slashes_ends_the_search_of_its_parents(path: str) -> None:
    assert linux.is_reachable(path)


def test_named_runtimes_may_have_any_number_of_slashes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv(runtimes.SETTING, f"/{tmp_path}//tools/")
    assert str(tmp_path / "tools") in runtimes.grants(folder, ("sh",)).read
