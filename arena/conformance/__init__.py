"""Does a bot do what the protocol asks of it, in every game and form that it claims?

:func:`arena.conformance.examination.examine` tries it and yields checks; it knows nothing of
command lines or ladders, so that `pokearena test` prints what a server decides by.
"""
