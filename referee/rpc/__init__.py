"""The gRPC client with which the referee asks bots.

`client` defines the interface and opens one of two implementations: the project's own HTTP/2
client (`channel`, the default) and one on ``grpc.aio`` (`grpcio`). Only `referee.bot_client` uses
it.
"""
