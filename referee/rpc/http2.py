"""HTTP/2's frames and headers, as far as a client of gRPC needs them (RFC 9113, RFC 7541).

Nothing here waits or sends: frames are made and taken apart. Header blocks are read by ``hpack``.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from hpack import Decoder, Encoder, HPACKError, NeverIndexedHeaderTuple, OversizedHeaderListError

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES = 9
FRAME_BYTES = 1 << 14
"""The largest payload of a frame until its receiver allows more; we do not."""
LARGEST_FRAME_BYTES = (1 << 24) - 1
WINDOW_BYTES = (1 << 16) - 1
"""What may be sent before more is allowed, for a stream and for a connection."""
LARGEST_WINDOW_BYTES = (1 << 31) - 1
HEADERS_BYTES = 8 << 10
"""The most a peer may send as headers at a time, before and after they are unpacked."""

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
"""Of the size of a table; two are allowed (RFC 7541, section 4.2). Only the shortest, to nothing,
could come so often in one block that reading it takes long."""

Headers = dict[str, str]


class Kind(IntEnum):
    """The types of frames; what is not here is passed over."""

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


class Setting(IntEnum):
    """The settings that we send or heed."""

    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_FRAME_SIZE = 5
    MAX_HEADER_LIST_SIZE = 6


class Code(IntEnum):
    """Why a stream or a connection is ended."""

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
    """A peer broke HTTP/2, or our bounds: the connection must be ended."""

    code: Code
    clause: str


@dataclass(slots=True)
class HeadersTooLong(Exception):
    """Headers beyond our bounds; what follows them cannot be read any more."""

    stream: int


def frame(kind: Kind, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame as it is sent."""
    size = len(payload)
    return _HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def head_at(data: bytes, at: int) -> tuple[int, int, int, int]:
    """Length, kind, flags and stream of the frame whose head begins there."""
    high, low, kind, flags, stream = _HEAD.unpack_from(data, at)
    return high << 8 | low, kind, flags, stream & LARGEST_WINDOW_BYTES


def settings(values: Iterable[tuple[Setting, int]]) -> bytes:
    """A SETTINGS frame."""
    payload = b"".join([_SETTING.pack(name, value) for name, value in values])
    return frame(Kind.SETTINGS, 0, 0, payload)


def settings_in(payload: bytes) -> list[tuple[int, int]]:
    """The settings of a SETTINGS frame, in their order.

    Raises:
        Http2Error: its length is not that of settings.
    """
    if len(payload) % _SETTING.size:
        raise Http2Error(Code.FRAME_SIZE_ERROR, "sent settings of a wrong length")
    return [(name, value) for name, value in _SETTING.iter_unpack(payload)]


def numbered(kind: Kind, stream: int, number: int) -> bytes:
    """A frame whose payload is one number: WINDOW_UPDATE, RST_STREAM."""
    return frame(kind, 0, stream, _NUMBER.pack(number))


def number_in(payload: bytes, at: int = 0) -> int:
    """A number of 31 bits, or of 32 where the highest is never used.

    Raises:
        Http2Error: there is none.
    """
    if len(payload) < at + _NUMBER.size:
        raise Http2Error(Code.FRAME_SIZE_ERROR, "sent a frame that is too short")
    return int(_NUMBER.unpack_from(payload, at)[0])


def more_credit(credit: int, more: int) -> int:
    """What may be sent once so much more is allowed.

    Raises:
        Http2Error: it is more than there can be.
    """
    if credit + more > LARGEST_WINDOW_BYTES:
        raise Http2Error(Code.FLOW_CONTROL_ERROR, "allowed more than there can be")
    return credit + more


def without_padding(flags: int, payload: bytes) -> bytes:
    """What is left of the payload of DATA or HEADERS without padding.

    Raises:
        Http2Error: there is more padding than payload.
    """
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise Http2Error(Code.PROTOCOL_ERROR, "sent a frame with more padding than payload")
    return payload[1 : len(payload) - payload[0]]


def block(headers: Iterable[tuple[str, str]]) -> bytes:
    """Headers as they are sent; it leaves the tables of both sides as they are, so it can be
    sent any number of times, on any connection."""
    return Encoder().encode((NeverIndexedHeaderTuple(*one) for one in headers), huffman=False)


class HeaderReader:
    """Reads the header blocks of one connection."""

    def __init__(self) -> None:
        self._decoder = Decoder(max_header_list_size=HEADERS_BYTES)

    def read(self, stream: int, data: bytes) -> Headers:
        """The headers of a block; of those that come twice the last.

        Raises:
            HeadersTooLong: they are beyond our bounds.
            Http2Error: they are no headers.
        """
        if data.startswith(_TOO_MANY_UPDATES):
            raise Http2Error(Code.COMPRESSION_ERROR, "changed its table too often")
        try:
            found = self._decoder.decode(data, raw=True)
        except OversizedHeaderListError:
            raise HeadersTooLong(stream) from None
        except (HPACKError, IndexError) as error:
            raise Http2Error(Code.COMPRESSION_ERROR, "sent headers that are none") from error
        return {_text(name): _text(value) for name, value in found}


def _text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("latin-1")
