"""Tokens and price of calls of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallFigures:
    """Tokens and price of one call or several."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens of input and output together."""
        return self.input_tokens + self.output_tokens
