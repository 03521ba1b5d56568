"""The oracle of every game, by the game's id."""

from collections.abc import Mapping

from referee.game_checks.tables import Table
from tests.conformance.oracle import Oracle
from tests.conformance.poke_oracle import PokeOracle
from tests.conformance.pokex_oracle import PokexOracle
from tests.conformance.pokino_oracle import PokinoOracle
from tests.conformance.pouku_oracle import PoukuOracle
from tests.conformance.saint_poker_oracle import SaintPokerOracle

ORACLES: Mapping[str, Oracle] = {
    "poke": PokeOracle(),
    "saint_poker": SaintPokerOracle(),
    "pokex": PokexOracle(),
    "pouku": PoukuOracle(),
    "pokino": PokinoOracle(),
}


def oracle_of(table: Table) -> Oracle:
    oracle = ORACLES.get(table.game.id)
    assert oracle is not None, f"{table.game.id} has no oracle; add one to {__name__}"
    return oracle
