"""The command `pokearena new`: write a starter bot, or a trained policy, into a new folder."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rich_click as click
from click.core import ParameterSource

import arena
from arena.bots import manifest
from arena.bots.bot import HUMAN
from arena.bots.resolver import house_folder, usual_opponent, usual_opponents
from arena.bots.sandbox.runtimes import grants
from arena.bots.version_store import FETCHED, IGNORED, SYSTEM_FILES
from arena.cli import completers, output
from arena.cli.errors import usage_error
from arena.cli.new_folder import new_folder
from arena.cli.options import bounded, json_option
from arena.config import SEATS
from arena.errors import BadName, BotError, check_new_bot
from referee.games.game_packages import BUILT_IN, EXAMPLE_GAME

if TYPE_CHECKING:
    from referee.games.contract import Game

README: Final = "README.md"
AGENTS: Final = "AGENTS.md"
"""Instructions for coding agents, which every new folder gets."""
MODEL: Final = "model"
"""Folder of the starter bot that plays with a language model."""
_ALIASES: Final = {
    "c++": "cpp",
    "golang": "go",
    "js": "javascript",
    "kt": "kotlin",
    "node": "javascript",
    "sh": "shell",
    "ts": "typescript",
}
_LEFT_OUT: Final = shutil.ignore_patterns(
    *IGNORED, *FETCHED, *SYSTEM_FILES, "*.pyc", "*.lock", "*-lock.json"
)
_PYTHON_KIT: Final = ("pokearena_bot.py", "pokearena_server.py")
_PACKAGE: Final = Path("pokearena", "v1")
"""Folder of the protocol's package, below the folder of the `.proto` files or of the code."""
_INTERNAL_SERVICES: Final = ("referee", "relay")
"""Parts of the protocol that bots do not use."""
_TABLE_ROW: Final = re.compile(r"^\| (`.+`) \| (.+) \|$", re.MULTILINE)
_TABLE_HEAD: Final = "|---|---|\n"
_ALL_GAMES: Final = " for all five games"
_COMMAND: Final = re.compile(r"^    pokearena .+\n", re.MULTILINE)
_COMMANDS: Final = re.compile(r"`pokearena [^`]+`")
_GAMES: Final = re.compile(r"^games = .*$", re.MULTILINE)
_REQUIREMENTS: Final = re.compile(r"(Needed: .+)$", re.MULTILINE)


def languages() -> tuple[str, ...]:
    """Return the languages with a starter kit, sorted."""
    manifests = house_folder().parent.glob(f"*/{manifest.FILE}")
    folders = {path.parent.name for path in manifests if (path.parent / README).exists()}
    return tuple(sorted(folders - {MODEL}))


def write(folder: Path, language: str, game: Game | None = None) -> str:
    """Write a starter bot into an empty or new folder; return the name of the bot.

    After an error, the folder is as it was before. Without a game, the bot plays every built-in
    one.
    """
    language = _ALIASES.get(language, language)
    if language not in (*languages(), MODEL):
        raise usage_error(
            f'there is no starter kit for "{language}"; available: {", ".join(languages())}.'
        )
    name = _name_for(folder)

    def kit(staged: Path) -> None:
        copy_kit(language, staged)
        _rename(staged, language, name)
        if game is not None:
            _specialise(staged, language, game)

    _fill(folder, name, kit, game)
    return name


def _fill(
    folder: Path, name: str, write_bot: Callable[[Path], None], game: Game | None = None
) -> None:
    """Write a bot into an empty or new folder; after an error, the folder is as before.

    `game` is its only game, which the instructions for coding agents name.
    """
    with new_folder(folder) as staged:
        write_bot(staged)
        instructions = (house_folder().parent / AGENTS).read_text(encoding="utf-8")
        instructions = instructions.replace("NAME", name)
        if game is not None:
            instructions = _COMMANDS.sub(lambda line: _of_game(line[0], game), instructions)
        (staged / AGENTS).write_text(instructions, encoding="utf-8")


def copy_kit(language: str, folder: Path) -> None:
    """Copy a starter kit with its protocol into a new folder; the bots keep the kit's names.

    Raises:
        OSError: a file cannot be read or written.
    """
    for source, path in _files(language):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def contents(folder: Path) -> list[tuple[str, str]]:
    """Return the files of a starter bot with their descriptions, from the table in its README."""
    text = (folder / README).read_text(encoding="utf-8")
    rows = _TABLE_ROW.findall(text)
    described = [(names.replace("`", ""), meaning.replace("`", "")) for names, meaning in rows]
    return [
        *described,
        (README, "how to play, test and submit the bot"),
        (AGENTS, "the same for coding agents"),
    ]


def missing_programs(folder: Path) -> str:
    """Return a sentence that lists the missing programs of a starter bot; "" if it has all."""
    bot = manifest.read(folder)
    missing = set()
    for command in (*bot.build, bot.run):
        try:
            grants(folder, command)
        except BotError:
            missing.add(command[0])
    if not missing:
        return ""
    requirements = _REQUIREMENTS.search((folder / README).read_text(encoding="utf-8"))
    advice = requirements[1].replace("`", "") if requirements else f"See {folder / README}."
    return f"Not on the PATH: {', '.join(sorted(missing))}. {advice}"


