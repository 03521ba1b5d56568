"""Send the requests of commands to an arena, and retry while it is busy or starts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from arena.cli import output
from arena.cli.errors import FAILED, UNREACHABLE, CommandError
from arena.system.connection_errors import via_web_proxy

if TYPE_CHECKING:
    from arena.api_client import ApiAnswer, ArenaClient

_STARTING_SECONDS: Final = 10.0
_STARTING_PAUSE_SECONDS: Final = 0.5
_BUSY_SECONDS: Final = 300.0
_RATE_PAUSE_SECONDS: Final = 10.0
"""Pauses of limits per second are shorter, and those of limits on open matches are longer."""
_PROGRESS_SECONDS: Final = 10.0


def content_of(
    arena: ArenaClient,
    request: Callable[[], ApiAnswer],
    longest_pause: float = _RATE_PAUSE_SECONDS,
) -> Mapping[str, Any]:
    """Send a request and return the content of the response.

    A request that is refused with 429 is repeated after the time of its Retry-After header, for
    300 s in total; one with 503 every 0.5 s for 10 s. A refusal with a longer time than
    `longest_pause`, in seconds, is final, such as that of a limit per day.
    """
    began, shown, tries = time.monotonic(), float("-inf"), 0
    while True:
        answer = _answered(arena, request)
        pause = _pause(answer, tries, time.monotonic() - began, longest_pause)
        if pause is None:
            return _checked(arena, answer).content
        if answer.status == 429 and time.monotonic() - shown > _PROGRESS_SECONDS:
            output.hint(f"trying again in {pause:.0f} s: {answer.sentence}")
            shown = time.monotonic()
        tries += 1
        time.sleep(pause)


def _pause(answer: ApiAnswer, tries: int, waited: float, longest: float) -> float | None:
    """Return the seconds until the next try; None if the response is final.

    `tries` is the number of repetitions so far, `waited` the seconds since the first request.
    """
    if answer.status == 503:
        return _STARTING_PAUSE_SECONDS if waited < _STARTING_SECONDS else None
    if answer.status != 429 or waited >= _BUSY_SECONDS:
        return None
    pause = min(longest, 2.0 ** min(tries, 5)) if answer.wait is None else answer.wait
    if pause > longest:
        return None
    # Many clients that wait equally long would return at the same moment.
    return max(pause, 1.0) * random.uniform(1, 1.5)


def _answered(arena: ArenaClient, request: Callable[[], ApiAnswer]) -> ApiAnswer:
    from arena.api_client import ArenaUnreachable

    try:
        return request()
    except ArenaUnreachable as error:
        raise CommandError(
            f"cannot reach the arena at {arena.url}: {error}.", UNREACHABLE, code="unreachable"
        ) from None


def _checked(arena: ArenaClient, answer: ApiAnswer) -> ApiAnswer:
    if answer.is_success and answer.content:
        return answer
    proxy = via_web_proxy(arena.url)
    if answer.is_success:
        raise CommandError(
            f"{arena.url} is not an arena: its response is not JSON{proxy}.",
            UNREACHABLE,
            code="not-an-arena",
        )
    status = UNREACHABLE if answer.status >= 500 else FAILED
    # A refusal without a sentence is not one of an arena, but possibly of the proxy.
    sentence = answer.sentence
    if "error" not in answer.content:
        sentence = f"{sentence.rstrip('.')}{proxy}."
    raise CommandError(f"{arena.url} refused the request: {sentence}", status, code="refused")
