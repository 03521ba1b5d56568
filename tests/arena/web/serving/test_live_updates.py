"""Live updates of a page: it is rendered once for all of its readers."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from arena.web.data.changes import Changes
from arena.web.serving import live_updates
from arena.web.serving.live_updates import LiveUpdates, Parts, digests_text, read_digests
from tests.event_loop import in_event_loop


class CountedPage:
    """A page with one part that changes, and a count of its renderings."""

    def __init__(self) -> None:
        self.text = "first"
        self.times = 0

    async def __call__(self) -> tuple[Parts, frozenset[str]]:
        self.times += 1
        return {"rows": self.text, "same": "as ever"}, frozenset({"topic"})


def fields(event: bytes) -> dict[str, str]:
    lines = (line.partition(": ") for line in event.decode().rstrip().split("\n"))
    return {name: value for name, _, value in lines}


def parts(event: bytes) -> Parts:
    assert fields(event)["event"] == "parts"
    page_parts: Parts = json.loads(fields(event)["data"])["parts"]
    return page_parts


async def upcoming(events: AsyncIterator[bytes]) -> Parts:
    return parts(await anext(events))


@in_event_loop
async def test_the_first_event_is_complete_and_later_ones_have_changes() -> None:
    changes, drawn = Changes(), CountedPage()
    events = LiveUpdates(changes).events("/page", drawn, pause=0)
    assert await upcoming(events) == {"rows": "first", "same": "as ever"}
    drawn.text = "second"
    changes.record("topic")
    assert await upcoming(events) == {"rows": "second"}


@in_event_loop
async def test_a_client_receives_only_the_parts_that_differ_from_those_it_shows() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    page = read_digests(digests_text({"rows": "first", "same": "as ever"}))
    older = read_digests(digests_text({"rows": "older", "same": "as ever"}))
    # The first client waits for the rendering; the others find it finished.
    events = live.events("/page", drawn, page, pause=0)
    assert await upcoming(events) == {}
    assert await upcoming(live.events("/page", drawn, older, pause=0)) == {"rows": "first"}
    drawn.text = "second"
    changes.record("topic")
    assert await upcoming(events) == {"rows": "second"}
    assert await upcoming(live.events("/page", drawn, page, pause=0)) == {"rows": "second"}


@in_event_loop
async def test_a_client_with_a_newer_page_receives_no_older_parts() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    await upcoming(live.events("/page", drawn, pause=0))
    drawn.text = "second"
    changes.record("topic")
    # The stream has not rendered the page again; its reader has.
    page = read_digests(digests_text({"rows": "second", "same": "as ever"}))
    assert await upcoming(live.events("/page", drawn, page, pause=0)) == {}


@in_event_loop
async def test_after_a_lost_connection_a_client_names_the_parts_of_its_last_event() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    events = live.events("/page", drawn, pause=0)
    await upcoming(events)
    drawn.text = "second"
    changes.record("topic")
    last = read_digests(fields(await anext(events))["id"])
    assert await upcoming(live.events("/page", drawn, last, pause=0)) == {}
    # The part is again as it was on the page: the client must not keep the second text.
    drawn.text = "first"
    changes.record("topic")
    assert await upcoming(events) == {"rows": "first"}
    assert await upcoming(live.events("/page", drawn, last, pause=0)) == {"rows": "first"}


@in_event_loop
async def test_a_hundred_watchers_of_one_address_share_one_rendering() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    crowd = [live.events("/page", drawn, pause=0) for _ in range(100)]
    firsts = await asyncio.gather(*map(upcoming, crowd))
    assert all(first["rows"] == "first" for first in firsts)
    assert live.watchers == 100
    drawn.text = "second"
    changes.record("topic")
    seconds = await asyncio.gather(*map(upcoming, crowd))
    assert all(second == {"rows": "second"} for second in seconds)
    assert drawn.times == 2


@in_event_loop
async def test_a_slow_reader_gets_merged_changes_and_delays_no_other() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    slow, quick = live.events("/page", drawn, pause=0), live.events("/page", drawn, pause=0)
    await upcoming(slow)
    await upcoming(quick)
    for number in range(30):
        drawn.text = str(number)
        changes.record("topic")
        assert await upcoming(quick) == {"rows": str(number)}
    last: Parts = {}
    for _ in range(live_updates._MAX_UNREAD_EVENTS + 1):
        last |= await upcoming(slow)
        if last["rows"] == "29":
            break
    assert last == {"rows": "29", "same": "as ever"}


@in_event_loop
async def test_without_watchers_no_page_is_rendered() -> None:
    changes, drawn = Changes(), CountedPage()
    live = LiveUpdates(changes)
    events = live.events("/page", drawn, pause=0)
    await upcoming(events)
    await events.aclose()  # type: ignore[attr-defined]
    assert live.watchers == 0
    other = CountedPage()
    await upcoming(others := live.events("/other", other, pause=0))
    other.text = "second"
    changes.record("topic")
    assert await upcoming(others) == {"rows": "second"}
    assert drawn.times == 1


@in_event_loop
async def test_a_rendering_error_ends_the_stream() -> None:
    async def broken() -> tuple[Parts, frozenset[str]]:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await upcoming(LiveUpdates(Changes()).events("/page", broken, pause=0))
