"""Luck-adjusted results: what chance did in a game, measured by play-outs.

`chance_luck` compares each chance event of a game with other results of the same event, `values`
rates positions, `rubber` values positions of a rubber of Poke, and `adjusted_comparison` applies it
to two versions in the store. Uses `arena.records.analysis`, `arena.ladders`, `arena.ratings` and
`arena.store`. Used by `arena.cli`.
"""
