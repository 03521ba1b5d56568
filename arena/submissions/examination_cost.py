"""Compute the highest cost of the examination of a pushed bot, which is printed before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from arena.models.models_file import EXAMINATION_TOKENS, read_models
from arena.store.bots.model_grants import granted_names
from arena.store.matches import model_calls


def examination_cost(
    engine: Engine, root: Path, owner: str, name: str, declared: Sequence[str]
) -> dict[str, Any] | None:
    """Return the highest cost of an examination, which plays one game, as JSON values.

    Args:
        root: the data folder with `models.toml`.

    Returns:
        The models, the tokens and their price, and what a game of the last version that has called
        models used; None without a granted model.

    Raises:
        ModelsFileError: `models.toml` is not valid.
    """
    file = read_models(root)
    granted = granted_names(engine, owner, "", declared)
    models = [each for each in granted if file is not None and each in file.models]
    if file is None or not models:
        return None
    tokens = file.limits.smaller_budget(EXAMINATION_TOKENS)
    earlier = model_calls.usage_per_game(engine, name)
    return {
        "models": models,
        "most_tokens": tokens,
        "most_cost": file.most_cost(models, tokens),
        "earlier": earlier
        and {"version": earlier[0], "tokens": earlier[1].tokens, "cost": earlier[1].cost},
    }
