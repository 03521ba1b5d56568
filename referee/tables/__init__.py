"""Play the boards of one table: ask the bots, measure their time and judge their failures.

Uses `referee.games`, `referee.rpc`, and the modules of `referee` for running games, records and
faults. Used by `referee.service`.
"""
