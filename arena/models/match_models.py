"""The models of a match: which bots may use which, at endpoints of their own at each table."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from sqlalchemy.exc import SQLAlchemyError

from arena import config
from arena.bots.sandbox.level import Level
from arena.errors import Conflict, InfrastructureError
from arena.models.endpoint_client import EndpointClient
from arena.models.excused_time import TimeReport
from arena.models.models_file import ModelsFile, ModelsFileError, missing_keys, read_models
from arena.models.table_endpoint import Ledger, ModelUnavailable, Seat, TableEndpoint
from arena.models.transcripts import RecordedReplies, TranscriptWriter
from arena.ratings.call_figures import CallFigures
from arena.store.bots.model_grants import GrantedModels
from arena.store.matches import model_calls
from arena.store.matches.model_calls import MODELS_UNAVAILABLE, Caller, CallPlace
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import TablePlan
from arena.system import temporary_folder

if TYPE_CHECKING:
    from sqlalchemy import Engine

_NEEDED: Final = (
    "it uses models, which only the sandbox level bubblewrap can give it (apt install bubblewrap)"
)

OnTime = Callable[[int, TimeReport], None]
"""Receives a seat and a report on the time of its calls, from another thread."""


@dataclass(frozen=True, slots=True)
class MatchModels:
    """The models of a match.

    Attributes:
        engine: the store; None on the machine of an author who has none.
        file: the content of `models.toml`.
        match: id of the match.
        granted: the models of its versions, by version.
        outputs: folder of the match's output, which gets the transcripts; None: it gets none.
        attempt: number of the match's attempt.
    """

    engine: Engine | None
    file: ModelsFile
    match: str
    granted: Mapping[str, GrantedModels]
    outputs: Path | None
    attempt: int = 1
    _recorded: dict[str, RecordedReplies] = field(default_factory=dict)

    def table(
        self, spec: MatchSpec, plan: TablePlan, on_lost: Callable[[str], None], on_time: OnTime
    ) -> TableModels:
        """Return the endpoints of a table, which are opened by `with`.

        Args:
            spec: the match.
            plan: the table, with the boards that are still to be played.
            on_lost: called with a sentence if a model does not answer.
            on_time: called with a seat and a report on the time of its calls.
        """
        versions = [spec.versions[entrant] for entrant in plan.seating]
        part = len(plan.boards) / spec.boards
        budget = int(self.file.limits.table_budget(spec.games // spec.boards) * part)
        return TableModels(self, plan.table, versions, budget, on_lost, on_time)

    def clients(self, version: str) -> dict[str, EndpointClient]:
        """Return the endpoints that a version may call, by model."""
        seconds = self.file.limits.call_seconds
        models = {name: self.file.models[name] for name in self.granted[version].models}
        return {
            name: EndpointClient(model, model.key_value(), seconds)
            for name, model in models.items()
        }

    @contextmanager
    def reserved(self, tables: int) -> Iterator[None]:
        """Take the tokens of a match's tables from the days of the owners, until the block ends.

        So no bot can pause its match by using up the day in another match.

        Raises:
            InfrastructureError: all calls are stopped, or the rest of a day is too small.
        """
        if self.engine is None or self.file.transcripts:
            yield
            return
        limits = self.file.limits
        owners = {version: each.owner for version, each in self.granted.items()}
        tokens = tables * limits.table_budget(tables)
        try:
            model_calls.reserve_match(
                self.engine, self.match, self.attempt, owners, tokens, limits.owner_day_tokens
            )
        except Conflict as error:
            raise _refused(str(error).rstrip(".")) from None
        try:
            yield
        finally:
            # A reservation that stays is replaced by the next attempt.
            with suppress(SQLAlchemyError):
                model_calls.release_match(self.engine, self.match, self.attempt)

    def within(self, tokens: int) -> MatchModels:
        """Return the models with at most this budget at a table, which covers one call at least."""
        limits = self.file.limits
        least = limits.smaller_budget(tokens)
        return replace(self, file=replace(self.file, limits=replace(limits, table_tokens=least)))

    def most_cost(self) -> float:
        """Return the price of a table's whole budget, at the highest price of a granted model."""
        names = {name for each in self.granted.values() for name in each.models}
        return self.file.most_cost(names, self.file.limits.table_tokens)

    def recorded(self, version: str) -> RecordedReplies | None:
        """Return the replies of a transcript, if `models.toml` names a folder of transcripts.

        Raises:
            InfrastructureError: the transcript cannot be read.
        """
        if not self.file.transcripts:
            return None
        if version not in self._recorded:
            try:
                folder = Path(self.file.transcripts)
                self._recorded[version] = RecordedReplies(folder, version)
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InfrastructureError(
                    f"The transcript of {version} cannot be read.\n{error!r}",
                    code=MODELS_UNAVAILABLE,
                ) from None
        return self._recorded[version]


