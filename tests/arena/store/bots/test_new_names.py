"""Names of new objects cannot be read as options, paths or values; old ones stay usable."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert

from arena.errors import BadName, InvalidSettings
from arena.store import backup_file, database, schema
from arena.store.access import organisers
from arena.store.bots import owners, versions
from arena.store.match_settings import TournamentPlan
from arena.tournaments import scheduler
from tests.arena.poke_plan import poke_plan

MANIFEST: dict[str, Any] = {"run": ["x"]}


@pytest.mark.parametrize("name", ["--help", "-x", "_x", "007", "1e5", "null", "nan", "true"])
def test_a_new_bot_with_a_misleading_name_is_refused(store: Engine, name: str) -> None:
    with pytest.raises(BadName):
        versions.add_version(store, name, "1", "0" * 64, "/x", MANIFEST)
    with pytest.raises(BadName):
        versions.check_known_or_new(store, name)


@pytest.mark.parametrize("name", ["--help", "-x", ".", "..", ".x"])
def test_a_new_owner_organiser_or_tournament_with_a_misleading_name_is_refused(
    store: Engine, name: str
) -> None:
    with pytest.raises(BadName):
        owners.add_owner(store, name)
    with pytest.raises(BadName):
        organisers.add_organiser(store, name)
    with pytest.raises(BadName):
        versions.add_version(store, "bot", "1", "0" * 64, "/x", MANIFEST, name)
    versions.add_version(store, "bot", "1", "0" * 64, "/x", MANIFEST, "ada")
    versions.add_version(store, "other", "1", "1" * 64, "/x", MANIFEST, "ada")
    with pytest.raises(BadName):
        versions.reassign(store, "bot", name)
    with pytest.raises(InvalidSettings) as caught:
        TournamentPlan(name=name, game="poke").settled(entrants=2)
    assert caught.value.key == ("name",)
    plan = TournamentPlan(name="cup", game="poke").settled(entrants=2)
    with pytest.raises(BadName):
        scheduler.begin(store, plan, ["bot@1", "other@1"], owners={"bot@1": name})


def test_an_old_bot_and_owner_stay_usable(store: Engine, tmp_path: Path) -> None:
    with database.writing(store) as connection:
        bot = {"name": "--help", "created": 0.0, "owner": "-x"}
        connection.execute(insert(schema.bots).values(bot))
    backup_file.backup(store, tmp_path / "old.db", lambda *_: None)
    engine = database.open(f"sqlite:///{tmp_path}/restored.db")
    backup_file.restore(engine, tmp_path / "old.db", lambda *_: None)
    versions.check_known_or_new(engine, "--help")
    versions.add_version(engine, "--help", "2", "2" * 64, "/x", MANIFEST, "-x")
    versions.add_version(engine, "bot", "1", "1" * 64, "/x", MANIFEST, "-x")
    versions.reassign(engine, "bot", "-x")
    plan = poke_plan(options={}, settings={"cycles": 1})
    scheduler.begin(engine, plan, ["--help@2", "bot@1"])
    engine.dispose()
