"""Who may change the arena through its pages and its API, and what they changed.

Stores the tokens of organisers, the sessions of signed-in organisers and owners, and the audit log.
"""
