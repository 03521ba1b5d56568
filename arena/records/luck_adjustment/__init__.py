"""Luck-adjusted results: what chance did in a game, measured by playouts.

`match_luck` compares each chance event of the games of a record with other results of the same
event, `values` rates positions, `rubber` values positions of a rubber of Poke, `board_results`
adjusts the results of an entrant, `adjusted_comparison` compares two versions, and
`adjusted_standings` lists all bots of a ladder. Uses `arena.records.analysis`, `arena.ladders`,
`arena.ratings` and `arena.store`. Used by `arena.cli`, `arena.services` and `arena.web`.
"""
