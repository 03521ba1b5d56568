"""Split a peer's bytes into frames, check their order, and join header blocks."""

from collections.abc import Callable

from referee.rpc.http2 import (
    ACK,
    END_HEADERS,
    FRAME_BYTES,
    HEAD_BYTES,
    HEADERS_BYTES,
    PRIORITY_GIVEN,
    SETTING_BYTES,
    ErrorCode,
    FrameKind,
    HeadersTooLong,
    Http2Error,
    head_at,
    number_in,
    without_padding,
)
from referee.rpc.work_budget import FRAME, FRAME_BYTE, HEADER_BYTE, SETTING, WorkBudget

_PRIORITY_BYTES = 5
_ON_A_CALL = frozenset(
    (
        FrameKind.DATA,
        FrameKind.HEADERS,
        FrameKind.PRIORITY,
        FrameKind.RST_STREAM,
        FrameKind.CONTINUATION,
    )
)
_ON_NONE = frozenset((FrameKind.SETTINGS, FrameKind.PING, FrameKind.GOAWAY))

_WITH_HEADERS = frozenset((FrameKind.HEADERS, FrameKind.CONTINUATION, FrameKind.PUSH_PROMISE))
_NAMES = [f"{kind.name} frames" for kind in FrameKind]

Hear = Callable[[int, int, int, bytes], None]


class FrameReader:
    """Incremental parser of frames.

    Args:
        hear: called with kind, stream, flags and payload of each frame. For HEADERS the payload is
            the complete header block without padding and priority, joined from its frames.
        budget: charged for each frame before it is parsed.
    """

    def __init__(self, hear: Hear, budget: WorkBudget) -> None:
        self._hear = hear
        self._budget = budget
        self._rest = b""
        self._begun = False
        self._block: tuple[int, int, bytes] | None = None
        """Stream, flags and data of an incomplete header block."""

    def feed(self, data: bytes) -> None:
        """Parse received bytes.

        Raises:
            Http2Error: the data is not valid HTTP/2, or exceeds a limit.
            HeadersTooLong: the headers exceed the limit.
            BudgetExceeded: the frames cost more than the rest of the budget.
        """
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= HEAD_BYTES:
            length, kind, flags, stream = head_at(data, at)
            if length > FRAME_BYTES:
                raise Http2Error(ErrorCode.FRAME_SIZE_ERROR, "sent a frame that is too large")
            after = at + HEAD_BYTES + length
            if after > end:
                break
            self._check(kind, flags, stream)
            self._charge(kind, length)
            payload = data[at + HEAD_BYTES : after]
            if kind == FrameKind.HEADERS:
                self._headers(stream, flags, payload)
            elif kind == FrameKind.CONTINUATION:
                self._go_on(stream, flags, payload)
            else:
                self._hear(kind, stream, flags, payload)
            at = after
        self._rest = data[at:]

    def _charge(self, kind: int, length: int) -> None:
        """Charge the budget for a frame before it is parsed."""
        cost = FRAME + FRAME_BYTE * length
        if kind == FrameKind.SETTINGS:
            cost += SETTING * length / SETTING_BYTES
        elif kind in _WITH_HEADERS:
            cost += HEADER_BYTE * length
        self._budget.charge(_NAMES[kind] if kind < len(_NAMES) else "unknown frames", cost)

    def _check(self, kind: int, flags: int, stream: int) -> None:
        """Check that a frame is allowed at this point.

        Raises:
            Http2Error: it is not.
        """
        if not self._begun:
            if kind != FrameKind.SETTINGS or flags & ACK:
                raise Http2Error(ErrorCode.PROTOCOL_ERROR, "did not begin with its settings")
            self._begun = True
        if (self._block is not None) != (kind == FrameKind.CONTINUATION):
            raise Http2Error(ErrorCode.PROTOCOL_ERROR, "sent something amid headers")
        if kind in (_ON_NONE if stream else _ON_A_CALL):
            raise Http2Error(ErrorCode.PROTOCOL_ERROR, "sent a frame on a stream it cannot be of")

    def _headers(self, stream: int, flags: int, payload: bytes) -> None:
        payload = without_padding(flags, payload)
        if flags & PRIORITY_GIVEN:
            number_in(payload, _PRIORITY_BYTES - 4)
            payload = payload[_PRIORITY_BYTES:]
        self._block = (stream, flags, b"")
        self._go_on(stream, flags, payload)

    def _go_on(self, stream: int, flags: int, payload: bytes) -> None:
        assert self._block is not None
        begun_on, first, block = self._block
        if stream != begun_on:
            raise Http2Error(ErrorCode.PROTOCOL_ERROR, "sent something amid headers")
        block += payload
        if len(block) > HEADERS_BYTES:
            raise HeadersTooLong(stream)
        if flags & END_HEADERS:
            self._block = None
            self._hear(FrameKind.HEADERS, stream, first, block)
        else:
            self._block = (stream, first, block)
