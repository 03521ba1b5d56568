"""Test that the pairings of a ladder equal those of a plain search over all entrants."""

import random
from collections import Counter
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.ladder import LadderFormat
from arena.formats.ladder_pairing import SLACK, WaitingQueue
from arena.formats.table_pool import clans
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone
from tests.examples import examples


@given(
    count=st.integers(4, 30), sides=st.integers(2, 4), batch=st.integers(0, 5),
    owned=st.integers(0, 8), seed=st.integers(0, 2**32),
)  # fmt: skip
@settings(max_examples=examples(30))
def test_the_longest_waiting_entrant_meets_its_rarest_opponents(
    count: int, sides: int, batch: int, owned: int, seed: int
) -> None:
    entrants = everyone(count, ["xyz"[i % 3] for i in range(owned)])
    clan = clans(entrants, sides, owners_meet=False)
    playing = SimulatedTournament(
        LadderFormat(sides, adaptive=0, batch=batch), entrants, seed, random.Random(seed)
    )
    if len(set(clan.values())) >= sides:
        playing.play(3 * count)
    names = [entrant.name for entrant in entrants]
    turn = {name: (0, place) for place, name in enumerate(names)}
    plays, meetings = Counter[str](), Counter[frozenset[str]]()
    for number, fixture in enumerate(playing.fixtures):
        table = [min(names, key=turn.__getitem__)]
        while len(table) < sides:
            least = min(plays[name] for name in names)
            free = [
                candidate
                for candidate in names
                if clan[candidate] not in {clan[name] for name in table}
            ]
            table.append(
                min(
                    free,
                    key=lambda candidate: (
                        max(plays[candidate] - least - SLACK, 0),
                        sum(meetings[frozenset((candidate, other))] for other in table),
                        plays[candidate],
                        turn[candidate],
                    ),
                )
            )
        assert sorted(table) == sorted(fixture.entrants)
        plays.update(table)
        meetings.update(map(frozenset, combinations(table, 2)))
        turn.update({name: (number + 1, turn[name][1]) for name in table})


@given(levels=st.lists(st.integers(0, 4), min_size=1, max_size=12), seed=st.integers(0, 2**32))
def test_playing_moves_an_entrant_to_the_end_of_the_queue(levels: list[int], seed: int) -> None:
    dice = random.Random(seed)
    even = {f"{place:02}": level for place, level in enumerate(levels)}
    turn = {name: (0, name) for name in even}
    queue = WaitingQueue(even, even)
    for number in range(1, 20):
        least = min(even.values())
        expected = sorted(even, key=lambda name: (max(even[name], least), turn[name]))
        assert min(queue.heads(), key=turn.__getitem__) == min(even, key=turn.__getitem__)
        groups = [list(group) for group in queue.groups(0)]
        assert [name for group in groups for name in group] == expected
        assert [len(group) for group in groups] == [
            n for _, n in sorted(Counter(even.values()).items())
        ]
        close = [name for name in expected if even[name] <= least + 1]
        assert list(next(iter(queue.groups(1)))) == close
        plays, is_even = sorted(dice.sample(sorted(even), min(2, len(even)))), dice.random() < 0.5
        queue.played(plays, is_even)
        for name in plays:
            even[name] += is_even
            turn[name] = number, name
