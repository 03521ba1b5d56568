"""Test `models.toml`: valid files, and the sentence and place of each fault."""

from pathlib import Path

import pytest

from arena.models.models_file import (
    ModelLimits,
    ModelsFile,
    ModelsFileError,
    missing_keys,
    read_models,
)
from arena.system.structured_file import FileProblem

MODEL = """
[models.small]
base_url = "https://api.example.org/v1"
model = "small-1"
input_price = 0.5
output_price = 2
key = "EXAMPLE_KEY"
"""


def read(folder: Path, text: str) -> ModelsFile:
    (folder / "models.toml").write_text(text, encoding="utf-8")
    content = read_models(folder)
    assert content is not None
    return content


def test_without_the_file_there_are_no_models(tmp_path: Path) -> None:
    assert read_models(tmp_path) is None


def test_models_have_prices_and_limits_have_defaults(tmp_path: Path) -> None:
    content = read(tmp_path, MODEL)
    assert content.models["small"].cost(2_000_000, 1_000_000) == 3.0
    assert content.limits == ModelLimits()
    assert missing_keys(content, {}) == ("EXAMPLE_KEY",)
    assert missing_keys(content, {"EXAMPLE_KEY": "x"}) == ()
    (tmp_path / "key").write_text("y\n")
    assert missing_keys(content, {"EXAMPLE_KEY_FILE": str(tmp_path / "key")}) == ()


def test_the_tokens_of_a_match_are_divided_among_its_tables() -> None:
    limits = ModelLimits(table_tokens=500, match_tokens=900)
    assert [limits.table_budget(tables) for tables in (1, 2, 3)] == [500, 450, 300]


@pytest.mark.parametrize(
    ("text", "problem", "key", "line"),
    [
        ("", FileProblem.MISSING_KEY, "models", None),
        (MODEL + "prices = 1\n", FileProblem.UNKNOWN_KEY, "models.small.prices", 8),
        (MODEL.replace("0.5", "-1"), FileProblem.VALUE, "models.small.input_price", 5),
        (MODEL.replace("https:", "ftp:"), FileProblem.VALUE, "models.small.base_url", 3),
        (MODEL.replace("api.", "me:secret@api."), FileProblem.VALUE, "models.small.base_url", 3),
        (MODEL.replace("EXAMPLE_KEY", "sk-12"), FileProblem.VALUE, "models.small.key", 7),
        (MODEL.replace('model = "small-1"', ""), FileProblem.MISSING_KEY, "models.small.model", 2),
        (MODEL.replace("models.small", 'models."a b"'), FileProblem.VALUE, "models.a b", 2),
        (MODEL + "[limits]\ncall_tokens = 0\n", FileProblem.VALUE, "limits.call_tokens", 9),
        (
            MODEL + "[limits]\noutput_tokens = 40000\n",
            FileProblem.VALUE,
            "limits.output_tokens",
            9,
        ),
        ("[models", FileProblem.SYNTAX, "", 1),
    ],
)
def test_each_fault_has_one_sentence(
    tmp_path: Path, text: str, problem: FileProblem, key: str, line: int | None
) -> None:
    with pytest.raises(ModelsFileError) as caught:
        read(tmp_path, text)
    error = caught.value
    assert (error.problem, error.key, error.line) == (problem, key, line)
    assert str(error).endswith(".")
