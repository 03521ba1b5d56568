"""What is written already is not written again, until it has changed."""

import asyncio
import gzip

import pytest

from arena.web.data.changes import Changes
from arena.web.serving import responses as answers_module
from arena.web.serving.responses import CachedResponse, ResponseCache


class CountedRenderer:
    """Writes an answer, and counts how often."""

    def __init__(self, size: int = 10, fresh: float = 60.0) -> None:
        self.size, self.fresh, self.times = size, fresh, 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> CachedResponse:
        self.times += 1
        await self.go.wait()
        body = str(self.times).encode().rjust(self.size)
        return CachedResponse(body, 200, "text/plain", {}, frozenset({"topic"}), self.fresh)


def test_a_response_is_rendered_once_per_change() -> None:
    async def page_request() -> list[int]:
        changes, writer, seen = Changes(), CountedRenderer(), []
        answers = ResponseCache(changes)
        for topic in ("other", "topic", "other", "topic"):
            for _ in range(3):
                await answers.get(("/",), writer)
            seen.append(writer.times)
            changes.record(topic)
        return seen

    assert asyncio.run(page_request()) == [1, 1, 2, 2]


def test_concurrent_requests_share_one_rendering() -> None:
    async def page_request() -> tuple[int, set[bytes]]:
        writer = CountedRenderer()
        writer.go.clear()
        answers = ResponseCache(Changes())
        tasks = [asyncio.create_task(answers.get(("/",), writer)) for _ in range(50)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        writer.go.set()
        bodies = await asyncio.gather(*tasks[1:])
        return writer.times, {answer.body.strip() for answer in bodies}

    assert asyncio.run(page_request()) == (1, {b"1"})


def test_a_change_during_rendering_invalidates_the_response() -> None:
    async def page_request() -> int:
        changes, writer = Changes(), CountedRenderer()
        writer.go.clear()
        answers = ResponseCache(changes)
        task = asyncio.create_task(answers.get(("/",), writer))
        while not writer.times:
            await asyncio.sleep(0)
        changes.record("topic")
        writer.go.set()
        await task
        await answers.get(("/",), writer)
        return writer.times

    assert asyncio.run(page_request()) == 2


def test_an_uncacheable_response_is_rendered_for_each_request() -> None:
    async def page_request() -> int:
        writer, answers = CountedRenderer(fresh=0.0), ResponseCache(Changes())
        for _ in range(3):
            await answers.get(("/",), writer)
        return writer.times

    assert asyncio.run(page_request()) == 3


def test_errors_reach_all_waiting_requests_and_are_not_cached() -> None:
    async def page_request() -> int:
        answers, times = ResponseCache(Changes()), 0

        async def fail() -> CachedResponse:
            nonlocal times
            times += 1
            raise LookupError("there is none")

        for _ in range(2):
            with pytest.raises(LookupError, match="there is none"):
                await answers.get(("/",), fail)
        return times

    assert asyncio.run(page_request()) == 2


def test_the_least_recently_used_response_is_evicted() -> None:
    async def page_request() -> list[int]:
        answers = ResponseCache(Changes(), most=250)
        writers = {name: CountedRenderer(size=100) for name in "abc"}
        for name in "abacac":
            await answers.get((name,), writers[name])
        return [writer.times for writer in writers.values()]

    assert asyncio.run(page_request()) == [1, 1, 1]


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
    assert answer.is_had(tags.format(answer.tag)) is had
    assert answer.is_had(tags.format(answer.tag.removeprefix("W/"))) is had


def test_a_slow_page_is_served_stale_while_it_is_rendered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers_module, "_SLOW_SECONDS", 0.0)

    async def page_request() -> list[bytes]:
        changes, writer = Changes(), CountedRenderer()
        answers = ResponseCache(changes)
        responses = [await answers.get(("/",), writer)]
        writer.go.clear()
        changes.record("topic")
        responses.append(await answers.get(("/",), writer))
        writer.go.set()
        while writer.times < 2 or answers.is_writing:
            await asyncio.sleep(0)
        responses.append(await answers.get(("/",), writer))
        monkeypatch.setattr(answers_module, "_OLD_SECONDS", 0.0)
        changes.record("topic")
        responses.append(await answers.get(("/",), writer))
        return [response.body.strip() for response in responses]

    assert asyncio.run(page_request()) == [b"1", b"1", b"2", b"3"]