def _files(language: str) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a starter bot: the source, and the path in the new folder."""
    kit = house_folder().parent / language
    for parent, folders, names in os.walk(kit):
        left_out = _LEFT_OUT(parent, [*folders, *names])
        folders[:] = [name for name in folders if name not in left_out]
        for name in names:
            if name not in left_out:
                yield Path(parent, name), Path(parent, name).relative_to(kit)
    if language == MODEL:  # It reads texts instead of messages.
        return
    for source in _protocol(_protocol_folder() / _PACKAGE, "*.proto"):
        yield source, Path("proto") / _PACKAGE / source.name
    if language == "javascript":  # Editors find the types of the messages there.
        types = kit.parent / "typescript" / _PACKAGE
        for source in sorted(types.glob("*.ts")):
            yield source, _PACKAGE / source.name
    if language == "python":
        for file in _PYTHON_KIT:
            if not (kit / file).exists():
                yield _module(Path(file).stem), Path(file)
        for source in _protocol(_module(".".join(_PACKAGE.parts)).parent, "*.py*"):
            yield source, _PACKAGE / source.name


def _protocol(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files of the protocol that bots use."""
    for path in sorted(folder.glob(pattern)):
        if path.is_file() and not path.name.startswith(_INTERNAL_SERVICES):
            yield path


def _protocol_folder() -> Path:
    """Return the folder of the `.proto` files: in the repository, or in the installed package."""
    package = Path(arena.__file__).parent
    checkout = package.parent / "proto"
    is_checkout = (checkout / _PACKAGE / "bot.proto").is_file()
    return checkout if is_checkout else package / "proto"


def _module(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None, name
    assert spec.origin is not None, name
    return Path(spec.origin)


def _name_for(folder: Path) -> str:
    """Return a valid name of a new bot derived from the folder's name."""
    name = re.sub(r"[^a-z0-9_-]+", "-", folder.absolute().name.lower()).strip("-_")
    name = (name if name[:1].isalpha() else f"bot-{name}")[:33].strip("-")
    try:
        check_new_bot(name)
    except BadName:
        return "mybot"
    return name if name not in ("bot", HUMAN) else "mybot"


def _rename(folder: Path, language: str, name: str) -> None:
    """Replace the bots' names, which contain the kit's language, by the folder's name."""
    for path in (*folder.glob("*.toml"), folder / README):
        text = path.read_text(encoding="utf-8")
        text = re.sub(rf"\b(?:random|starter)-{language}\b", name, text)
        text = re.sub(rf"\bgreedy-{language}\b", f"{name}-greedy", text)
        path.write_text(text, encoding="utf-8")


def _specialise(folder: Path, language: str, game: Game) -> None:
    """Let the bot play one game; add the types of its messages if it is one of a package."""
    bot, readme = folder / manifest.FILE, folder / README
    text = bot.read_text(encoding="utf-8")
    bot.write_text(_GAMES.sub(f'games = ["{game.id}"]', text), encoding="utf-8")
    text = readme.read_text(encoding="utf-8").replace(_ALL_GAMES, "")
    if game.id not in BUILT_IN:
        from arena.cli.bots import game_types

        name, content = game_types.type_file(game, language)
        (folder / name).write_text(content, encoding="utf-8")
        row = f"{_TABLE_HEAD}| `{name}` | the views and actions of {game.title} |\n"
        text = text.replace(_TABLE_HEAD, row, 1)
    readme.write_text(_COMMAND.sub(lambda line: _of_game(line[0], game), text), encoding="utf-8")


def _of_game(command: str, game: Game) -> str:
    """Return a command for another game; none for the greedy bot of the kit."""
    if "greedy.toml" in command:
        return ""
    command = re.sub(rf"\b({'|'.join(BUILT_IN)}|GAME)(?= |$)", game.id, command)
    if command.startswith("    pokearena tournament run "):
        return entered(command, game)
    return _seated(command.replace("sample:greedy", usual_opponent(game.id)), game)


def _seated(command: str, game: Game) -> str:
    """Return a command `play` with a bot at each further seat that the game has at least."""
    missing = max(_opponents(game) - command.count("sample:"), 0) if " play " in command else 0
    return re.sub(r"sample:\S+", lambda bot: bot[0] + " sample:random" * missing, command)


def entered(command: str, game: Game) -> str:
    """Return the lines that run a tournament with enough different bots for a table of the game.

    `command` is a line `pokearena tournament run GAME BOT ...` of a README.
    """
    *words, bot = command.split()[:5]
    needed = _opponents(game)
    opponents = usual_opponents(game.id, max(needed, 2))
    copies = [f"{bot}-{number + 2}" for number in range(needed - len(opponents))]
    added = [f"    pokearena bot add . --name {copy}\n" for copy in copies]
    return "".join((*added, f"    {' '.join((*words, bot, *copies, *opponents))}\n"))


def _opponents(game: Game) -> int:
    """Return the number of opponents at a table with the usual number of seats."""
    return game.side_count(game.seats[0], game.settle({})) - 1


@dataclass(frozen=True, slots=True)
class NewBot:
    """A folder that was written."""

    folder: Path
    name: str
    files: Sequence[tuple[str, str]]
    """The files with their descriptions."""
    next_step: str
    missing: str = ""
    """A sentence that lists the missing programs; empty if all are installed."""


@click.command(epilog="Example: pokearena new mybot --lang go")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    shell_complete=completers.completer(lambda context, incomplete: languages()),
    default="python",
    show_default=True,
    metavar="LANGUAGE",
    help="Programming language: python, go, rust, javascript, typescript, java, kotlin, "
    "cpp or ruby; c or shell without gRPC.",
)
@click.option(
    "--model",
    is_flag=True,
    help="Write a bot that plays with a language model at an endpoint of the OpenAI chat form.",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a bot that plays with this trained policy instead: arrays (.npz), or a model of "
    "sb3-contrib's MaskablePPO (.zip; loading it runs code that the file contains).",
)
@click.option(
    "--game",
    metavar="GAME",
    shell_complete=completers.game_ids,
    help="Write a bot for this game only, with the types of its messages if it is a game of a "
    "package. With --policy: the game of the policy. [default: every built-in game, or the game in "
    "the file]",
)
@click.option(
    "--seats",
    type=bounded(SEATS),
    help="Number of seats that the policy was trained for. [default: the number in the file, or "
    "the first of the game]",
)
@click.option(
    "--sample",
    is_flag=True,
    help="Draw actions with the probabilities of the policy, instead of the most probable one.",
)
@json_option
def new(
    folder: Path,
    lang: str,
    model: bool,
    policy: Path | None,
    game: str | None,
    seats: int | None,
    sample: bool,
    as_json: bool,
) -> None:
    """Write a starter bot into a new folder.

    The folder contains a bot that plays every game at random, a greedy bot (not in C and shell),
    the kit that both use, and the protocol. It works without a checkout of the arena.

    With --model, the folder contains a bot that plays with a language model
    (docs/how-to/models.md).

    With --policy, the folder contains a bot that plays with a trained policy
    (docs/how-to/training.md).
    """
    if policy is not None or model:
        _check_alone(*(["--policy"] if policy is not None else []), *(["--model"] if model else []))
    if policy is not None:
        written = _new_from_policy(folder, policy, game, seats, sample)
    elif seats or sample:
        raise usage_error("--seats and --sample require --policy.")
    elif game is not None and model:
        raise usage_error("--game cannot be combined with --model.")
    else:
        named = None if game is None else _game_named(game)
        written = _new_from_kit(folder, MODEL if model else lang.lower(), named)
    _show(written, as_json)


