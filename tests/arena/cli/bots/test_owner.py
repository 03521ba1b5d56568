"""`pokearena owner`: tokens are shown once."""

import json

import pytest

from arena.cli.workspace import Workspace
from arena.errors import Conflict
from arena.store.bots import owners
from tests.arena.cli.terminal import Cli


def test_a_token_is_created_shown_once_renewed_and_removed(cli: Cli) -> None:
    made = cli("owner", "add", "ada")
    token = made.out.strip()
    assert made.status == 0
    assert owners.is_of(Workspace(None).store, token, "ada")
    listed = cli("owner", "list")
    assert "ada" in listed.out
    assert token not in listed.out
    renewed = cli("owner", "renew", "ada", "--json", "--reason", "a test").json
    assert renewed["owner"] == "ada"
    assert owners.is_of(Workspace(None).store, renewed["token"], "ada")
    assert not owners.is_of(Workspace(None).store, token, "ada")
    assert cli("owner", "remove", "ada", "--reason", "a test").status == 0
    assert cli("owner", "add", "bob", "--json").json["owner"] == "bob"
    lines = cli("owner", "list", "--json").out.splitlines()
    assert [json.loads(line)["owner"] for line in lines] == ["bob"]


def test_a_name_with_a_space_is_quoted_in_the_next_command(cli: Cli) -> None:
    assert "bot add FOLDER --owner 'ada lovelace'" in cli("owner", "add", "ada lovelace").err


def test_a_second_token_is_refused(cli: Cli) -> None:
    cli("owner", "add", "ada")
    again = cli("owner", "add", "ada")
    assert again.status != 0
    assert isinstance(again.error, Conflict)


@pytest.mark.parametrize("name", ["", "a b/c", " ada", "a\nb"])
def test_a_name_that_cannot_be_typed_or_linked_is_refused(cli: Cli, name: str) -> None:
    result = cli("owner", "add", name)
    assert (result.status, result.code) == (2, "BadName")
