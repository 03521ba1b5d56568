"""Deal as docs/reference/dealing.md specifies, in independent code, and compare with the arena."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.registry import find_game
from referee.games.shared.cards import DECK, DECK_WITH_JOKERS, cards, deck_of
from referee.games.shared.dealing import Arranged, Seeded, board_seed, commitment, derive
from referee.games.shared.dominoes import DOMINOES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "dealing.md"
OTHER_SEEDS = Path(__file__).parents[1] / "golden" / "dealing.txt"

seeds = st.binary(min_size=32, max_size=32)
purposes = st.sampled_from(["deck", "dealer", "ties", "board", "match/abc"])
numbers = st.integers(0, 2**64 - 1)


# The page, implemented independently of referee/games/shared/dealing.py: the stream is one long
# whole number that is cut up by arithmetic, and a shuffle draws its places by recursion.


def stream(seed: bytes, purpose: str, number: int) -> Iterator[int]:
    key = bytearray(b"pokearena-1")
    key.append(0)
    key += seed + purpose.encode("ascii")
    key.append(0)
    key += bytes((number >> shift) & 255 for shift in range(56, -8, -8))
    for place in range(4000):
        whole = int.from_bytes(hashlib.shake_256(key).digest(4 * place + 4), "big")
        yield whole % 2**32


def draw(words: Iterator[int], bound: int) -> int:
    word = next(words)
    too_high = word // bound == 2**32 // bound and 2**32 % bound != 0
    return draw(words, bound) if too_high else word % bound


def shuffle(words: Iterator[int], things: list[str]) -> list[str]:
    if len(things) < 2:
        return things
    place = draw(words, len(things))
    chosen, last = things[place], things[-1]
    rest = [last if at == place else thing for at, thing in enumerate(things[:-1])]
    return [*shuffle(words, rest), chosen]


def pack() -> list[str]:
    return [f"{rank}{suit}" for rank in "23456789TJQKA" for suit in "CDHS"]


def vectors() -> tuple[dict[str, bytes], list[tuple[str, str, str, str]]]:
    """Return the seeds by name, and the vectors: seed, stream, call, result."""
    (block,) = re.findall(r"```vectors\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    rows = []
    for line in (block + OTHER_SEEDS.read_text()).strip().split("\n"):
        name, stream_name, what, result = (part.strip() for part in line.split("|"))
        rows.append((name, stream_name, what, result))
    named = {name: bytes.fromhex(result) for name, _, what, result in rows if what == "seed"}
    return named, [row for row in rows if row[2] != "seed"]


SEEDS, VECTORS = vectors()


def by_the_page(seed: bytes, purpose: str, number: int, what: str) -> str:
    words = stream(seed, purpose, number)
    match what.split():
        case ["below", bound]:
            return str(draw(words, int(bound)))
        case ["shuffle", "pack"]:
            return " ".join(shuffle(words, pack()))
        case ["shuffle", "pack", "with", "jokers"]:
            return " ".join(shuffle(words, [*pack(), "X1", "X2"]))
        case ["shuffle", "dominoes"]:
            numbered = [f"{low}-{high}" for low in range(13) for high in range(low, 13)]
            return " ".join(shuffle(words, numbered))
        case ["shuffle", size]:
            return " ".join(shuffle(words, [str(n) for n in range(int(size))]))
        case ["derive"]:
            return "".join(f"{next(words):08x}" for _ in range(8))
        case ["luck", "of", "question", question]:
            return str(((next(words) << 32) + next(words) + int(question)) % 2**64)
        case ["commitment"]:
            return hashlib.sha256(seed).hexdigest()
    raise AssertionError(f"the page has a vector of a new kind: {what}")


def by_the_arena(seed: bytes, purpose: str, number: int, what: str) -> str:
    """Return the numbers that the arena's code draws."""
    luck = Seeded(seed)
    match what.split():
        case ["below", bound]:
            return str(luck.below(purpose, number, int(bound)))
        case ["shuffle", "pack"]:
            return " ".join(luck.shuffled(purpose, number, DECK))
        case ["shuffle", "pack", "with", "jokers"]:
            return " ".join(luck.shuffled(purpose, number, DECK_WITH_JOKERS))
        case ["shuffle", "dominoes"]:
            return " ".join(luck.shuffled(purpose, number, DOMINOES))
        case ["shuffle", size]:
            return " ".join(map(str, luck.shuffled(purpose, number, range(int(size)))))
        case ["derive"]:
            if purpose == "board":
                assert board_seed(seed, number) == derive(seed, "board", number)
            return derive(seed, purpose, number).hex()
        case ["luck", "of", "question", question]:
            start = int.from_bytes(derive(seed, "luck", number)[:8], "big")
            return str((start + int(question)) % 2**64)
        case ["commitment"]:
            return commitment(seed)
        case ["sha256", "of", "shuffle", size]:
            order = " ".join(map(str, luck.shuffled(purpose, number, range(int(size)))))
            return hashlib.sha256(order.encode()).hexdigest()
    raise AssertionError(f"the page has a vector of a new kind: {what}")


