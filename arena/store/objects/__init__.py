"""Keep build archives and match records in object storage (S3 protocol) instead of the database.

`object_storage` is the client, `stored_objects` the protocol by which the database refers to
objects, `record_archive` stores the records of finished matches as objects, and `file_moves` moves
all files between the database and the object storage.
"""
