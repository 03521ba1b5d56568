"""The command `pokearena rules`: print a game's options, forms of action and rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.options import json_option
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.cli.develop.rulebook import Form
    from referee.games.contract import Game


@click.command(epilog=f"Example: pokearena rules {EXAMPLE_GAME}")
@click.argument("game", required=False, shell_complete=completers.game_ids)
@json_option
def rules(game: str | None, as_json: bool) -> None:
    """Print a game's numbers of seats, options, forms of action and rules.

    Without GAME, list the games.
    """
    from arena.bots import resolver
    from arena.cli.develop import rulebook
    from arena.store import match_settings
    from referee.games.registry import GAMES

    if game is None:
        _list(list(GAMES.values()), as_json)
        return
    rules_of_game = match_settings.game_named(game)
    shapes = rulebook.forms(rules_of_game)
    if as_json:
        output.document(_as_json(rules_of_game, shapes, rulebook.rules_page(rules_of_game)))
        return
    _show(rules_of_game, shapes)
    output.line()
    output.show_page(rulebook.rules_page(rules_of_game))
    sides = rules_of_game.side_count(rules_of_game.seats[0], rules_of_game.settle({}))
    players = " ".join(resolver.usual_opponents(rules_of_game.id, sides))
    output.next_step(f"pokearena play {rules_of_game.id} {players} --watch")


def _list(games: list[Game], as_json: bool) -> None:
    if as_json:
        output.document([_heading(game) for game in games])
        return
    output.table(
        ("game", "<title", "<seats", "<options"),
        [
            (game.id, game.title, ", ".join(map(str, sorted(game.seats))), ", ".join(game.options))
            for game in games
        ],
    )
    output.next_step(*(f"pokearena rules {game.id}" for game in games[:1]))


def _show(game: Game, shapes: list[Form]) -> None:
    from arena.cli.develop import rulebook

    seats = ", ".join(map(str, sorted(game.seats)))
    output.heading(f"{game.title} ({game.id}), for {seats}")
    if game.options:
        output.line()
        output.table(
            ("option", "<default", "<may be", "<meaning"),
            [
                (name, str(option.default).lower(), rulebook.choices(option), option.meaning)
                for name, option in game.options.items()
            ],
        )
    output.line()
    output.table(
        ("action", "<fields", "<meaning"),
        [(form.name, ", ".join(form.fields) or "–", form.meaning) for form in shapes],
    )
    output.line()
    for form in shapes:
        output.game_line(f"{form.words}")
        output.game_line(f"    {json.dumps(form.message)}")


def _heading(game: Game) -> dict[str, object]:
    return {"game": game.id, "title": game.title, "seats": sorted(game.seats)}


def _as_json(game: Game, shapes: list[Form], page: str) -> dict[str, object]:
    return {
        **_heading(game),
        "options": [
            {
                "name": name,
                "default": option.default,
                "choices": list(option.choices),
                "meaning": option.meaning,
            }
            for name, option in game.options.items()
        ],
        "actions": [
            {"name": form.name, "meaning": form.meaning, "example": form.message} for form in shapes
        ],
        "rules": page,
    }
