"""The relay: accepts connections of bots on their authors' machines and forwards requests to them.

    author's machine            relay                                            arena
    bot <-- connector --stream--> public endpoint -- session -- seat --address--> referee
                                                   control API <---- orders ----- worker
                                                   worker endpoint <-- tunnel of a worker
                                                                       on another machine

- The public endpoint accepts connectors.
- The relay control API accepts orders for seats from workers.
- A seat is a gRPC server of its own that implements BotService, so the referee handles it like a
  local bot.
- The worker endpoint gives workers on other machines access to the control API and the seats,
  through a tunnel (`arena.system.tunnel`).
- A session is a connected bot with its seats at tables. It outlives a lost connection while it
  has seats; requests wait in it until the bot reconnects.
"""
