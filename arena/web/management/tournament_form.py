"""The form of a new tournament: the fields of the chosen game and format, and the bots to enter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Final

from arena.formats import registry
from arena.ladders.ladder_rows import Ladder
from arena.ratings.standings import StandingsLine
from arena.store.match_settings import PRESETS
from arena.tournaments.schedule_preview import SchedulePreview
from arena.web.data.web_state import WebState
from arena.web.management.action import InputField
from referee.games.registry import GAMES

MOST_BOTS: Final = 150
"""Number of listed bots; others are named in the text field."""
FORMATS: Final[Mapping[str, str]] = {
    "round-robin": "everyone meets everyone",
    "gauntlet": "the first bots meet all others",
    "swiss": "pairs with similar points, in rounds",
    "knockout": "the loser is out",
    "ladder": "endless, for ratings",
    "sprt": "two bots, until one is proved stronger",
    "challenge": "everyone meets everyone, unrated",
}
"""What each format does, in a few words."""
_SETTINGS: Final[Mapping[str, str]] = {
    "adaptive": "percentage of matches paired by strength",
    "alpha": "likelihood of accepting a bot that is not stronger",
    "anchors": "bots with a fixed strength, as NAME@VERSION=ELO,…",
    "batch": "matches scheduled at the same time; 0: as many as the format chooses",
    "best_of": "matches of a series",
    "beta": "likelihood of rejecting a stronger bot",
    "challengers": "number of bots that meet all others",
    "cycles": "number of meetings of each pair",
    "extra": "further matches of a series that is tied",
    "high": "difference to prove, in Elo points",
    "limit": "maximum number of matches; 0: none",
    "low": "difference to reject, in Elo points",
    "model": "scale of the bounds: logistic or normalized",
    "open": "whether pushed bots enter it",
    "owners_meet": "whether bots of one owner may sit at the same table of three or more",
    "placement": "matches in which a new bot meets opponents of all strengths",
    "rounds": "number of rounds; 0: as many as the number of bots needs",
    "season": "number of the season; 0: none",
    "versions": "versions of one bot that play; 0: all",
}
"""The meaning of each setting of a format."""
_LABELS: Final[Mapping[str, str]] = {"owners_meet": "bots of one owner meet"}
"""Labels of settings whose names are not clear."""


@dataclass(frozen=True, slots=True)
class FormInput:
    """An input of the form.

    Args:
        kind: "text", "number", "choice" or "checkbox".
        usual: the default, shown as a placeholder.
        choices: the values of a choice with their texts.
        least: the smallest number; None: any.
        most: the greatest number; None: any.
    """

    name: str
    label: str
    hint: str = ""
    kind: str = "text"
    value: str = ""
    usual: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    step: str = "1"


@dataclass(frozen=True, slots=True)
class BotChoice:
    """A bot that can enter; `line`: its standing on the ladder of the game, None without one."""

    id: str
    owner: str
    line: StandingsLine | None
    chosen: bool


def tournament_form(
    web: WebState,
    inputs: Sequence[InputField],
    sent: Mapping[str, str],
    preview: SchedulePreview | None = None,
) -> dict[str, Any]:
    """Return the variables of the form of a new tournament.

    Args:
        sent: the texts of the form; a missing one has its default.
    """
    game, kind = sent.get("game", ""), sent.get("format", "")
    game = game if game in GAMES else next(iter(GAMES))
    kind = kind if kind in registry.FORMATS else "round-robin"
    preset = sent.get("preset", "") if sent.get("preset", "") in PRESETS else ""
    sent = {**_preset_texts(preset), **sent}
    ladder = ladder_of(web, game)
    bots, omitted, others = bot_choices(web, game, sent.get("bots", ""), ladder)
    by_name = {each.name: each for each in inputs}
    match_inputs = [_input(by_name["boards"], sent), *_seats(game, sent)]
    clock_inputs = [_input(each, sent) for each in inputs if each.kind == "seconds"]
    further = [_input(by_name[name], sent) for name in ("faults", "corrections", "seed", "paused")]
    return {
        "game": game,
        "format": kind,
        "preset": preset,
        "games": tuple((each, GAMES[each].title) for each in GAMES),
        "formats": tuple((each, FORMATS.get(each, "")) for each in registry.FORMATS),
        "bots": bots,
        "omitted": omitted,
        "others": others,
        "name": sent.get("name", ""),
        "groups": (
            ("Matches", match_inputs),
            (f"Format: {kind}", list(_settings(kind, sent))),
            (f"Rules of {GAMES[game].title}", list(_options(game, sent))),
            ("Time limits", clock_inputs),
            ("Faults, seed and start", further),
        ),
        "ladder": ladder.scope.name if ladder else "",
        "preview": preview,
    }


def _preset_texts(name: str) -> Mapping[str, str]:
    """Return the values of a preset as the form sends them."""
    preset = {**PRESETS.get(name, {})}
    clock = preset.pop("clock", {})
    seconds = {
        each.replace("_ms", "_seconds"): f"{value / 1000:g}" for each, value in clock.items()
    }
    return {each: str(value) for each, value in preset.items()} | seconds


def ladder_of(web: WebState, game: str) -> Ladder | None:
    """Return the ladder of a game with the most matches; None without one."""
    ladders = [each for each in web.snapshot.ladders.values() if each.scope.game == game]
    return max(ladders, key=lambda each: each.table.matches, default=None)


def bot_choices(
    web: WebState, game: str, chosen: str, ladder: Ladder | None, without: Sequence[str] = ()
) -> tuple[tuple[BotChoice, ...], int, str]:
    """Return the newest versions of the bots that play a game, the strongest first.

    Args:
        chosen: the chosen bots, one per line.
        ladder: the ladder of the places; None without one.
        without: versions that are not offered.

    Returns:
        The listed bots, the number of the others, and the chosen ones that are not listed.
    """
    lines = [line.strip() for line in chosen.splitlines() if line.strip()]
    known = {line.entrant: line for _, line in ladder.table.ranked} if ladder else {}
    newest = {
        version.name: version
        for version in sorted(web.snapshot.versions.values(), key=lambda each: each.created)
        if version.retired is None and version.quarantined is None and version.plays(game)
    }
    choices = [
        BotChoice(
            version.id,
            version.owner,
            known.get(version.id),
            version.id in lines or version.name in lines,
        )
        for version in newest.values()
        if version.id not in without
    ]
    choices.sort(key=lambda each: (-each.line.strength.value if each.line else inf, each.id))
    # All chosen bots are listed.
    offered = {each.id for each in sorted(choices, key=lambda each: not each.chosen)[:MOST_BOTS]}
    listed = [each for each in choices if each.id in offered]
    names = {name for each in listed for name in (each.id, each.id.partition("@")[0])}
    others = "\n".join(line for line in lines if line not in names)
    return tuple(listed), len(choices) - len(listed), others


def _seats(game: str, sent: Mapping[str, str]) -> Iterator[FormInput]:
    """Yield the choice of the number of players at a table, if the game has one."""
    usual, *further = GAMES[game].seats
    if further:
        choices = (("", f"{usual} (usual)"), *((str(each), str(each)) for each in further))
        value = sent.get("seats", "")
        yield FormInput("seats", "Players at a table", kind="choice", value=value, choices=choices)


def _input(each: InputField, sent: Mapping[str, str]) -> FormInput:
    least = most = None
    usual, step = each.example if each.kind in ("number", "seconds") else "", "1"
    if each.bounds:
        scale = 1000 if each.kind == "seconds" else 1
        least, most = each.bounds.least / scale, each.bounds.most / scale
    hint = each.summary
    if each.kind == "seconds":
        usual, step, hint = f"{int(each.example) / 1000:g}", "any", ""
    kind = "choice" if each.choices else each.kind.replace("seconds", "number")
    return FormInput(
        each.input,
        each.label or each.name,
        hint,
        kind,
        sent.get(each.input, each.example if each.choices else usual),
        usual,
        tuple((choice, choice) for choice in each.choices),
        least,
        most,
        step,
    )


def _options(game: str, sent: Mapping[str, str]) -> Iterator[FormInput]:
    for name, option in GAMES[game].options.items():
        yield _pair(f"options.{name}", option.default, option.meaning, option.choices, sent)


def _settings(kind: str, sent: Mapping[str, str]) -> Iterator[FormInput]:
    defaults = {each.name: each.default for each in fields(registry.FORMATS[kind])}  # type: ignore[arg-type]
    for name in registry.settings_of(kind):
        meaning = _SETTINGS.get(name, "")
        yield _pair(f"settings.{name}", defaults[name], meaning, (), sent)


def _pair(
    name: str, default: object, meaning: str, choices: Sequence[str], sent: Mapping[str, str]
) -> FormInput:
    """Return the input of an option or a setting."""
    word = name.partition(".")[2]
    label = _LABELS.get(word, word.replace("_", " "))
    text = str(default).lower() if isinstance(default, bool) else str(default)
    value = sent.get(name, text)
    if isinstance(default, bool):
        yes_or_no = (("true", "yes"), ("false", "no"))
        return FormInput(name, label, meaning, "choice", value, text, yes_or_no)
    if choices:
        named = tuple((choice, choice) for choice in choices)
        return FormInput(name, label, meaning, "choice", value, text, named)
    kind = "text" if isinstance(default, str) else "number"
    step = "any" if isinstance(default, float) else "1"
    least = registry.BOUNDS.get(word)
    return FormInput(
        name, label, meaning, kind, value, text, least=least.least if least else None, step=step
    )
