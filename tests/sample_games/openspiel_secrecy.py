"""Check what the games of OpenSpiel show, apart from the arena's suite; print the problems.

Runs in the environment of an author, because the tests have no OpenSpiel. The first check deals
again by OpenSpiel's own chance nodes. The second one compares with OpenSpiel's own re-deals where
they exist. The third one looks for the names of hidden cards.
"""

import random
import re

from openspiel_games import games
from openspiel_games.adapter import OpenSpielState, position

from referee.games.contract import Game
from referee.games.shared.dealing import Seeded

GAMES = [kind for kind in vars(games).values() if isinstance(kind, type) and hasattr(kind, "id")]
WALKS = 4
RESAMPLED = ("kuhn_poker", "leduc_poker", "gin_rummy", "hearts", "euchre", "bridge")
CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS])\b")


def dealt_again(state, seat, rng):
    """Return a first position with other outcomes where the seat has not seen them."""
    now, events = position(state.name, ()), state.view(seat).events
    seen = {event.name for event in events}
    for event in events:
        others = [action for name, action in now.actions().items() if name not in seen]
        now = now.after(rng.choice(others) if event.action < 0 else event.action)
    history = tuple(action for _, action in now.steps)
    return OpenSpielState(state.name, history, state.luck)


def first_positions(game, rng):
    state = game.start(Seeded(rng.randbytes(32)))
    for seat in range(len(state.scores)):
        for _ in range(WALKS):
            other = dealt_again(state, seat, rng)
            if other.actors != state.actors:
                continue  # Who begins in hearts depends on a card.
            if other.view(seat) != state.view(seat):
                yield f"{game.id}: the first view of seat {seat} depends on hidden outcomes"
            if other.public() != state.public():
                yield f"{game.id}: the public view depends on hidden outcomes"


def later_positions(game, rng):
    state = game.start(Seeded(rng.randbytes(32)))
    while state.actors:
        for seat in range(len(state.scores)):
            if game.id in RESAMPLED:
                other = state.now.state.resample_from_infostate(seat, rng.random)
                shown = (
                    other.observation_string
                    if state.rules.game.get_type().provides_observation_string
                    else other.information_state_string
                )
                if shown(seat) != state.view(seat).text:
                    yield f"{game.id}: the text of seat {seat} depends on hidden cards"
            yield from hidden_names(game, state, seat)
        if not state.rules.is_open and state.public().text:
            yield f"{game.id}: spectators see a text"
        state = state.play({state.actors[0]: state.legal(state.actors[0]).any(rng)})
    if not state.rules.is_open and any(state.view(seat).text for seat in range(len(state.scores))):
        yield f"{game.id}: the end has a text, which may have all hands"


def hidden_names(game: Game, state: OpenSpielState, seat: int):
    """Find cards in the text of a seat that it has not seen, by their names in cribbage."""
    if game.id != "cribbage":
        return
    view = state.view(seat)
    seen = set(CARD.findall(" ".join(event.name for event in view.events)))
    if unseen := set(CARD.findall(view.text)) - seen:
        yield f"{game.id}: seat {seat} reads {unseen}"


def knowledge(game, rng):
    """Every hidden event has been seen by somebody, and all public ones by everybody."""
    state = game.start(Seeded(rng.randbytes(32)))
    while state.actors:
        state = state.play({state.actors[0]: state.legal(state.actors[0]).any(rng)})
    views = [state.view(seat) for seat in range(len(state.scores))]
    for events in zip(*(view.events for view in views), strict=True):
        seen = [event.action >= 0 for event in events]
        if not any(seen) or (events[0].public and not all(seen)):
            yield f"{game.id}: nobody or not everybody sees {events[0]}"
        if not events[0].public and all(seen):
            yield f"{game.id}: everybody sees a hidden event {events[0]}"


def main():
    rng = random.Random(1)
    for kind in GAMES:
        game = kind()
        for _ in range(WALKS):
            for check in (first_positions, later_positions, knowledge):
                for problem in check(game, rng):
                    print(problem)


assert len(GAMES) >= 12, GAMES
main()
