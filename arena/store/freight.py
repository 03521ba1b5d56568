"""The tables of what is sent from one machine to another, and how all tables name their parts."""

from sqlalchemy import Column, Double, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

# The files of versions, where other machines may have to play them (arena.files).
crates = Table(
    "crates",
    metadata,
    Column("content_hash", Text, primary_key=True),
    # SHA-256 of the packed bytes.
    Column("digest", Text, nullable=False),
    Column("pieces", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    # 0: only strangers have sent it.
    Column("trusted", Integer, nullable=False),
    Column("created", Double, nullable=False),
)

crate_pieces = Table(
    "crate_pieces",
    metadata,
    Column("content_hash", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