def _new_from_kit(folder: Path, language: str, game: Game | None) -> NewBot:
    name = write(folder, language, game)
    if language == MODEL:
        options, missing = "--network --allowance 30000", ""
    else:
        options, missing = "--watch", missing_programs(folder)
    played = EXAMPLE_GAME if game is None else game.id
    next_step = f"pokearena play {played} {_quoted(folder)} sample:random {options}"
    if game is not None:
        next_step = _seated(next_step, game)
    return NewBot(folder, name, contents(folder), next_step, missing)


def _check_alone(*flags: str) -> None:
    """Raise CommandError if options that select the kind of the bot are combined."""
    context = click.get_current_context()
    assert context is not None
    if context.get_parameter_source("lang") is ParameterSource.COMMANDLINE:
        flags = ("--lang", *flags)
    if len(flags) > 1:
        raise usage_error(f"{flags[0]} cannot be combined with {flags[1]}.", "option-combination")


def _game_named(name: str) -> Game:
    from arena.store import match_settings

    return match_settings.game_named(name)


def _new_from_policy(
    folder: Path, policy: Path, game: str | None, seats: int | None, sample: bool
) -> NewBot:
    from arena.cli.bots import policy_source

    named = None if game is None else _game_named(game)
    if named is not None and seats is not None:
        named.check_seats(seats, named.settle({}))
    game_id = named.id if named is not None else None
    trained = policy_source.read(policy, game_id, seats, sample)
    name = _name_for(folder)
    of_policy = _game_named(trained.game)
    _fill(folder, name, lambda staged: policy_source.write(trained, staged, name), of_policy)
    files = [*policy_source.CONTENTS, (AGENTS, "instructions for coding agents")]
    return NewBot(folder, name, files, f"pokearena test {_quoted(folder)} --quick")


def _show(bot: NewBot, as_json: bool) -> None:
    """Print the files of a new bot with their descriptions, and the next command."""
    if as_json:
        output.document(
            {
                "bot": bot.name,
                "folder": str(bot.folder),
                "files": [{"names": names, "content": meaning} for names, meaning in bot.files],
                "missing": bot.missing or None,
                "next": bot.next_step,
            }
        )
        return
    rows = [(f"{bot.folder}/{names}", meaning) for names, meaning in bot.files]
    width = max(len(names) for names, _ in rows)
    for names, meaning in rows:
        output.line(f"{names:<{width}}  {meaning}")
    if bot.missing:
        output.hint(bot.missing)
    output.next_step(bot.next_step)


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
