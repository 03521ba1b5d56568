"""Pages on which a person plays against bots: the table and its replay; the choice of bots."""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup

from arena.bots import manifest, resolver
from arena.bots.bot import Bot, with_unique_labels
from arena.errors import BotError, NotFound, StoreError
from arena.matches import human_seats
from arena.matches.hints import Hint, gives_hints
from arena.matches.human_seats import PersonQuestion
from arena.matches.local_match import LocalMatch, local_match
from arena.matches.play_table import PlayTable, TableState, question_id
from arena.matches.typed_choice import matching
from arena.presentation import shipped_docs
from arena.presentation.frames import FrameSequence, frame_sequence
from arena.presentation.narration import outcome, result
from arena.store.bots import version_files, versions
from arena.store.bots.versions import Version
from arena.store.match_settings import MatchSettings, one_game
from arena.web.data.web_state import WebState
from arena.web.markdown_to_html import rendered
from arena.web.page import InvalidQuery, Links, Page, PageNotFound, PageRequest
from arena.web.pages.replay import replay_view
from arena.web.pages.replay_content import replay
from referee.games.contract import Action, Game, SetupError
from referee.games.registry import GAMES
from referee.presentation.elements import Badge, PublicAction, TableRendering
from referee.presentation.registry import presentation_of
from referee.presentation.selection import Selection, with_controls, with_new
from referee.record import read

THINK_SECONDS: Final = (300, 900, 1800, 3600)
"""Thinking times of a person for a match that the page offers, besides none."""
_SHOWN_ACTIONS: Final = 60
_PICK: Final = "\N{SYMBOL FOR NULL}"
"""Stands for the next element in the pattern of an action's wording."""
_YOU: Final = "\N{SYMBOL FOR SUBSTITUTE}"
"""Stands for the name of the person in texts, until they address the person."""
_VERB: Final = re.compile(r"((?:^| and )[a-z]+s)\b")
"""The verbs of the phrase of an action: "discards 2 cards and draws as many"."""
_LISTED_BOTS: Final = 200
_PRIVATE: Final = {"Cache-Control": "no-store"}

QUERY: Final = (
    ("seats", "number of seats"),
    *{
        name: (name, f"option of the game: {option.meaning}")
        for game in GAMES.values()
        for name, option in game.options.items()
    }.values(),
)


def table_setup(name: str, given: Mapping[str, str]) -> MatchSettings:
    """Return the settings that a form or a query describes; defaults replace what is missing.

    Raises:
        PageNotFound: the game is unknown.
        InvalidQuery: an option or the number of seats is not allowed.
    """
    game = GAMES.get(name)
    if game is None:
        raise PageNotFound(f"unknown game {name}; available: {', '.join(GAMES)}.")
    seats = None
    if text := given.get("seats"):
        seats = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0
    try:
        # The default for faults: one of a bot does not end a game of three or more.
        return one_game(game, {n: given[n] for n in game.options if given.get(n)}, seats)
    except SetupError as error:
        raise InvalidQuery(f"{error}.") from None


def playable_bots(web: WebState, game: Game) -> tuple[tuple[str, str], ...]:
    """Return the bots that can be chosen as pairs of name and label: house bots, then versions."""
    house = [(f"sample:{name}", f"{name}, house bot") for name in resolver.samples()]
    playing = [pair for pair in house if _sample(pair[0]).plays(game.id)]
    stored = [
        (version.id, version.id)
        for version in reversed(versions.list_versions(web.engine))
        if _is_playable(version, game.id)
    ]
    return (*playing, *stored[:_LISTED_BOTS])


def _is_playable(version: Version, game: str) -> bool:
    """Whether the server can start this version: it is hosted, active and plays the game."""
    is_active = version.retired is None and version.quarantined is None
    return is_active and bool(version.folder) and version.plays(game)


@lru_cache(maxsize=16)
def _sample(name: str) -> Bot:
    return resolver.sample(name.removeprefix(resolver.SAMPLE))


