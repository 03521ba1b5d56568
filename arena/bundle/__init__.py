"""Everything that is needed to check a tournament, as plain files, and the check itself.

`gathering` takes a bundle from the store, `folder` writes and reads it as files, `audit` checks
one, wherever it came from. The format is docs/bundle.md.
"""
