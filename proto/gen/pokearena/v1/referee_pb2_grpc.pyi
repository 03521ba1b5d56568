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
    def ExcuseTime(self, request: _Any, context: _Any, /) -> _Any:
        """Excuses time in which the arena repeated a failed call of a seat's model: the
        clock of the seat does not count it. A table that is not running is ignored.
        """

class RefereeServiceStub:
    def __init__(self, channel: _Any) -> None: ...
    ListGames: _Any
    RunTable: _Any
    ExcuseTime: _Any

def add_RefereeServiceServicer_to_server(servicer: RefereeServiceServicer, server: _Any) -> None: ...
