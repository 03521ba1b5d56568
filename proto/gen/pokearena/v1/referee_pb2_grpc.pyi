from typing import Any as _Any

class RefereeServiceServicer:
    """Plays games and keeps their state. The server also offers grpc.health.v1."""
    def ListGames(self, request: _Any, context: _Any, /) -> _Any:
        """The games this referee can play."""
    def RunTable(self, request: _Any, context: _Any, /) -> _Any:
        """Plays one table and streams its games as they finish. The first request is
        the table; later requests report the state of its bots. Ending the stream
        cancels the table.
        """

class RefereeServiceStub:
    def __init__(self, channel: _Any) -> None: ...
    ListGames: _Any
    RunTable: _Any

def add_RefereeServiceServicer_to_server(servicer: RefereeServiceServicer, server: _Any) -> None: ...