def stream_of(name: str) -> tuple[str, int]:
    """Return the purpose and number that a vector names."""
    purpose, _, number = name.partition(" ")
    return purpose, int(number or 0)


def test_the_page_has_vectors_of_every_kind() -> None:
    assert {re.sub(r" \d+$", "", what) for _, _, what, _ in VECTORS} == {
        "below",
        "shuffle pack",
        "shuffle pack with jokers",
        "shuffle dominoes",
        "shuffle",
        "sha256 of shuffle",
        "derive",
        "luck of question",
        "commitment",
    }
    assert len(SEEDS) == 3
    first = {result for _, name, what, result in VECTORS if (name, what) == ("dealer 0", "below 2")}
    assert first == {"0", "1"}


@pytest.mark.parametrize(("name", "stream_name", "what", "result"), VECTORS)
def test_the_arena_reproduces_a_vector_of_the_page(
    name: str, stream_name: str, what: str, result: str
) -> None:
    assert by_the_arena(SEEDS[name], *stream_of(stream_name), what) == result


@pytest.mark.parametrize(
    ("name", "stream_name", "what", "result"), [v for v in VECTORS if "1000" not in v[2]]
)
def test_the_algorithm_of_the_page_reproduces_its_vector(
    name: str, stream_name: str, what: str, result: str
) -> None:
    assert by_the_page(SEEDS[name], *stream_of(stream_name), what) == result


@given(seeds, purposes, numbers, st.integers(1, 2**32))
def test_numbers_match_the_algorithm_of_the_page(
    seed: bytes, purpose: str, number: int, bound: int
) -> None:
    drawn = Seeded(seed).below(purpose, number, bound)
    assert drawn == draw(stream(seed, purpose, number), bound)
    assert 0 <= drawn < bound


@given(seeds, purposes, numbers, st.integers(0, 90))
def test_shuffles_match_the_algorithm_of_the_page(
    seed: bytes, purpose: str, number: int, size: int
) -> None:
    things = [str(n) for n in range(size)]
    shuffled = Seeded(seed).shuffled(purpose, number, things)
    assert list(shuffled) == shuffle(stream(seed, purpose, number), things)
    assert sorted(shuffled) == sorted(things)


def test_the_worked_example_of_the_page_is_correct() -> None:
    seed, text = SEEDS["A"], PAGE.read_text()
    key = b"pokearena-1\0" + seed + b"deck\0" + bytes(8)
    (shown,) = re.findall(r"The key, 57 bytes:\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    assert bytes.fromhex(shown) == key
    assert len(key) == 57
    words = stream(seed, "deck", 0)
    first = " ".join(f"{next(words):08x}" for _ in range(5))
    assert f"`{first} ...`" in text
    assert f"`{next(stream(seed, 'dealer', 0)):08x}`" in text
    order = list(DECK)
    words = stream(seed, "deck", 0)
    for last in range(51, 46, -1):
        word = next(words)
        chosen = word % (last + 1)
        limit = 2**32 // (last + 1) * (last + 1)
        assert (
            f"| {last} | {word} | {limit} | {word} mod {last + 1} = {chosen} "
            f"| `{order[last]}` and `{order[chosen]}` |"
        ) in text
        order[last], order[chosen] = order[chosen], order[last]
    shown_pack = shuffle(stream(seed, "deck", 0), pack())
    assert " ".join(shown_pack) in " ".join(text.split())


def test_the_worked_example_is_how_poke_deals() -> None:
    """P-1.2, P-1.3."""
    state = find_game("poke").start(Seeded(SEEDS["A"]))
    assert state.actors == (0,)
    assert set(state.view(0).hand) == {*cards("6D 8S KS 7D 5S")}
    assert set(state.view(1).hand) == {*cards("4S TS 8D 5C 3S")}
    assert state.view(0).dealer == 1
    assert "Seat 0 holds `6D 8S KS 7D 5S`, seat 1 `4S TS 8D 5C 3S`." in PAGE.read_text()


def test_streams_of_different_names_are_independent() -> None:
    luck = Seeded(bytes(32))
    orders = {
        luck.shuffled(purpose, number, DECK) for purpose in ("deck", "decks") for number in (0, 1)
    }
    assert len(orders) == 4
    assert Seeded(b"\1" + bytes(31)).shuffled("deck", 0, DECK) not in orders


def test_luck_can_be_arranged_and_is_seeded_elsewhere() -> None:
    deck = deck_of(cards("AS KS"))
    luck = Arranged(numbers={("dealer", 0): 1}, orders={("deck", 0): deck})
    assert luck.below("dealer", 0, 2) == 1
    assert luck.shuffled("deck", 0, DECK)[:3] == ("AS", "KS", "2C")
    assert luck.shuffled("deck", 1, DECK) == Seeded(bytes(32)).shuffled("deck", 1, DECK)
    assert luck.below("dealer", 1, 2) == Seeded(bytes(32)).below("dealer", 1, 2)
