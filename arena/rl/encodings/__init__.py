"""The games of the arena in numbers."""

from collections.abc import Mapping

from arena.rl.encodings.encoding import Encoding, Groups
from arena.rl.encodings.poke import PokeEncoding
from arena.rl.encodings.pokex import PokexEncoding
from arena.rl.encodings.pokino import PokinoEncoding
from arena.rl.encodings.pouku import PoukuEncoding
from arena.rl.encodings.saint_poker import SaintPokerEncoding

__all__ = ["ENCODINGS", "Encoding", "Groups"]

ENCODINGS: Mapping[str, type[Encoding]] = {
    kind.game: kind
    for kind in (PokeEncoding, SaintPokerEncoding, PokexEncoding, PoukuEncoding, PokinoEncoding)
}
"""The encoding of each game, by its id."""
