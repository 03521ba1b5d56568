"""A Python client of the HTTP API of an arena.

`operations` is generated from the OpenAPI document by `scripts/api-client`: one method for each
operation. The package uses only the standard library, and is used by `arena.cli.bots` and by other
programs:

    from arena.api_client import ArenaClient

    arena = ArenaClient("https://arena.example.org", token)
    print(arena.get_ladders_form("poke").content)
"""

from arena.api_client.client import ApiAnswer, ArenaClient, ArenaUnreachable

__all__ = ["ApiAnswer", "ArenaClient", "ArenaUnreachable"]
