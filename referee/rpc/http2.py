"""HTTP/2 frames and headers, as far as a gRPC client needs them (RFC 9113, RFC 7541).

The functions encode and decode frames without I/O. The library ``hpack`` decodes header blocks.
"""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from hpack import Decoder, Encoder, HPACKError, NeverIndexedHeaderTuple, OversizedHeaderListError

from referee.rpc.work_budget import FRAME, FRAME_BYTE, HEADER_BYTE, SETTING, WorkBudget

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES = 9
FRAME_BYTES = 1 << 14
"""Maximum frame payload in bytes unless the receiver allows more; this client does not."""
LARGEST_FRAME_BYTES = (1 << 24) - 1
WINDOW_BYTES = (1 << 16) - 1
"""Initial flow-control window in bytes, of a stream and of a connection."""
LARGEST_WINDOW_BYTES = (1 << 31) - 1
HEADERS_BYTES = 8 << 10
"""Maximum size of a header block in bytes, both encoded and decoded."""

END_STREAM = 0x1
ACK = 0x1
END_HEADERS = 0x4
PADDED = 0x8
PRIORITY_GIVEN = 0x20

SETTING_BYTES = 6

_HEAD = struct.Struct(">HBBBL")
_SETTING = struct.Struct(">HL")
_NUMBER = struct.Struct(">L")

_TOO_MANY_UPDATES = b"\x20" * 3
"""Three table size updates at the start of a header block, which is one too many.

RFC 7541, section 4.2, allows two. Only the shortest update, to size 0, fits into a block so often
that decoding takes long.
"""

Headers = dict[str, str]


class FrameKind(IntEnum):
    """Frame types; unknown ones are ignored."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class Http2Setting(IntEnum):
    """Settings that are sent or evaluated."""

    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_FRAME_SIZE = 5
    MAX_HEADER_LIST_SIZE = 6


class ErrorCode(IntEnum):
    """Error codes of streams and connections."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    FLOW_CONTROL_ERROR = 3
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11
    INADEQUATE_SECURITY = 12


@dataclass(slots=True)
class Http2Error(Exception):
    """The peer violated HTTP/2 or exceeded a limit: the connection must be closed."""

    code: ErrorCode
    clause: str


@dataclass(slots=True)
class HeadersTooLong(Exception):
    """The headers exceed the limit; data after them cannot be decoded."""

    stream: int


def frame(kind: FrameKind, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Encode a frame."""
    size = len(payload)
    return _HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def head_at(data: bytes, at: int) -> tuple[int, int, int, int]:
    """Return length, kind, flags and stream of the frame header at an offset."""
    high, low, kind, flags, stream = _HEAD.unpack_from(data, at)
    return high << 8 | low, kind, flags, stream & LARGEST_WINDOW_BYTES


def settings(values: Iterable[tuple[Http2Setting, int]]) -> bytes:
    """Encode a SETTINGS frame."""
    payload = b"".join([_SETTING.pack(name, value) for name, value in values])
    return frame(FrameKind.SETTINGS, 0, 0, payload)


def settings_in(payload: bytes) -> list[tuple[int, int]]:
    """Decode the payload of a SETTINGS frame.

    Raises:
        Http2Error: its length is not valid.
    """
    if len(payload) % _SETTING.size:
        raise Http2Error(ErrorCode.FRAME_SIZE_ERROR, "sent settings of a wrong length")
    return [(name, value) for name, value in _SETTING.iter_unpack(payload)]


def numbered(kind: FrameKind, stream: int, number: int) -> bytes:
    """Encode a frame whose payload is one number: WINDOW_UPDATE, RST_STREAM."""
    return frame(kind, 0, stream, _NUMBER.pack(number))


def number_in(payload: bytes, at: int = 0) -> int:
    """Decode a number of 32 bits, or of 31 bits if the highest bit is unused.

    Raises:
        Http2Error: the payload is too short.
    """
    if len(payload) < at + _NUMBER.size:
        raise Http2Error(ErrorCode.FRAME_SIZE_ERROR, "sent a frame that is too short")
    return int(_NUMBER.unpack_from(payload, at)[0])


def more_credit(credit: int, more: int) -> int:
    """Return the window extended by `more` bytes.

    Raises:
        Http2Error: it exceeds the limit of HTTP/2.
    """
    if credit + more > LARGEST_WINDOW_BYTES:
        raise Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "allowed more than there can be")
    return credit + more


def without_padding(flags: int, payload: bytes) -> bytes:
    """Return the payload of a DATA or HEADERS frame without padding.

    Raises:
        Http2Error: the padding is longer than the payload.
    """
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise Http2Error(ErrorCode.PROTOCOL_ERROR, "sent a frame with more padding than payload")
    return payload[1 : len(payload) - payload[0]]


def block(headers: Iterable[tuple[str, str]]) -> bytes:
    """Encode headers without changes to the compression tables.

    The block can therefore be sent any number of times, on any connection.
    """
    return Encoder().encode((NeverIndexedHeaderTuple(*header) for header in headers), huffman=False)


class HeaderReader:
    """Decodes the header blocks of one connection."""

    def __init__(self) -> None:
        self._decoder = Decoder(max_header_list_size=HEADERS_BYTES)

    def read(self, stream: int, data: bytes) -> Headers:
        """Decode the headers of a block; of repeated names the last value counts.

        Raises:
            HeadersTooLong: they exceed the limit.
            Http2Error: the block is not valid.
        """
        if data.startswith(_TOO_MANY_UPDATES):
            raise Http2Error(ErrorCode.COMPRESSION_ERROR, "changed its table too often")
        try:
            headers = self._decoder.decode(data, raw=True)
        except OversizedHeaderListError:
            raise HeadersTooLong(stream) from None
        except (HPACKError, IndexError) as error:
            raise Http2Error(ErrorCode.COMPRESSION_ERROR, "sent invalid headers") from error
        return {_text(name): _text(value) for name, value in headers}


def _text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("latin-1")


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

OnFrame = Callable[[int, int, int, bytes], None]


class FrameReader:
    """Incremental parser of frames.

    Args:
        on_frame: called with kind, stream, flags and payload of each frame. For HEADERS the
            payload is the complete header block without padding and priority, joined from its
            frames.
        budget: charged for each frame before it is parsed.
    """

    def __init__(self, on_frame: OnFrame, budget: WorkBudget) -> None:
        self._on_frame = on_frame
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
                self._on_frame(kind, stream, flags, payload)
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
        """Check that a frame is allowed at this point."""
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
            self._on_frame(FrameKind.HEADERS, stream, first, block)
        else:
            self._block = (stream, first, block)
