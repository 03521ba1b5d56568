"""gRPC client for the referee's calls to bots.

`client` defines the interface and opens one of two implementations: the project's own HTTP/2 client
(`channel`, the default) or one based on ``grpc.aio`` (`grpcio`). Only
`referee.tables.bot_client` uses the package.
"""
