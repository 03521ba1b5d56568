"""The author's end of the relay: starts the bot at home and answers for it (arena.relay).

One outbound stream; a process of the bot for every seat it has at a table. When the stream breaks
it is made anew, and what is open is asked again: an ask that was answered meanwhile is answered
with what the bot said, one that was not goes on.
"""
