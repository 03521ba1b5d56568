"""People who hold a token: owners of bots, and organisers. Only the hash of a token is stored."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, Table, delete, exc, insert, select, update

from arena.errors import Conflict, NotFound
from arena.store.access.tokens import new_token, token_hash
from arena.store.database import now, read_rows, reading, writing


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A person with a token.

    Attributes:
        name: the name, as in the audit log.
    """

    name: str
    created: float


@dataclass(frozen=True, slots=True)
class TokenHolders:
    """The people of one table.

    Args:
        table: the table, with the columns `name`, `token` and `created`.
        noun: "owner" or "organiser"; also the command that manages them.
    """

    table: Table
    noun: str

    def add(self, engine: Engine, name: str) -> str:
        """Register a person and return the token, which cannot be retrieved later.

        Raises:
            Conflict: the person has a token already.
        """
        token = new_token()
        values = {"name": name, "token": token_hash(token), "created": now()}
        try:
            with writing(engine, "add_token") as connection:
                connection.execute(insert(self.table).values(values))
        except exc.IntegrityError:
            raise Conflict(
                f"{name} has a token already; `pokearena {self.noun} renew {name} --reason TEXT` "
                "creates another.",
                code="has-token",
            ) from None
        return token

    def renew(self, engine: Engine, name: str) -> str:
        """Replace a token and return the new one; the old one and its sessions end.

        Raises:
            NotFound: the person has no token.
        """
        token = new_token()
        values = {"token": token_hash(token), "created": now()}
        query = update(self.table).where(self.table.c.name == name).values(values)
        with writing(engine, "renew_token") as connection:
            if connection.execute(query).rowcount == 0:
                raise self._unknown(name)
        return token

    def revoke(self, engine: Engine, name: str) -> None:
        """Delete a token; it and its sessions are invalid at once. Bots keep their owner.

        Raises:
            NotFound: the person has no token.
        """
        query = delete(self.table).where(self.table.c.name == name)
        with writing(engine, "revoke_token") as connection:
            if connection.execute(query).rowcount == 0:
                raise self._unknown(name)

    def list_holders(self, engine: Engine) -> tuple[TokenHolder, ...]:
        """Return the people that have a token, by name."""
        with reading(engine) as connection:
            rows = connection.execute(select(*self.table.c["name", "created"]))
            # Sorted here, because the order of a database depends on its collation.
            holders = (TokenHolder(**row._mapping) for row in rows)
            return tuple(sorted(holders, key=lambda each: each.name))

    def known_by(self, engine: Engine, token: str) -> str | None:
        """Return the person with this token; None if the token is unknown."""
        # The timing of this lookup reveals only hash prefixes, from which no token can be derived.
        query = select(self.table.c.name).where(self.table.c.token == token_hash(token))
        return read_rows(engine, query).scalar_one_or_none()

    def expect(self, engine: Engine, name: str) -> None:
        """Check that a person has a token.

        Raises:
            NotFound: the person has no token.
        """
        with reading(engine) as connection:
            if not connection.execute(select(self.table).where(self.table.c.name == name)).first():
                raise self._unknown(name)

    def _unknown(self, name: str) -> NotFound:
        return NotFound(
            f"{name} has no token of an {self.noun}; `pokearena {self.noun} list` shows who has "
            "one.",
            code="no-token",
        )