class TableModels:
    """The endpoints of the bots at one table."""

    def __init__(
        self,
        models: MatchModels,
        table: int,
        versions: Sequence[str],
        budget: int,
        on_lost: Callable[[str], None],
        on_time: OnTime,
    ) -> None:
        self._models = models
        self._table = table
        self._versions = versions
        self._budget = budget
        """Tokens of each version; its seats share them."""
        self._on_lost = on_lost
        self._on_time = on_time
        self._stack = ExitStack()
        self._lost = threading.Event()
        self.endpoints: dict[int, TableEndpoint] = {}
        """The endpoints by seat."""

    def __enter__(self) -> Self:
        if not self._models.granted.keys().isdisjoint(self._versions):
            directory = config.private_directory()
            self._stack.callback(temporary_folder.remove, directory)
            for seat, version in enumerate(self._versions):
                if version in self._models.granted:
                    self.endpoints[seat] = self._open(directory, seat, version)
        return self

    def __exit__(self, *_: object) -> None:
        for endpoint in self.endpoints.values():
            endpoint.close()
        self._stack.close()

    def note_questions(self, seat: int, question: tuple[int, int] | None) -> None:
        """Note which question a seat receives, as in `TableEndpoint.note_questions`."""
        if endpoint := self.endpoints.get(seat):
            endpoint.note_questions(question)

    def _open(self, directory: Path, seat: int, version: str) -> TableEndpoint:
        models = self._models
        recorded = models.recorded(version)
        return TableEndpoint(
            directory,
            Seat(models.attempt, self._table, seat),
            models.clients(version),
            models.file.limits,
            self._budget // self._versions.count(version),
            self._ledger(version),
            None
            if recorded is not None or models.outputs is None
            else TranscriptWriter(models.outputs, version),
            recorded,
            self._lose,
            secrets.token_hex(16),
            partial(self._on_time, seat),
        )

    def _lose(self, sentence: str) -> None:
        if not self._lost.is_set():
            self._lost.set()
            self._on_lost(sentence)

    def _ledger(self, version: str) -> Ledger:
        models = self._models
        engine = models.engine
        if engine is None:
            return Ledger(lambda place, model, worst: "", lambda call, figures: None)
        owner = models.granted[version].owner
        caller = Caller(owner, version, models.match, models.attempt, self._table)
        day_tokens = models.file.limits.owner_day_tokens

        def reserve(place: CallPlace, model: str, worst: CallFigures) -> str:
            with _refusals():
                return model_calls.reserve_call(engine, caller, place, model, worst, day_tokens)

        def settle(call: str, figures: CallFigures) -> None:
            with _refusals():
                model_calls.settle_call(engine, call, figures)

        return Ledger(reserve, settle)


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ModelUnavailable if the store refuses a call, or the database does not respond."""
    try:
        yield
    except Conflict as error:
        text = str(error)
        raise ModelUnavailable(text[:1].upper() + text[1:]) from None
    except SQLAlchemyError:
        raise ModelUnavailable("The calls of models cannot be stored.") from None


def usable_models(
    engine: Engine | None,
    match: str,
    granted: Mapping[str, GrantedModels],
    root: Path,
    outputs: Path | None,
    level: Level,
) -> MatchModels:
    """Return the models of a match after checking that they can be used here and now.

    Args:
        engine: the store; None without one, then no call is stored and no day has a budget.
        match: id of the match.
        granted: the models of its versions, by version.
        root: the folder with `models.toml`.
        outputs: folder of the match's output; None for no transcripts.
        level: the sandbox level of its bots.

    Raises:
        InfrastructureError: the match must not begin.
    """
    try:
        file = read_models(root)
        if file is None:
            raise _refused("this machine has no models.toml")
        if not file.transcripts and (keys := missing_keys(file)):
            raise _refused(f"the variable {keys[0]} is not set on this machine")
    except (ModelsFileError, config.SettingError) as error:
        raise _refused(str(error).rstrip(".")) from None
    for entry in granted.values():
        if missing := [name for name in entry.models if name not in file.models]:
            raise _refused(f"models.toml of this machine has no model {missing[0]}")
        if level is Level.LANDLOCK:
            raise _refused(_NEEDED)
    if engine is not None:
        _check_budgets(engine, file, granted, match)
    return MatchModels(engine, file, match, granted, outputs)


def _check_budgets(
    engine: Engine, file: ModelsFile, granted: Mapping[str, GrantedModels], match: str
) -> None:
    """Check that the rest of the day covers the match for each owner."""
    limits = file.limits
    owners = [entry.owner for entry in granted.values()]
    for owner in () if file.transcripts else dict.fromkeys(owners):
        tokens = owners.count(owner) * limits.match_tokens
        try:
            model_calls.check_calls(
                engine, owner, min(tokens, limits.owner_day_tokens), limits.owner_day_tokens, match
            )
        except Conflict as error:
            raise _refused(str(error).rstrip(".")) from None


def _refused(clause: str) -> InfrastructureError:
    return InfrastructureError(f"{clause}.", code=MODELS_UNAVAILABLE)
