"""The conformance suite of games: `pokearena game test`, and the tests of the built-in games.

Each check is a function from a table to the problems that it finds there. The checks use only the
contract of games, the codec, the records and the presentation. `arena.cli` and the tests use them.
"""
