"""Mutate messages: valid fields with changed values, and random bytes."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from referee.game_codec import varint

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
TEXTS: Final = (
    *(b"", b"AS", b"ZZ", b"2C", b"x1", b"10S", b" AS", b"3-12", b"right", b"A\x00S"),
    *(b"\x1b[2J", b"\xff\xfe", b"\xed\xa0\x80", "Ä\u202e\u2028".encode(), b"{}", b"9" * 300),
)
WAYS: Final = (*(1,) * 40, *(2,) * 15, *(3,) * 4, 0)
"""The distribution of the number of changes per message."""
LARGE: Final = 10_000
DEEPEST: Final = 8
NUMBERS: Final = (0, 1, 2, 7, 127, 128, 1000, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message, in the wire format."""

    number: int
    kind: int
    value: "int | bytes | list[Field]"

    def bytes(self) -> bytes:
        tag = varint(self.number << 3 | self.kind)
        if isinstance(self.value, int):
            return tag + varint(self.value)
        if self.kind != LENGTH_DELIMITED:
            return tag + (self.value if isinstance(self.value, bytes) else b"")
        inside = self.value if isinstance(self.value, bytes) else joined(self.value)
        return tag + varint(len(inside)) + inside


def joined(fields: Sequence[Field]) -> bytes:
    return b"".join(chosen.bytes() for chosen in fields)


def fields_of(data: bytes, depth: int = DEEPEST) -> list[Field] | None:
    """Return the fields of a message; None if the bytes are not a valid message.

    Length-delimited fields that are valid messages are decoded too, up to `depth` levels.
    """
    fields, place = [], 0
    while place < len(data):
        tag, place = _varint(data, place)
        if tag < 8 or tag > 1 << 20:
            return None
        kind = tag & 7
        if kind == VARINT:
            number, place = _varint(data, place)
            if number < 0:
                return None
            fields.append(Field(tag >> 3, kind, number))
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind, -1)
        if kind == LENGTH_DELIMITED:
            size, place = _varint(data, place)
        if size < 0 or place + size > len(data):
            return None
        inside = data[place : place + size]
        place += size
        may_be = kind == LENGTH_DELIMITED and inside and depth
        deeper = fields_of(inside, depth - 1) if may_be else None
        fields.append(Field(tag >> 3, kind, inside if deeper is None else deeper))
    return fields


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
    return -1, len(data)


class Mutations:
    """Changes valid messages at random, reproducibly by the seed."""

    def __init__(self, seed: str, strangers: Sequence[bytes]) -> None:
        self.rng = random.Random(seed)
        self._strangers = strangers
        """Valid messages of other games."""
        self._ways: tuple[Callable[[bytes], bytes], ...] = (
            *(self._bytes, self._bytes, self._noise, self._splice, self._large),
            *(self._fields,) * 8,
        )

    def message(self, good: bytes) -> bytes:
        made = good
        for _ in range(self.rng.choice(WAYS)):
            if len(made) <= LARGE:  # large messages take too long to decode
                made = self.rng.choice(self._ways)(made)
        return made

    def _bytes(self, data: bytes) -> bytes:
        made = bytearray(data)
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            place = self.rng.randrange(len(made) + 1)
            match self.rng.randrange(4):
                case 0 if place < len(made):
                    made[place] ^= 1 << self.rng.randrange(8)
                case 1 if place < len(made):
                    made[place] = self.rng.choice((0, 1, 0x7F, 0x80, 0xFF, self.rng.randrange(256)))
                case 2:
                    made[place:place] = self._some(4)
                case _:
                    del made[place : place + self.rng.choice((1, 2, 8, 1000))]
        return bytes(made)

    def _noise(self, data: bytes) -> bytes:
        return self._some(self.rng.choice((0, 1, 2, 8, 64, 600)))

    def _some(self, size: int) -> bytes:
        return self.rng.randbytes(size)

    def _splice(self, data: bytes) -> bytes:
        other = self.rng.choice(self._strangers)
        cut, from_there = self.rng.randrange(len(data) + 1), self.rng.randrange(len(other) + 1)
        return data[:cut] + other[from_there:]

    def _large(self, data: bytes) -> bytes:
        """Repeat or nest fields, or add a large one; rarely, because it takes time."""
        if self.rng.random() < 0.98:
            return self._fields(data)
        fields = fields_of(data) or [Field(3, LENGTH_DELIMITED, self.rng.choice(TEXTS))]
        match self.rng.randrange(3):
            case 0:
                return joined(fields * 2000)
            case 1:
                inside = joined(fields)
                for _ in range(self.rng.choice((50, 101, 3000))):
                    inside = Field(self.rng.choice((3, 2, 4)), LENGTH_DELIMITED, inside).bytes()
                return inside
            case _:
                return (
                    data + Field(self.rng.choice((4, 15)), LENGTH_DELIMITED, b"x" * 500_000).bytes()
                )

    def _fields(self, data: bytes) -> bytes:
        fields = fields_of(data)
        return self._noise(data) if fields is None else joined(self._changed(fields))

    def _changed(self, fields: list[Field]) -> list[Field]:
        if not fields:
            return [self._made_up()]
        place = self.rng.randrange(len(fields))
        chosen = fields[place]
        if isinstance(chosen.value, list) and self.rng.random() < 0.75:
            changed = [Field(chosen.number, chosen.kind, self._changed(chosen.value))]
        else:
            match self.rng.randrange(6):
                case 0:
                    changed = []
                case 1:
                    changed = [chosen, chosen]
                case 2:
                    changed = [
                        Field(self.rng.choice((1, 2, 3, 4, 5, 6, 100)), chosen.kind, chosen.value)
                    ]
                case 3:
                    changed = [chosen, self._made_up()]
                case _:
                    changed = [self._other_value(chosen)]
        return [*fields[:place], *changed, *fields[place + 1 :]]

    def _other_value(self, chosen: Field) -> Field:
        if isinstance(chosen.value, int):
            return Field(chosen.number, chosen.kind, self.rng.choice(NUMBERS))
        if chosen.kind == LENGTH_DELIMITED:
            return Field(chosen.number, chosen.kind, self.rng.choice(TEXTS))
        return self._made_up()

    def _made_up(self) -> Field:
        number = self.rng.choice((1, 2, 3, 4, 5, 6, 15, 1 << 20))
        if self.rng.random() < 0.5:
            return Field(number, VARINT, self.rng.choice(NUMBERS))
        return Field(number, LENGTH_DELIMITED, self.rng.choice(TEXTS))
