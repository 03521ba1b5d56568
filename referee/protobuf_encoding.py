"""Encode protobuf's wire format, as far as needed to assemble messages from encoded parts.

An encoded message is the concatenation of its encoded fields, in any order
(https://protobuf.dev/programming-guides/encoding/).
"""

_LENGTH_DELIMITED = 2


def varint(number: int) -> bytes:
    """Encode a whole number, 0 or more, as a varint: seven bits per byte, lowest bits first."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


_LENGTHS = [varint(length) for length in range(1 << 12)]
_TAGS = [varint(number << 3 | _LENGTH_DELIMITED) for number in range(1 << 8)]


def field(number: int, message: bytes) -> bytes:
    """Encode a length-delimited field: tag, length, bytes.

    Args:
        number: the field number, below 256.
        message: the content of the field.
    """
    length = len(message)
    return _TAGS[number] + (_LENGTHS[length] if length < 4096 else varint(length)) + message
