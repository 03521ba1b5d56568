from typing import Any as _Any

class BotServiceServicer:
    """A bot listens at the address in the environment variable POKEARENA_ADDRESS,
    for example unix:/run/bot.sock, and serves these methods. It may leave methods
    unimplemented, except that it must implement Act or Play.
    """
    def Act(self, request: _Any, context: _Any, /) -> _Any:
        """Answers one question. The only method that a bot needs."""
    def Play(self, request: _Any, context: _Any, /) -> _Any:
        """Answers questions faster than Act: one stream for a whole table. Each
        message contains one or more questions, of different games. Answer every
        question, with game and decision copied from it. One message may contain
        any number of answers.
        """
    def Start(self, request: _Any, context: _Any, /) -> _Any:
        """Called once per table, before any clock runs, with a description of the
        table. The time until it returns counts towards the start limit only.
        """
    def End(self, request: _Any, context: _Any, /) -> _Any:
        """Called once per table, after its last game. The arena ends the process soon
        afterwards.
        """

class BotServiceStub:
    def __init__(self, channel: _Any) -> None: ...
    Act: _Any
    Play: _Any
    Start: _Any
    End: _Any

def add_BotServiceServicer_to_server(servicer: BotServiceServicer, server: _Any) -> None: ...
