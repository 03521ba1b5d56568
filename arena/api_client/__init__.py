"""A Python client of the HTTP API of an arena.

`operations` is generated from the OpenAPI document by `scripts/api-client`: one method for each
operation. Other programs can use the package too; it needs no package but pokearena:

    from arena.api_client import ArenaClient

    arena = ArenaClient("https://arena.example.org", token)
    print(arena.get_ladders_form("GAME").content)

Uses `arena.system`. Used by `arena.cli`.
"""

from arena.api_client.client import ApiAnswer, ArenaClient, ArenaUnreachable

__all__ = ["ApiAnswer", "ArenaClient", "ArenaUnreachable"]
