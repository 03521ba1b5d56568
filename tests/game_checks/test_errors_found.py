"""The suite of games finds each error that is put into a game on purpose."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from referee.game_checks.suite import CHECKS, check_game, check_table, checked_tables
from referee.games.contract import Game
from referee.games.game_packages import SETTING
from referee.games.registry import find_game
from tests.game_package import installed_packages
from tests.sample_games.installation import SAMPLES, install_package

folder = pytest.fixture(installed_packages)
Load = Callable[[Mapping[str, str]], Game]
GAME = "high_card"

LEGAL = "isinstance(action, Play) and action.card in self.hand"
LISTED = "return (Play(card) for card in self.hand)"
SEEN = "return self._seen(self.hands[seat])"
PUBLIC = "return self._seen(())"
SIZES = "sizes = tuple(map(len, self.hands))"
OPTIONS = "return Plays(self.hands[seat])"
MOVED = "((seat, action),) = moves.items()"
LED = "        if not self.led:\n"
POINTS = "        points = list(self.points)\n"
HIDDEN = "hidden = [number for number in range(len(self.hands)) if number != seat]"
DECKED = 'deck = luck.shuffled("deck", 0, DECK)'
IMPORT = "from dataclasses import dataclass\n"
SHOWN = "    clip = 3\n"

ERRORS: dict[str, tuple[str, dict[str, str]]] = {
    "a view with a card of another seat": (
        "secrecy",
        {SEEN: "return self._seen((*self.hands[seat], *self.hands[1 - seat][:1]))"},
    ),
    "a public view with a hand": ("secrecy", {PUBLIC: "return self._seen(self.hands[0])"}),
    "a view that depends on the stock": (
        "secrecy",
        {SIZES: "sizes = (*map(len, self.hands), RANK[self.stock[0]])"},
    ),
    "legal actions that depend on the stock": (
        "secrecy",
        {OPTIONS: "return Plays(self.hands[seat][: 1 + RANK[self.stock[0]] % 2])"},
    ),
    "a re-deal of the own hand": ("secrecy", {HIDDEN: "hidden = list(range(len(self.hands)))"}),
    "a re-deal that loses a card": (
        "secrecy",
        {"in_order(pool[:size])": "in_order(pool[: size - 1])"},
    ),
    "a re-deal that is missing": ("secrecy", {"    def redeal(": "    def deal_again("}),
    "a re-deal of nothing": ("complete-redeal", {HIDDEN: f"return self\n        {HIDDEN}"}),
    "a re-deal that keeps the stock": ("from-view", {"stock=pool": "stock=self.stock"}),
    "a position of a view without its points": (
        "from-view",
        {"view.led, view.played, view.scores": "view.led, view.played, (0, 0)"},
    ),
    "global random numbers in a move": (
        "purity",
        {MOVED: f"random.random()\n        {MOVED}", IMPORT: f"import random\n{IMPORT}"},
    ),
    "a counter in views": (
        "purity",
        {
            SIZES: "sizes = (next(COUNTER),)",
            "HAND = 3\n": "HAND = 3\nCOUNTER = count()\n",
            IMPORT: f"{IMPORT}from itertools import count\n",
        },
    ),
    "a move that changes the position before it": (
        "purity",
        {POINTS: f'        object.__setattr__(self, "played", ())\n{POINTS}'},
    ),
    "a deal without the seed": (
        "determinism",
        {
            DECKED: "deck = tuple(random.sample(DECK, len(DECK)))",
            IMPORT: f"import random\n{IMPORT}",
        },
    ),
    "a deal without chance": ("boards", {DECKED: "deck = DECK"}),
    "the order of a set": (
        "other-processes",
        {LISTED: "return (Play(card) for card in set(self.hand))"},
    ),
    "a field that cannot be sent": (
        "view-messages",
        {'hand_sizes: tuple[int, ...]\n    """Cards': 'hand_sizes: dict[int, int]\n    """Cards'},
    ),
    "a value of another type than its field": (
        "view-messages",
        {'played: Hand\n    """The cards': 'played: tuple[int, ...]\n    """The cards'},
    ),
    "another type of views": ("view-messages", {"view_type = HighCardView": "view_type = Play"}),
    "an action that cannot be sent": ("action-messages", {"    card: str\n": "    card: object\n"}),
    "another type of actions": (
        "listing",
        {"action_types = (Play,)": "action_types = (HighCardView,)"},
    ),
    "an action that is listed and refused": ("listing", {LEGAL: f"{LEGAL}[1:]"}),
    "an action that is listed twice": (
        "listing",
        {LISTED: "return (Play(card) for card in (*self.hand, self.hand[0]))"},
    ),
    "a random action that is not that of the list": (
        "listing",
        {f"        {LISTED}\n": f"        {LISTED}\n\n    def any(self, chance):\n"
         "        return Play(self.hand[0])\n"},
    ),
    "an action that is accepted and not listed": (
        "refusal",
        {LEGAL: "isinstance(action, Play) and len(action.card) == 2"},
    ),
    "an exception for a value that is no action": ("refusal", {LEGAL: "action.card in self.hand"}),
    "an action that cannot be played": (
        "random-games",
        {LED: f'        if action.card[1] == "S":\n            raise KeyError(action)\n{LED}'},
    ),
    "no legal action": (
        "random-games",
        {OPTIONS: "return Plays(self.hands[seat] if len(self.played) < 4 else ())"},
    ),
    "a seat that acts twice": ("random-games", {"(1 if self.led else 0,)": "(1, 1)"}),
    "scores of one seat": ("random-games", {"return self.points\n": "return self.points[:1]\n"}),
    "scores that are fractions": (
        "random-games",
        {"return self.points\n": "return tuple(each / 2 for each in self.points)\n"},
    ),
    "a game that the referee cannot end": (
        "harmless-games",
        {
            LED: "        if action.card == self.hands[seat][0] and len(self.hands[seat]) == 3:\n"
            f"            return self\n{LED}"
        },
    ),
    "a list in a position": (
        "immutability",
        {"played = (*self.played, led, action.card)":
         "played = [*self.played, led, action.card]"},
    ),
    "moves of other seats": (
        "turns",
        {"    def after(self": "    def play(self, moves):\n        return self.after("
         "{self.actors[0]: next(iter(moves.values()))})\n\n    def after(self"},
    ),
    "a view that is not frozen": (
        "description",
        {"(frozen=True, slots=True)\nclass HighCardView": "\nclass HighCardView"},
    ),
    "a number of seats twice": ("description", {"seats = (2,)": "seats = (2, 2)"}),
    "one side for all seats": (
        "description",
        {"    def _start(": "    def sides(self, seats, options):\n        return (0, 0)\n\n"
         "    def _start("},
    ),
    "two actions with one text": (
        "action-texts",
        {SHOWN: f'{SHOWN}\n    def choice(self, action):\n        return "play"\n'},
    ),
    "a text that is not read": (
        "action-texts",
        {SHOWN: f"{SHOWN}\n    def parse(self, text):\n        return None\n"},
    ),
    "an error of the presentation for spectators": (
        "rendering",
        {"view = hands.get(seat)": "view = hands[seat]"},
    ),
    "a history that forgets": (
        "history",
        {SHOWN: f"{SHOWN}\n    def history(self, public):\n        return public.played[-2:]\n"},
    ),
    "slow rules": ("speed", {MOVED: f"sum(range(2_000_000))\n        {MOVED}"}),
}  # fmt: skip
"""Changes of High Card, with the check that finds each of them."""


@pytest.fixture
def load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Return a function that installs High Card with changes and returns it."""

    def install(changes: Mapping[str, str]) -> Game:
        monkeypatch.setenv(SETTING, install_package(folder, SAMPLES / GAME, changes))
        return find_game(GAME)

    return install


@pytest.mark.long
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_found(load: Load, error: str) -> None:
    check, changes = ERRORS[error]
    game = load(changes)
    assert [each for table in checked_tables(game) if (each := check_table(check, table).problem)]


def test_every_check_finds_an_error() -> None:
    # A record of a game that passes the other checks is correct.
    unused = set(CHECKS) - {check for check, _ in ERRORS.values()}
    assert unused == {"listed-are-played", "redealt-games", "records"}


@pytest.mark.long
def test_a_correct_game_has_no_problem(load: Load) -> None:
    assert [result for result in check_game(load({})) if result.problem] == []
