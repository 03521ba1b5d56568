"""The response cache renders a page again only after a change."""

import asyncio
import gzip

import pytest

from arena.web.data.changes import Changes
from arena.web.serving.responses import CachedResponse, ResponseCache
from tests.event_loop import in_event_loop


class CountedRenderer:
    """Renders a response and counts the renderings."""

    def __init__(self, size: int = 10, fresh: float = 60.0) -> None:
        self.size, self.fresh, self.times = size, fresh, 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> CachedResponse:
        self.times += 1
        await self.go.wait()
        body = str(self.times).encode().rjust(self.size)
        return CachedResponse(body, 200, "text/plain", {}, frozenset({"topic"}), self.fresh)


@in_event_loop
async def test_a_response_is_rendered_once_per_change() -> None:
    changes, renderer, seen = Changes(), CountedRenderer(), []
    cache = ResponseCache(changes)
    for topic in ("other", "topic", "other", "topic"):
        for _ in range(3):
            await cache.get(("/",), renderer)
        seen.append(renderer.times)
        changes.record(topic)
    assert seen == [1, 1, 2, 2]


@in_event_loop
async def test_concurrent_requests_share_one_rendering() -> None:
    renderer = CountedRenderer()
    renderer.go.clear()
    cache = ResponseCache(Changes())
    tasks = [asyncio.create_task(cache.get(("/",), renderer)) for _ in range(50)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    renderer.go.set()
    bodies = await asyncio.gather(*tasks[1:])
    assert renderer.times == 1
    assert {answer.body.strip() for answer in bodies} == {b"1"}


@in_event_loop
async def test_a_change_during_rendering_invalidates_the_response() -> None:
    changes, renderer = Changes(), CountedRenderer()
    renderer.go.clear()
    cache = ResponseCache(changes)
    task = asyncio.create_task(cache.get(("/",), renderer))
    while not renderer.times:
        await asyncio.sleep(0)
    changes.record("topic")
    renderer.go.set()
    await task
    await cache.get(("/",), renderer)
    assert renderer.times == 2


@in_event_loop
async def test_an_uncacheable_response_is_rendered_for_each_request() -> None:
    renderer, cache = CountedRenderer(fresh=0.0), ResponseCache(Changes())
    for _ in range(3):
        await cache.get(("/",), renderer)
    assert renderer.times == 3


@in_event_loop
async def test_errors_reach_all_waiting_requests_and_are_not_cached() -> None:
    cache, times = ResponseCache(Changes()), 0

    async def fail() -> CachedResponse:
        nonlocal times
        times += 1
        raise LookupError("no such page")

    for _ in range(2):
        with pytest.raises(LookupError, match="no such page"):
            await cache.get(("/",), fail)
    assert times == 2


@in_event_loop
async def test_the_least_recently_used_response_is_evicted() -> None:
    cache = ResponseCache(Changes(), most=250)
    renderers = {name: CountedRenderer(size=100) for name in "abc"}
    for name in "abacac":
        await cache.get((name,), renderers[name])
    assert [renderer.times for renderer in renderers.values()] == [1, 1, 1]


def test_only_large_responses_are_compressed() -> None:
    def answer(body: bytes) -> CachedResponse:
        return CachedResponse(body, 200, "text/plain", {}, frozenset(), 1.0)

    assert answer(b"short").compressed is None
    long = answer(b"long " * 1000).compressed
    assert long is not None
    assert gzip.decompress(long) == b"long " * 1000


@pytest.mark.parametrize(
    ("tags", "had"),
    [("{}", True), ('{0}, W/"x"', True), ("*", True), ("", False), ('W/"x"', False)],
)
def test_a_matching_etag_is_recognized(tags: str, had: bool) -> None:
    answer = CachedResponse(b"body", 200, "text/plain", {}, frozenset(), 1.0)
    assert answer.has_tag_in(tags.format(answer.tag)) is had
    assert answer.has_tag_in(tags.format(answer.tag.removeprefix("W/"))) is had