def prepared(web: WebState, game: str, form: Mapping[str, str]) -> LocalMatch:
    """Return the match that a form describes.

    Args:
        web: the server's state.
        game: the id of the game.
        form: seats, options, "place" (the person's place among the entrants, from 0), "bot0",
            "bot1" and so on (the other entrants in order), "partner", "think" (seconds), and "name"
            (the person's name).

    Raises:
        PageNotFound: the game is unknown.
        InvalidQuery: a value of the form is not allowed.
    """
    setup = table_setup(game, form)
    places = [str(number) for number in range(setup.sides)]
    place = form.get("place") or "0"
    if place not in places:
        raise InvalidQuery(f"place must be {' or '.join(places)}.")
    usual = resolver.usual_opponent(setup.rules.id)
    bots = [_bot(web, setup.rules, form.get(f"bot{n}") or usual) for n in range(setup.sides - 1)]
    name = _person_name(web, form.get("name") or "")
    person = human_seats.person(_think_seconds(form.get("think") or ""), name)
    if setup.seats > setup.sides:
        partner = _bot(web, setup.rules, form.get("partner") or usual)
        person = human_seats.with_partner(person, partner)
    bots.insert(int(place), person)
    return local_match(with_unique_labels(bots), setup, secrets.token_bytes(32))


