"""Bots at the other seats of a training environment: functions, house bots, and bot processes.

A process is started in the sandbox, receives the same messages as from the referee, and has the
time limits of a match.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from pokearena.v1 import bot_pb2

from arena.bots import build, resolver
from arena.bots.bot import Bot
from arena.bots.bot_session import BotSession, MethodUnimplemented, SessionFailed
from arena.bots.in_process import Choose, answer, load
from arena.config import DATABASE, locate, setting
from arena.errors import BotError
from arena.rl.encoded_game import EncodedGame
from arena.store.match_settings import Clock, MatchSettings
from referee.game_codec import DecodeError
from referee.games.contract import IllegalAction
from referee.games.shared.coded_errors import CodedError, InvalidValue
from referee.generic_codec import new_codec

LUCK_BITS: Final = 64
GAMES_PER_TABLE: Final = 1000
"""Number of games after which all bots start again, as at another table."""
MATCH: Final = "training"
"""Id of the match in the messages."""
_FAULT_OUTPUT_CHARACTERS: Final = 400
"""Characters of a bot's last output that the text of a fault contains."""

Opponent: TypeAlias = str | Path | Choose
"""A bot for one seat: the name of a house bot, which runs in this process; another bot as on the
command line ("name@version", a folder, "sample:greedy"), which runs in a process of its own; or a
function of a question."""


class OpponentFault(CodedError):
    """A bot in the environment did not answer correctly, which is a fault at a table.

    Attributes:
        output: the output of the bot's process so far.
    """

    def __init__(self, sentence: str, output: str = "") -> None:
        super().__init__(sentence, code="opponent-fault")
        self.output = output


class Opponents:
    """The bots of one environment. Processes start when they are first needed.

    Args:
        table: the game.
        data: the data folder of stored bots; by default as on the command line.
        clock: the time limits of bot processes.
    """

    def __init__(
        self, table: EncodedGame, data: Path | None = None, clock: Clock | None = None
    ) -> None:
        self._table = table
        self._data = data
        self._clock = clock or Clock()
        self._codec = new_codec(table.game)
        self._resolved: dict[str | Path, Bot] = {}
        self._players: dict[tuple[int, str | Path], Choose] = {}
        self._at_table: Mapping[int, Choose] = {}
        self._game = -1

    def check(self, bots: Sequence[Opponent]) -> None:
        """Resolve and build bots that run in processes.

        Raises:
            BotError: a bot does not exist, does not play the game or cannot be built.
        """
        for bot in bots:
            if not callable(bot) and not is_house_bot(bot):
                self._bot(bot)

    def seat(self, bots: Mapping[int, Opponent]) -> None:
        """Begin a game with these bots at their seats.

        Raises:
            BotError: a bot cannot be used.
            OpponentFault: a bot does not start.
        """
        self._game += 1
        self._decision = 0
        if self._game == GAMES_PER_TABLE:
            self.close()
            self._game = 0
        self._at_table = {seat: self._player(seat, bot) for seat, bot in bots.items()}
        for player in self._at_table.values():
            if isinstance(player, BotProcess):
                player.begin_game()

    def act(self, chance: Random) -> None:
        """Let bots act until a seat without a bot is to act or the game is over.

        Raises:
            OpponentFault: a bot does not answer in time with a legal action.
        """
        try:
            while (seat := self._table.actor) in self._at_table:
                assert seat is not None
                self._decide(seat, chance.getrandbits(LUCK_BITS))
        except OpponentFault:
            self._close_processes()  # The next game starts the bots again.
            raise

    def _decide(self, seat: int, luck: int) -> None:
        """Ask the bot of a seat, and play its answer."""
        table, player = self._table, self._at_table[seat]
        legal = table.state.legal(seat)
        head = bot_pb2.ActRequest(
            match=MATCH,
            game=self._game,
            decision=self._decision,
            seat=seat,
            complete=legal.complete,
            luck=luck,
        )
        data = self._codec.question(head, table.view(seat), legal)
        action = answer(player, bot_pb2.ActRequest.FromString(data))
        self._decision += 1
        try:
            table.make(self._codec.decode(action))
        except (DecodeError, IllegalAction) as error:
            if not isinstance(player, BotProcess):
                raise
            clause = f"its answer {error}" if isinstance(error, DecodeError) else str(error)
            raise player.fault(clause) from None

    def close(self) -> None:
        """End all processes."""
        self._close_processes()
        self._players.clear()
        self._at_table = {}

    def _close_processes(self) -> None:
        for key, player in list(self._players.items()):
            if isinstance(player, BotProcess):
                player.close()
                del self._players[key]

    def _player(self, seat: int, bot: Opponent) -> Choose:
        if callable(bot):
            return bot
        key = (seat, bot)
        if key not in self._players:
            opening = self._opening(seat)
            self._players[key] = (
                load(str(bot), opening)
                if is_house_bot(bot)
                else BotProcess(self._bot(bot), opening, self._clock)
            )
        return self._players[key]

    def _opening(self, seat: int) -> bot_pb2.StartRequest:
        table = self._table
        settings = MatchSettings(
            game=table.game.id,
            options=table.options,
            seats=table.seats,
            boards=GAMES_PER_TABLE,
            clock=self._clock,
        )
        return settings.start_request(MATCH, seat)

    def _bot(self, text: str | Path) -> Bot:
        if text not in self._resolved:
            bot = _resolved(text, self._data)
            if bot.relay is not None:
                raise BotError(
                    f"{bot.label} is a remote bot, which plays only in matches of its arena; "
                    "use a stored version or a folder.",
                    code="remote-bot",
                )
            if not bot.plays(self._table.game.id):
                raise BotError(
                    f"{bot.label} does not play {self._table.game.id}: it is not in the list "
                    '"games" of its bot.toml.',
                    code="not-played",
                )
            if bot.manifest is not None and bot.folder is not None and not bot.content:
                build.build(bot.manifest, bot.folder)
            self._resolved[text] = bot
        return self._resolved[text]


