"""The relay: bots that run at their authors' connect to it, and are asked over that connection.

Uses `arena.config`, `arena.errors`, `arena.events`, `arena.queue`, `arena.remote.tunnel`,
`arena.store` and `arena.system`. No other package uses it.

    author's machine            relay                              arena
    bot <-- connector --stream--> gate -- guest -- seat --address--> referee
                                                   desk <--orders--- worker
                                                   side door <------ tunnel of a far worker

The gate lets connectors in, the desk takes orders for seats, a seat is a gRPC server of its own
that speaks BotService, so the referee cannot tell it from a bot. By the side door workers on other
machines reach both, through a tunnel (arena.remote.tunnel.streams). A guest is a bot that is
connected, or was, with the seats it has at tables; its questions wait for it while it is away.
"""
