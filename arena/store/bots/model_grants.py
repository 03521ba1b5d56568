"""Grants of models: which owners and versions may use which models; by default none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Engine, and_, delete, insert, or_, select

from arena.errors import Conflict, NotFound
from arena.store import schema
from arena.store.database import now, read_rows, writing


class Grantee(StrEnum):
    """The kind of object that a model is granted to."""

    OWNER = "owner"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class ModelGrant:
    """The right of an owner's versions, or of one version, to use a model."""

    kind: Grantee
    name: str
    model: str
    created: float


@dataclass(frozen=True, slots=True)
class GrantedModels:
    """The models of a version: those that it declares and has been granted.

    Attributes:
        version: ``name@number``.
        owner: the owner whose budget the calls use; the bot's name if the bot has no owner.
        models: their names, in the order of the manifest.
    """

    version: str
    owner: str
    models: tuple[str, ...]


def grant_model(engine: Engine, kind: Grantee, name: str, model: str) -> None:
    """Grant a model.

    Raises:
        NotFound: the owner or version does not exist.
        Conflict: it is granted already.
    """
    grants, versions, bots = schema.model_grants, schema.versions, schema.bots
    known = {
        Grantee.OWNER: (schema.owners.c.name, bots.c.owner),
        Grantee.VERSION: (versions.c.id,),
    }[kind]
    row = {"kind": kind, "name": name, "model": model}
    with writing(engine, "grant_model") as connection:
        queries = (select(column).where(column == name).limit(1) for column in known)
        if not any(connection.execute(query).first() for query in queries):
            raise NotFound(f'there is no {kind} "{name}".')
        if connection.execute(select(grants.c.name).filter_by(**row)).first() is not None:
            raise Conflict(f"the {kind} {name} may use {model} already.", code="granted")
        connection.execute(insert(grants).values(**row, created=now()))


def revoke_model(engine: Engine, kind: Grantee, name: str, model: str) -> None:
    """Revoke a grant; a running table keeps its models until it is over.

    Raises:
        NotFound: it was not granted.
    """
    query = delete(schema.model_grants).filter_by(kind=kind, name=name, model=model)
    with writing(engine, "revoke_model") as connection:
        if connection.execute(query).rowcount == 0:
            raise NotFound(f"the {kind} {name} has no grant of {model}.")


def list_grants(engine: Engine) -> tuple[ModelGrant, ...]:
    """Return all grants, in the order of their names."""
    grants = schema.model_grants
    rows = read_rows(engine, select(grants).order_by(grants.c.kind, grants.c.name, grants.c.model))
    return tuple(ModelGrant(Grantee(row.kind), row.name, row.model, row.created) for row in rows)


def granted_models(engine: Engine, match: str) -> Mapping[str, GrantedModels]:
    """Return the models of the versions of a match, by version; without versions that have none."""
    grants, sides = schema.model_grants, schema.match_entrants
    versions, bots = schema.versions, schema.bots
    query = (
        select(versions.c.id, versions.c.name, versions.c.manifest, bots.c.owner, grants.c.model)
        .join(versions, versions.c.id == sides.c.version)
        .join(bots, bots.c.name == versions.c.name)
        .join(
            grants,
            or_(
                and_(grants.c.kind == Grantee.VERSION, grants.c.name == versions.c.id),
                and_(grants.c.kind == Grantee.OWNER, grants.c.name == bots.c.owner),
            ),
        )
        .where(sides.c.match == match)
    )
    by_version: dict[str, GrantedModels] = {}
    rows = read_rows(engine, query).all()
    for row in rows:
        allowed = {each.model for each in rows if each.id == row.id}
        models = tuple(name for name in row.manifest.get("models", ()) if name in allowed)
        if models:
            by_version[row.id] = GrantedModels(row.id, row.owner or row.name, models)
    return by_version


def granted_names(engine: Engine, owner: str, version: str, declared: Sequence[str]) -> list[str]:
    """Return those of the declared models that are granted to an owner or a version.

    Args:
        owner: the name of the owner; empty: no owner.
        version: ``name@number``; empty: a bot that is not a version yet.
    """
    allowed = {
        grant.model
        for grant in list_grants(engine)
        if grant.name and grant.name == {Grantee.OWNER: owner, Grantee.VERSION: version}[grant.kind]
    }
    return [name for name in declared if name in allowed]
