from typing import Any as _Any

class RelayServiceServicer:
    """The relay's service for authors."""
    def Connect(self, request: _Any, context: _Any, /) -> _Any:
        """Connects a bot for as long as it is available. The first request is Hello,
        the first response Welcome. A rejected connection ends with an error text.
        After a lost connection the client sends the same Hello again, and open calls
        continue.
        """

class RelayServiceStub:
    def __init__(self, channel: _Any) -> None: ...
    Connect: _Any

def add_RelayServiceServicer_to_server(servicer: RelayServiceServicer, server: _Any) -> None: ...

class LobbyServiceServicer:
    """The relay's service for the arena: it seats connected bots at tables. The server
    is ControlApi in arena/remote/relay/control_api.py.
    """
    def Seat(self, request: _Any, context: _Any, /) -> _Any:
        """Seats a connected bot at a table until the call ends. The first response is
        Seated or Absent; later responses report changes.
        """

class LobbyServiceStub:
    def __init__(self, channel: _Any) -> None: ...
    Seat: _Any

def add_LobbyServiceServicer_to_server(servicer: LobbyServiceServicer, server: _Any) -> None: ...
