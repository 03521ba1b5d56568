"""Run a tuning: play iterations in parallel, and store their results after every batch."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from arena.bots.bot import Bot
from arena.bots.version_store import content_hash
from arena.config import Folder
from arena.errors import BotError
from arena.matches import local_match
from arena.matches.tuning import spsa
from arena.matches.tuning.spsa import Parameter
from arena.matches.tuning.tuning_file import TuningFile, with_arguments
from arena.ratings.closed_match import PlayedGame
from arena.store import match_settings
from arena.system import output_file
from referee.games.shared.dealing import derive

FORMAT = 1
"""Version of the file of results."""


@dataclass(frozen=True, slots=True)
class Result:
    """The games of one iteration, for the first of its two versions."""

    wins: int
    draws: int
    losses: int
    faults: int = 0
    """Games with a fault of either version."""

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses


Play = Callable[[int, Mapping[str, str], Mapping[str, str]], Result]
"""Plays an iteration: its number, and the values of the two versions as texts."""


class StoredResultsError(BotError):
    """The stored results belong to another tuning or are damaged."""


class Tuning:
    """The state of a tuning: the results of its iterations, from which all values follow.

    Args:
        parameters: the parameters.
        iterations: the number of iterations.
        parallel: iterations that are played at the same time with the same values. The values
            depend on this number, but not on which of them ends first.
        seed: the seed, 32 bytes.
        key: identifies the settings and the bot; stored results need the same key.
        path: the file of the results; None stores nothing.

    Raises:
        StoredResultsError: the file cannot be continued.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        iterations: int,
        parallel: int,
        seed: bytes,
        key: str = "",
        path: Path | None = None,
    ) -> None:
        self.parameters = parameters
        self.iterations = iterations
        self._parallel = parallel
        self._seed = seed
        self._key = key
        self._path = path
        self.values = {parameter.name: parameter.start for parameter in parameters}
        self.results: list[Result] = []
        if path is not None and path.exists():
            self._apply(_stored(path, key))

    @property
    def total(self) -> Result:
        """The sum of all results."""
        sums = [sum(part) for part in zip(*(_row(r) for r in self.results), strict=True)]
        return Result(*sums) if sums else Result(0, 0, 0)

    def texts(self) -> dict[str, str]:
        """Return the current values as the bot receives them."""
        return {p.name: p.text(self.values[p.name]) for p in self.parameters}

    def run(
        self,
        play: Play,
        on_progress: Callable[[int], None] = lambda done: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        """Play the remaining iterations.

        After an error or Ctrl-C, the results of all finished batches are stored.

        Args:
            play: plays an iteration; called from several threads.
            on_progress: called with the number of finished iterations after each batch.
            stop: called after an error or Ctrl-C, so that `play` ends soon.

        Raises:
            BotError: every game of a batch had a fault.
        """
        with ThreadPoolExecutor(self._parallel) as pool:
            try:
                while len(self.results) < self.iterations:
                    self._apply(self._batch(pool, play))
                    self._store()
                    on_progress(len(self.results))
            except BaseException:
                stop()
                pool.shutdown(cancel_futures=True)
                raise

    def _batch(self, pool: ThreadPoolExecutor, play: Play) -> list[Result]:
        """Play iterations with the current values; return their results in order."""
        done = len(self.results)
        batch = range(done, min(done + self._parallel, self.iterations))
        played = [pool.submit(play, k, *self._versions(k)) for k in batch]
        results = [future.result() for future in played]
        if all(result.faults == result.games for result in results):
            raise BotError(
                "every game had a fault of the bot; play it against itself to see why.",
                code="every-game-faulted",
            )
        return results

    def _versions(self, iteration: int) -> tuple[dict[str, str], dict[str, str]]:
        first, second = spsa.perturbed(
            self.parameters, self.values, self._seed, iteration, self.iterations
        )
        return (
            {p.name: p.text(first[p.name]) for p in self.parameters},
            {p.name: p.text(second[p.name]) for p in self.parameters},
        )

    def _apply(self, results: Sequence[Result]) -> None:
        for result in results:
            self.values = spsa.moved(
                self.parameters,
                self.values,
                self._seed,
                len(self.results),
                self.iterations,
                result.wins - result.losses,
            )
            self.results.append(result)

    def _store(self) -> None:
        if self._path is None:
            return
        rows = [_row(result) for result in self.results]
        content = {"format": FORMAT, "key": self._key, "values": self.values, "results": rows}
        output_file.write_text(self._path, json.dumps(content) + "\n")


def _row(result: Result) -> tuple[int, int, int, int]:
    return result.wins, result.draws, result.losses, result.faults


def _stored(path: Path, key: str) -> list[Result]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        results = [Result(*map(int, row)) for row in content["results"]]
        is_same = (content["format"], content["key"]) == (FORMAT, key)
    except (ValueError, KeyError, TypeError) as error:
        raise StoredResultsError(
            f"{path} does not contain the results of a tuning ({error}); delete it, or use "
            "--restart.",
            code="damaged-results",
        ) from None
    if not is_same:
        raise StoredResultsError(
            f"{path} contains results for other settings or another version of the bot; "
            "--restart begins again.",
            code="other-tuning",
        )
    return results


def key_of(file: TuningFile, bot: Bot) -> str:
    """Return a hash of everything that the results of a tuning depend on."""
    text = json.dumps([asdict(file), content_hash(bot)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Stopped(Exception):
    """A match ended because the tuning was interrupted."""


class MatchPlayer:
    """Plays iterations as local matches of two copies of a bot with different arguments."""

    def __init__(
        self,
        file: TuningFile,
        bot: Bot,
        folder: Folder,
    ) -> None:
        self._file = file
        self._bot = bot
        self._folder = folder
        self._seed = match_settings.seed_of(file.seed)
        self._stop = Event()

    def stop(self) -> None:
        """End the matches under way at their next finished game."""
        self._stop.set()

    def play(self, iteration: int, first: Mapping[str, str], second: Mapping[str, str]) -> Result:
        """Play one iteration: every board in all seatings."""
        seed = derive(self._seed, "tuning", iteration)
        match = local_match.local_match(
            [self._version("first", first), self._version("second", second)],
            self._file,
            seed,
        )
        try:
            local_match.play(match, self._folder, self._stop_if_requested)
        finally:
            # Thousands of matches would fill the disk with the output of their bots.
            shutil.rmtree(self._folder.outputs / match.spec.id, ignore_errors=True)
        ahead = [game.places[1] - game.places[0] for game in match.games]
        return Result(
            sum(lead > 0 for lead in ahead),
            sum(lead == 0 for lead in ahead),
            sum(lead < 0 for lead in ahead),
            sum(any(game.faults) for game in match.games),
        )

    def _stop_if_requested(self, game: PlayedGame) -> None:
        if self._stop.is_set():
            raise Stopped

    def _version(self, label: str, values: Mapping[str, str]) -> Bot:
        assert self._bot.manifest is not None
        run = with_arguments(self._bot.manifest.run, values)
        return replace(self._bot, label=label, manifest=replace(self._bot.manifest, run=run))


@contextmanager
def match_player(file: TuningFile, bot: Bot) -> Iterator[MatchPlayer]:
    """Yield a player of local matches; at the end, its matches are stopped."""
    with TemporaryDirectory(prefix="pokearena-tune-") as directory:
        player = MatchPlayer(file, bot, Folder(Path(directory)))
        try:
            yield player
        finally:
            player.stop()
