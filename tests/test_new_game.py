"""`scripts/new-game` creates a working game in a copy of the repository."""

from pathlib import Path

import pytest

from tests.repository_copy import RepositoryCopy, copied

NAME = "high_card"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> RepositoryCopy:
    """Return a copy of the repository with a new game."""
    repository = copied(tmp_path_factory.mktemp("new") / "game")
    repository.run("python", "scripts/new-game", NAME)
    repository.generate()
    return repository


@pytest.mark.long
def test_the_tests_of_the_new_game_and_the_conformance_suite_pass(copy: RepositoryCopy) -> None:
    tests = ("tests/referee/test_high_card.py", "tests/conformance/test_contract.py")
    # That test needs an oracle of the game, which is written by hand.
    chosen = f"{NAME} and not cards_are_conserved"
    copy.run("python", "-m", "pytest", "-n", "0", "-k", chosen, *tests)


@pytest.mark.long
def test_the_new_files_are_clean(copy: RepositoryCopy) -> None:
    game, presentation = f"referee/games/{NAME}.py", f"referee/presentation/games/{NAME}.py"
    files = (game, presentation, f"tests/referee/test_{NAME}.py", "referee/games/game_packages.py")
    copy.run("python", "-m", "ruff", "check", *files)
    copy.run("python", "-m", "ruff", "format", "--check", *files)


def test_rules_prints_the_new_game(copy: RepositoryCopy) -> None:
    assert "High Card" in copy.cli("rules", NAME)


@pytest.mark.parametrize("name", ["Whist", "2up", "../whist", "high-card"])
def test_a_name_that_is_not_an_identifier_is_refused(copy: RepositoryCopy, name: str) -> None:
    copy.run("python", "scripts/new-game", name, status=2)


def test_a_game_is_not_overwritten(copy: RepositoryCopy) -> None:
    registry = Path(copy.root / "referee/games/game_packages.py")
    before = registry.read_text(encoding="utf-8")
    copy.run("python", "scripts/new-game", "poke", status=1)
    copy.run("python", "scripts/new-game", NAME, status=1)
    assert registry.read_text(encoding="utf-8") == before