def setup_fields(game: str, form: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form that `prepared` has accepted."""
    names = {"seats", "place", "partner", "think", "name", *GAMES[game].options}
    return {n: v for n, v in form.items() if n in names or re.fullmatch(r"bot\d", n)}


def _person_name(web: WebState, name: str) -> str:
    """Check the name of a person, which no bot may have."""
    if name and not manifest.NAME.fullmatch(name):
        raise InvalidQuery(f"your name must match {manifest.NAME.pattern}.")
    if name in resolver.samples() or (name and versions.owner_of(web.engine, name) is not None):
        raise InvalidQuery("a bot has this name; choose another name.")
    return name


def _think_seconds(text: str) -> int | None:
    if not text:
        return None
    if text not in map(str, THINK_SECONDS):
        raise InvalidQuery(f"think must be one of {', '.join(map(str, THINK_SECONDS))}.")
    return int(text)


def _bot(web: WebState, game: Game, name: str) -> Bot:
    """Return a bot by its name in the form. The name is never used as a path or an address."""
    try:
        if name.startswith(resolver.SAMPLE):
            bot = _sample(name)
        else:
            version = versions.find_version(web.engine, name)
            if not _is_playable(version, game.id):
                raise InvalidQuery(f"{version.id} cannot play {game.title} here.")
            folder = web.play_tables.folder
            assert folder is not None
            bot = version_files.bot(
                web.engine, version.id, version.content_hash, version.folder, folder.versions
            )
    except NotFound:
        raise InvalidQuery("unknown bot; choose one of the list.") from None
    except (BotError, StoreError, OSError) as error:
        raise InvalidQuery(f"this bot cannot be started: {error}") from None
    if not bot.plays(game.id):
        raise InvalidQuery(f"{bot.label} does not play {game.title}.")
    return bot


def table_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the table of a person.

    Raises:
        PageNotFound: there is no such table.
    """
    table = find_table(web, page_request)
    state, spec = table.state, table.match.spec
    game = GAMES[spec.game]
    links = page_request.links
    seat, rendering, history = _visible(table, state)
    (name,) = (human_seats.person_name(bot) for bot in table.match.bots if bot.person)
    history = [_addressed(action) if action.seat == seat else action for action in history]
    seen = len(state.answered.history()) if state.answered else 0
    question = state.question
    offered = _offered(question, page_request.query.get("picks", "").split())
    selections = question.selections(tuple(offered.values())) if question else ()
    picks = [pick for each in selections for pick in each.picks]
    picks += state.hint.picks if state.hint else ()
    find = page_request.query.get("find", "").strip()[:200]
    return Page(
        title=f"{game.title}: {' v '.join(spec.versions)}",
        template="play_table.html",
        model={
            "table": table.id,
            "match": spec.id,
            "game": game,
            "presentation": presentation_of(game.id),
            "roles": {pick.role for pick in picks} | {words.split()[0] for words in offered},
            "state": state,
            "seconds_left": max((state.deadline or 0.0) - time.time(), 0.0),
            "seat": seat,
            "rendering": rendering,
            "frames": rendering
            and _frames_seen_by(rendering, seat, spec, {pick.element for pick in picks}, name),
            "turn": question and _turn(question, find, state.hint, tuple(offered), selections),
            "find": find,
            "has_hints": gives_hints(game.id),
            "again": table.form,
            "fresh_actions": tuple(history[seen:]),
            "earlier_actions": tuple(reversed(history[:seen])),
            "outcome": state.end and outcome(state.end.record, seat),
            "result": state.end and result(state.end.record).removeprefix("result: "),
            "rules_now": _rules_now(state.shown, links),
        },
        parts=("play-board", "play-turn"),
        topics=frozenset({table.topic}),
        fresh=0.0,
        # The script of this page reads the live updates, because it keeps what is typed.
        still=True,
        headers=_PRIVATE,
    )


def find_table(web: WebState, page_request: PageRequest) -> PlayTable:
    """Return the table of a request.

    Raises:
        PageNotFound: there is no such table.
    """
    table = web.play_tables.find(page_request.path["id"])
    if table is None:
        raise PageNotFound("unknown table; it may have been removed after its match.")
    return table


def _visible(
    table: PlayTable, state: TableState
) -> tuple[int, TableRendering | None, Sequence[PublicAction]]:
    """Return the person's seat, the position that the page shows, and the actions so far."""
    if state.end is not None:
        seat = state.end.names.index(state.end.viewer)
        rendering = state.end.rendered_with(_marked(state.end.names, seat))
        return seat, _to_you(rendering), state.end.history
    if state.shown is None:
        return 0, None, ()
    question = state.shown
    names = _marked(question.names, question.seat)
    rendering = question.rendering(names)
    if state.answered is not None:
        rendering = with_new(rendering, state.answered.rendering(names), question.seat)
    return question.seat, _to_you(rendering), question.history()


def _marked(names: Sequence[str], seat: int) -> tuple[str, ...]:
    """Return the names with a mark instead of that of the person's seat."""
    return tuple(_YOU if place == seat else name for place, name in enumerate(names))


def _frames_seen_by(
    rendering: TableRendering, seat: int, spec: MatchSettings, elements: Collection[str], name: str
) -> FrameSequence:
    """Return the rendering with the person's seat first, which is nearest to the reader."""
    sides = spec.rules.sides(spec.seats, spec.options)
    seats = list(rendering.seats)
    for n, each in enumerate(seats):
        if n != seat and sides[n] == sides[seat]:
            seats[n] = replace(each, badges=(Badge("partner", "plain"), *each.badges))
    rendering = replace(rendering, seats=tuple(seats))
    areas = presentation_of(spec.game).control_areas
    frames = frame_sequence([with_controls(rendering, areas, seat, elements)])
    mine, *others = (*frames.places[seat:], *frames.places[:seat])
    return replace(frames, places=(replace(mine, name=f"{name} (you)"), *others))


def _to_you(shown: Any) -> Any:
    """Return what is shown with texts that address the person: "you have drawn"."""
    if isinstance(shown, str):
        marked = rf"{_YOU}( [a-z]+s\b)?"
        return re.sub(marked, lambda match: f"you{_second_person(match)}", shown)
    if isinstance(shown, tuple):
        return tuple(map(_to_you, shown))
    if is_dataclass(shown) and not isinstance(shown, type):
        return replace(shown, **{f.name: _to_you(getattr(shown, f.name)) for f in fields(shown)})
    return shown


def _addressed(action: PublicAction) -> PublicAction:
    """Return an action of the person as something that "you" do."""
    return replace(action, phrase=_VERB.sub(_second_person, action.phrase))


def _second_person(match: re.Match[str]) -> str:
    """Return a verb in the second person, with what is before it: " wins" as " win"."""
    verb = match[1] or ""
    irregular = {" has": " have", " is": " are"}
    return irregular.get(verb) or re.sub(r"(?:((?<=ss)|(?<=o))e|(?<!s))s$", "", verb)


def _offered(question: PersonQuestion | None, picks: Sequence[str]) -> dict[str, Action]:
    """Return the listed actions by their wordings, then others that begin with these elements."""
    if question is None:
        return {}
    actions = (*question.actions, *question.continued(picks))
    return {question.presentation.choice(action): action for action in actions}


def _turn(
    question: PersonQuestion,
    find: str,
    hint: Hint | None,
    offered: Sequence[str],
    selections: Sequence[Selection],
) -> dict[str, object]:
    """Return the open question as the page shows it: at most 60 actions that match the filter.

    For the script, there is a line per action with the number of its pattern and its elements.
    Unlisted actions follow the listed ones. A line per pattern has "o" if the elements are ordered
    or "u", the number of elements that propose the action, and its wording with a character for
    each element.
    """
    choices = offered[: len(question.actions)]
    matches = matching(choices, find)
    # Many actions are grouped by what is played, too.
    kinds = Counter(" ".join(c.split()[: 1 + (len(choices) > _SHOWN_ACTIONS)]) for c in choices)
    patterns: dict[str, int] = {}
    pairs = zip(selections, offered, strict=True)
    controls = [_control(selection, words, patterns) for selection, words in pairs]
    unlisted = [(0, hint.words)] if hint and hint.words not in choices else []
    return {
        "id": question_id(question),
        "actions": (*unlisted, *((n + 1, choices[n]) for n in matches[:_SHOWN_ACTIONS])),
        "matching": len(matches),
        "total": len(choices),
        "complete": question.complete,
        "kinds": tuple(kinds.items()) if len(kinds) > 1 else (),
        "example": choices[-1],
        "controls": "\n".join(controls),
        "patterns": "\n".join(patterns),
    }


def _control(selection: Selection, words: str, patterns: dict[str, int]) -> str:
    """Return the line of an action; add its pattern to the patterns by number if it is new."""
    kind = "o" if selection.ordered else "u"
    enough = selection.enough or len(selection.picks)
    pattern = f"{kind}{enough}\t{_pattern(selection, words)}"
    return " ".join((str(patterns.setdefault(pattern, len(patterns))), *map(str, selection.picks)))


def _pattern(selection: Selection, words: str) -> str:
    left = [pick.element for pick in reversed(selection.picks)]
    return " ".join(
        _PICK if left and word == left[-1] and left.pop() else word for word in words.split()
    )


def _rules_now(question: PersonQuestion | None, links: Links) -> Markup:
    """Return the rules that apply to the question as HTML."""
    if question is None:
        return Markup()
    numbers = question.presentation.rules_now(question.view)
    text = "\n".join(shipped_docs.rule(question.rules.id, number) for number in numbers)
    # They are paragraphs of the page, not its sections.
    return rendered(re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE), links).html


def replay_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the replay of a finished match of a person.

    Raises:
        PageNotFound: there is no such table, or its match is not over.
    """
    table = find_table(web, page_request)
    if not table.is_over or not table.match.games:
        raise PageNotFound("this match has no replay: it is not over, or its game was not played.")
    text = table.match.record
    record = read(text)
    (game,) = record.games
    assert record.seed is not None
    shown = replay(
        record.match,
        game,
        record.seed,
        replay_view(page_request, record.match["seats"]),
        games=(game.number,),
        record=page_request.links.to("play", "tables", table.id, "record.jsonl"),
        verified=web.verifications.of(table.match.spec.id, lambda: text),
    )
    return Page(
        title=f"Replay: {shown.title}",
        template="play_replay.html",
        model={"r": shown, "table": table.id},
        topics=frozenset(),
        fresh=0.0,
        headers=_PRIVATE,
    )
