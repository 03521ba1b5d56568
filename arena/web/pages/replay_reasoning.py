"""The reasoning of bots in a replay, folded, by decision: only what the reader may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from arena.presentation.recorded_frames import ReplayPosition
from arena.store.access import sessions
from arena.store.access.sessions import Role
from arena.store.matches import match_reasoning, model_calls
from arena.store.matches.model_calls import CallPlace, ModelUsage
from arena.web.page import Forbidden, PageRequest
from referee.reasoning import read_line
from referee.record import Line
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from sqlalchemy import Engine

SHOWN_CHARACTERS: Final = 500_000
"""Maximum length of all reasoning on a page; the JSON of the page has all of it."""


@dataclass(frozen=True, slots=True)
class DecisionReasoning:
    """The reasoning and the usage of one answer.

    Attributes:
        step: the position that the answer led to.
        name: the name of the bot.
        seat: its seat.
        text: the reasoning; empty without any.
        usage: the usage that the bot reported, and that the arena measured, as words; empty
            without any.
        is_refused: whether the answer was not accepted.
        is_cut: whether the reasoning was longer.
    """

    step: int
    name: str
    seat: int
    text: str
    usage: str
    is_refused: bool
    is_cut: bool


@dataclass(frozen=True, slots=True)
class GameReasoning:
    """The reasoning and usage of a game that a reader may see.

    Attributes:
        lines: the reasoning that the bots sent, a line for each seat.
        measured: the calls of models through the arena's proxy.
    """

    lines: tuple[Line, ...] = ()
    measured: Mapping[CallPlace, ModelUsage] = field(default_factory=dict)


def readable_reasoning(
    engine: Engine, page_request: PageRequest, match: str, game: int
) -> GameReasoning:
    """Return the reasoning of a closed match's game that the sender of a request may read.

    Raises:
        Forbidden: the token is unknown.
    """
    identity = page_request.viewer
    if page_request.token:
        identity = sessions.known_by(engine, page_request.token)
        if identity is None:
            raise Forbidden("the token belongs to no owner and no organiser.")
    if identity is not None and identity.role is Role.ORGANISER:
        versions = None
    else:
        owner = "" if identity is None else identity.name
        versions = match_reasoning.readable_versions(engine, match, owner)
    lines = match_reasoning.reasoning_lines(engine, match, game=game, versions=versions)
    measured = model_calls.decision_usage(engine, match, game, versions)
    return GameReasoning(tuple(map(read_line, lines)), measured)


def by_decision(
    readable: GameReasoning, moments: Sequence[ReplayPosition], names: Sequence[str]
) -> tuple[DecisionReasoning, ...]:
    """Return the reasoning of a game in the order of its decisions and tries."""
    left = SHOWN_CHARACTERS
    steps = {act.decision: moment.step for moment in moments for act in moment.actions}
    last = len(moments) - 1
    entries = [(line["seat"], entry) for line in readable.lines for entry in line["decisions"]]
    sent = {(seat, entry["decision"]) for seat, entry in entries}
    measured = {(at.seat, at.decision): usage for at, usage in readable.measured.items()}
    entries += [(seat, {"decision": at}) for seat, at in measured if (seat, at) not in sent]
    entries.sort(key=lambda seat_and_entry: _order(seat_and_entry[1]))
    latest = {entry["decision"]: entry for _, entry in entries}
    reasoning = []
    for seat, entry in entries:
        decision, text = entry["decision"], entry.get("text", "")[:left]
        left -= len(text)
        is_latest = entry is latest[decision]
        usage = [_usage_words(entry.get("usage") or {})]
        if is_latest and (seat, decision) in measured:
            usage.append(_measured_words(measured[seat, decision]))
        reasoning.append(
            DecisionReasoning(
                step=steps.get(decision, last),
                name=names[seat],
                seat=seat,
                text=sanitized(text),
                usage="; ".join(filter(None, usage)),
                is_refused=not is_latest or decision not in steps,
                is_cut=bool(entry.get("cut")) or len(text) < len(entry.get("text", "")),
            )
        )
    return tuple(reasoning)


def _order(entry: Mapping[str, Any]) -> tuple[int, int]:
    return entry["decision"], entry.get("attempt", 0)


def measured_json(measured: Mapping[CallPlace, ModelUsage]) -> list[dict[str, Any]]:
    """Return measured usage as JSON values, by decision."""
    return [
        {**asdict(place), **usage.to_json(), "source": "measured"}
        for place, usage in measured.items()
    ]


def _measured_words(usage: ModelUsage) -> str:
    """Return a measured usage as words, for example "small, 900 + 80 tokens, cost 0.01 (...)"."""
    figures = usage.figures
    counts = {"tokens_in": figures.input_tokens, "tokens_out": figures.output_tokens}
    source = "measured" if usage.measured == usage.calls else "at most, measured"
    values = {"model": usage.model, **counts, "tries": usage.calls, "source": source}
    # The prices of `models.toml` have no currency.
    cost = f"cost {figures.cost:.4g}, " if figures.cost else ""
    return cost + _usage_words(values)


def _usage_words(usage: Mapping[str, Any]) -> str:
    """Return a usage as words, for example "small-1, 900 + 80 tokens, $0.01 (reported)"."""
    words = [str(usage["model"])] if "model" in usage else []
    if "tokens_in" in usage or "tokens_out" in usage:
        words.append(f"{usage.get('tokens_in', 0):,} + {usage.get('tokens_out', 0):,} tokens")
    if "cost" in usage:
        words.append(f"${usage['cost']:.4g}")
    if "tries" in usage:
        words.append(f"{usage['tries']} {'request' if usage['tries'] == 1 else 'requests'}")
    if "ms" in usage:
        words.append(f"{usage['ms']:,} ms")
    return f"{', '.join(words)} ({usage.get('source', 'reported')})" if words else ""
