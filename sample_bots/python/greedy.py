"""A bot that plays each game by rules of thumb, with one function per game."""

from games import poke, pokex, pokino, pouku, saint_poker
from pokearena_bot import run

run(
    poke=poke.choose,
    saint_poker=saint_poker.choose,
    pokex=pokex.choose,
    pouku=pouku.choose,
    pokino=pokino.choose,
)
