"""What a peer sends, frame by frame: whole frames in an order that can be, headers in one piece."""

from collections.abc import Callable

from referee.rpc.budget import FRAME, FRAME_BYTE, HEADER_BYTE, SETTING, Budget
from referee.rpc.http2 import (
    ACK,
    END_HEADERS,
    FRAME_BYTES,
    HEAD_BYTES,
    HEADERS_BYTES,
    PRIORITY_GIVEN,
    SETTING_BYTES,
    Code,
    HeadersTooLong,
    Http2Error,
    Kind,
    head_at,
    number_in,
    without_padding,
)

_PRIORITY_BYTES = 5
_ON_A_CALL = frozenset((Kind.DATA, Kind.HEADERS, Kind.PRIORITY, Kind.RST_STREAM, Kind.CONTINUATION))
_ON_NONE = frozenset((Kind.SETTINGS, Kind.PING, Kind.GOAWAY))

_WITH_HEADERS = frozenset((Kind.HEADERS, Kind.CONTINUATION, Kind.PUSH_PROMISE))
_NAMES = [f"{kind.name} frames" for kind in Kind]

Hear = Callable[[int, int, int, bytes], None]


class FrameReader:
    """Takes bytes as they come, and tells of the frames in them.

    Args:
        hear: is told kind, stream, flags and payload of each frame. HEADERS come with the whole
            block as payload, without padding and priority, whatever frames it came in.
        budget: pays for the frames, before they are read.
    """

    def __init__(self, hear: Hear, budget: Budget) -> None:
        self._hear = hear
        self._budget = budget
        self._rest = b""
        self._begun = False
        self._block: tuple[int, int, bytes] | None = None
        """Stream, flags and block of headers of which the end has not come."""

    def feed(self, data: bytes) -> None:
        """Takes what has come.

        Raises:
            Http2Error: it is no HTTP/2, or beyond our bounds.
            HeadersTooLong: headers are beyond our bounds.
            BudgetExceeded: the frames cost more than is left.
        """
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= HEAD_BYTES:
            length, kind, flags, stream = head_at(data, at)
            if length > FRAME_BYTES:
                raise Http2Error(Code.FRAME_SIZE_ERROR, "sent a frame that is too large")
            after = at + HEAD_BYTES + length
            if after > end:
                break
            self._check(kind, flags, stream)
            self._charge(kind, length)
            payload = data[at + HEAD_BYTES : after]
            if kind == Kind.HEADERS:
                self._headers(stream, flags, payload)
            elif kind == Kind.CONTINUATION:
                self._go_on(stream, flags, payload)
            else:
                self._hear(kind, stream, flags, payload)
            at = after
        self._rest = data[at:]

    def _charge(self, kind: int, length: int) -> None:
        """Pay for a frame before it is read."""
        cost = FRAME + FRAME_BYTE * length
        if kind == Kind.SETTINGS:
            cost += SETTING * length / SETTING_BYTES
        elif kind in _WITH_HEADERS:
            cost += HEADER_BYTE * length
        self._budget.charge(_NAMES[kind] if kind < len(_NAMES) else "unknown frames", cost)

    def _check(self, kind: int, flags: int, stream: int) -> None:
        """Whether such a frame may come here and now."""
        if not self._begun:
            if kind != Kind.SETTINGS or flags & ACK:
                raise Http2Error(Code.PROTOCOL_ERROR, "did not begin with its settings")
            self._begun = True
        if (self._block is not None) != (kind == Kind.CONTINUATION):
            raise Http2Error(Code.PROTOCOL_ERROR, "sent something amid headers")
        if kind in (_ON_NONE if stream else _ON_A_CALL):
            raise Http2Error(Code.PROTOCOL_ERROR, "sent a frame on a stream it cannot be of")

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
            raise Http2Error(Code.PROTOCOL_ERROR, "sent something amid headers")
        block += payload
        if len(block) > HEADERS_BYTES:
            raise HeadersTooLong(stream)
        if flags & END_HEADERS:
            self._block = None
            self._hear(Kind.HEADERS, stream, first, block)
        else:
            self._block = (stream, first, block)
