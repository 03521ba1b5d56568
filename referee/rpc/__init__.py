"""The referee's own gRPC client over HTTP/2, for its calls to bots (`channel`).

Only `referee.tables.bot_client` uses the package.
"""