class BotProcess:
    """A bot in a process of its own at one seat, as a function of a question.

    Raises:
        OpponentFault: it does not start.
    """

    def __init__(self, bot: Bot, opening: bot_pb2.StartRequest, clock: Clock) -> None:
        self._label = bot.label
        self._clock = clock
        self._bank_ms = float(clock.bank_ms)
        session = BotSession(bot, opening, clock.start_ms / 1000, patience=0)
        try:
            self._session = session.__enter__()
        except SessionFailed as error:
            raise self.fault(f"did not start: {error}", error.output) from None

    def begin_game(self) -> None:
        """Fill the time bank."""
        self._bank_ms = float(self._clock.bank_ms)

    def __call__(self, question: bot_pb2.ActRequest) -> bot_pb2.Action:
        """Return the answer.

        Raises:
            OpponentFault: it is missing, late or invalid.
        """
        question.clock.CopyFrom(self._clock.message(self._bank_ms))
        self._session.patience = (self._clock.allowance_ms + self._bank_ms) / 1000
        began = time.monotonic()
        try:
            (response,) = self._session.ask(question)
        except (SessionFailed, MethodUnimplemented) as error:
            output = error.output if isinstance(error, SessionFailed) else ""
            raise self.fault(str(error) or "it implements neither Play nor Act", output) from None
        seconds = time.monotonic() - began
        # The measured time can exceed the limit a little, also when the answer was in time.
        overrun = max(0.0, 1000 * seconds - self._clock.allowance_ms)
        self._bank_ms = max(0.0, self._bank_ms - overrun)
        action: bot_pb2.Action = response.action
        return action

    def fault(self, clause: str, output: str = "") -> OpponentFault:
        """Return an error about this bot."""
        last = output.strip()[-_FAULT_OUTPUT_CHARACTERS:]
        shown = f"\nEnd of its output:\n{last}" if last else ""
        return OpponentFault(f"{self._label}: {clause}.{shown}", output)

    def close(self) -> None:
        """End the process."""
        self._session.close()


def is_house_bot(bot: str | Path) -> bool:
    """Return whether this is the name of a house bot, which runs in this process."""
    return isinstance(bot, str) and bot in resolver.samples()


def one_each(bots: Opponent | Sequence[Opponent], count: int) -> list[Opponent]:
    """Return the bots of the other seats in order.

    Raises:
        ValueError: their number is wrong.
    """
    if isinstance(bots, str | Path) or callable(bots):
        return [bots] * count
    if len(bots) != count:
        raise InvalidValue(
            f"there are {len(bots)} bots; {count} other seats need one each", code="bot-count"
        )
    return list(bots)


def _resolved(text: str | Path, data: Path | None) -> Bot:
    """Return a bot given as on the command line; the store is read only if it exists."""
    if isinstance(text, Path):
        return resolver.local(text)
    folder = locate(data)
    if setting(DATABASE) is None and not folder.database.exists():
        return resolver.resolve(text)
    # Imported late, because the store takes longer to import than everything else here.
    from arena.store import database
    from arena.store.bots import stored_bots

    engine = database.open(folder.database_url())
    try:
        return resolver.resolve(
            text,
            lambda name, number: stored_bots.find_stored_bot(engine, folder, name, number),
            lambda: stored_bots.active_versions(engine),
        )
    finally:
        engine.dispose()
