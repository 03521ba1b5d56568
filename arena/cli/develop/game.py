"""The commands `pokearena game`: write, test and list games of packages."""

from __future__ import annotations

import keyword
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rich_click as click

import arena
from arena.cli import completers, output
from arena.cli.errors import FAILED, OK, CommandError, usage_error
from arena.cli.options import json_option

if TYPE_CHECKING:
    from referee.game_checks.suite import CheckResult
    from referee.games.game_packages import PackagedGame

_TEMPLATE: Final = "high_card"
"""The folder in `sample_games` that `game new` copies."""
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", "dist")


@click.group()
def game() -> None:
    """Write a game as a package, test it, and list the installed games."""


@game.command(epilog="Example: pokearena game new tic_tac_toe")
@click.argument("name")
@json_option
def new(name: str, as_json: bool) -> None:
    """Write a package with a game into the new folder NAME.

    NAME is the id of the game: lower-case words joined by underscores. The package contains the
    project file with the entry point, the rules page, the rules, the presentation and tests of a
    small card game that can be played at once. Change it step by step.
    """
    from referee.games.game_packages import BUILT_IN, is_game_id

    if not is_game_id(name) or keyword.iskeyword(name):
        raise usage_error(
            f'"{name}" is not an id of a game: it consists of lower-case words joined by '
            "underscores, for example tic_tac_toe.",
            "game-id",
        )
    if name in BUILT_IN or name in sys.stdlib_module_names:
        raise usage_error(
            f"{name} is the name of a built-in game or module; choose another one.", "game-id"
        )
    folder = Path(name)
    if folder.exists():
        raise CommandError(f"{folder} exists already; choose another name.", code="not-empty")
    try:
        _write(folder, name)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise CommandError(f"{folder} cannot be written: {error.strerror}.", FAILED) from None
    next_steps = (f"pip install -e ./{name}", f"pokearena game test {name}")
    if as_json:
        output.document({"game": name, "folder": str(folder), "next": next_steps})
        return
    output.line(f"wrote {folder}: pyproject.toml, README.md, {name}/, tests/")
    output.next_step(*next_steps)


def _write(folder: Path, name: str) -> None:
    """Copy the template with the names of the new game."""
    title = name.replace("_", " ").title()
    names = {
        "high_card": name,
        "high-card": name.replace("_", "-"),
        "High Card": title,
        "HighCard": title.replace(" ", ""),
    }
    pattern = re.compile("|".join(names))
    shutil.copytree(samples_folder() / _TEMPLATE, folder, ignore=_LEFT_OUT)
    paths = sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True)
    for path in paths:
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            path.write_text(pattern.sub(lambda match: names[match[0]], text), encoding="utf-8")
        path.rename(path.with_name(path.name.replace(_TEMPLATE, name)))


def samples_folder() -> Path:
    """Return the folder of the sample games: in the repository, or in the installed package."""
    package = Path(arena.__file__).parent
    checkout = package.parent / "sample_games"
    return checkout if checkout.is_dir() else package / "sample_games"


@game.command(epilog="Example: pokearena game test tic_tac_toe")
@click.argument("game_id", metavar="GAME", shell_complete=completers.game_ids)
@json_option
def test(game_id: str, as_json: bool) -> int:
    """Check that a game keeps the contract of games, at several numbers of seats and options.

    The checks play random games. They compare legal actions in both directions, messages, records,
    views after re-dealing what is hidden, texts, and games in other processes. The exit status is 1
    if a check fails.
    """
    from arena.store import match_settings
    from referee.game_checks.suite import check_game

    rules = match_settings.game_named(game_id)
    checks: dict[str, list[CheckResult]] = {}
    for result in check_game(rules):
        checks.setdefault(result.check, []).append(result)
    failed = any(result.problem for results in checks.values() for result in results)
    if as_json:
        shown = [_as_json(name, results) for name, results in checks.items()]
        output.document({"game": rules.id, "passed": not failed, "checks": shown})
    else:
        for name, results in checks.items():
            _show_check(name, results)
    if failed:
        return FAILED
    output.next_step(f"pokearena play {rules.id} sample:random sample:meek --watch")
    return OK


def _as_json(name: str, results: list[CheckResult]) -> dict[str, object]:
    return {
        "check": name,
        "problems": {each.table: each.problem for each in results if each.problem},
        "left_out": results[0].left_out,
    }


def _show_check(name: str, results: list[CheckResult]) -> None:
    problems = [result for result in results if result.problem]
    if results[0].left_out:
        output.state("skip", "yellow", name, results[0].left_out)
    elif not problems:
        output.state("ok", "green", name, "")
    for result in problems:
        output.state("failed", "red", name, f"{result.table}: {result.problem}")


@game.command("list", epilog="Example: pokearena game list")
@json_option
def list_games(as_json: bool) -> None:
    """List the built-in games and those of installed packages, and whether they are allowed."""
    from referee.games.game_packages import BUILT_IN, installed_games

    packaged = installed_games()
    if as_json:
        built_in = [{"game": name, "package": "pokearena"} for name in BUILT_IN]
        output.document([*built_in, *map(_game_json, packaged)])
        return
    rows = [(name, "pokearena", "", "built in") for name in BUILT_IN]
    rows += [(each.id, each.package, each.version, _state(each)) for each in packaged]
    output.table(("game", "<package", "<version", "<state"), rows)
    output.next_step("pokearena rules GAME")


def _game_json(each: PackagedGame) -> dict[str, object]:
    from referee.games.game_packages import is_allowed

    return {
        "game": each.id,
        "package": each.package,
        "version": each.version,
        "code": each.code_hash,
        "allowed": is_allowed(each),
    }


def _state(each: PackagedGame) -> str:
    from referee.games.game_packages import is_allowed

    return "allowed" if is_allowed(each) else "not allowed"
