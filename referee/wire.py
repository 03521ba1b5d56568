"""Protobuf's wire format, as far as messages are put together from ready parts.

The bytes of a message are the bytes of its fields one after the other, in any order
(https://protobuf.dev/programming-guides/encoding/).
"""

_LENGTH_DELIMITED = 2


def varint(number: int) -> bytes:
    """A whole number, 0 or more, seven bits a byte."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


_LENGTHS = [varint(length) for length in range(1 << 12)]
_TAGS = [varint(number << 3 | _LENGTH_DELIMITED) for number in range(1 << 8)]


def field(number: int, message: bytes) -> bytes:
    """A field that holds a message: its tag, its length, its bytes."""
    length = len(message)
    return _TAGS[number] + (_LENGTHS[length] if length < 4096 else varint(length)) + message
