"""A stored analysis for tests of the pages and commands that show it."""

from sqlalchemy import Engine

from arena.store.idle_results import ANALYSES


def stored_analysis() -> dict[str, object]:
    """An analysis of a match at the table POKE, whose second position is a swing."""
    estimate = {"mean": 0.5, "error": 0.1}
    return {
        "form": 1,
        "engine": {"name": "strong", "version": "0123456789ab"},
        "quality": 1,
        "playouts": 1000,
        "analysed": 40,
        "skipped": 0,
        "luck": [estimate, {"mean": -0.5, "error": 0.1}],
        "accuracy": [
            {
                "entrant": entrant,
                "phase": "all",
                "decisions": 20,
                "mistakes": 1,
                "loss": estimate,
                "accuracy": 91.5,
                "interval": [90.0, 93.0],
            }
            for entrant in (0, 1)
        ],
        "costliest": [
            {
                "entrant": 1,
                "game": 1,
                "decision": 3,
                "seat": 0,
                "phase": "play",
                "played": "leads 4C",
                "choice": "leads 5C",
                "before": 0.7,
                "after": 0.4,
                "loss": {"mean": 0.3, "error": 0.02},
                "mistake": True,
                "worlds": 100,
            }
        ],
        "positions": [
            {"game": game, "decision": decision, "expectations": [[mean, 0.01], [1 - mean, 0.01]]}
            for game in (0, 1)
            for decision, mean in ((0, 0.5), (4, 0.9), (8, 0.88))
        ],
        "win_probabilities": [
            {
                "game": game,
                "decision": decision,
                "by_seat": [[mean, 0.01], [1 - mean, 0.01]],
                "known_to": [[[0.6, 0.01], [0.4, 0.01]], [[0.3, 0.01], [0.7, 0.01]]],
            }
            for game in (0, 1)
            for decision, mean in ((0, 0.5), (4, 0.9), (8, 0.88))
        ],
        "chance": [],
    }


def store_analysis(engine: Engine, match: str) -> None:
    """Store this analysis as an idle worker does; the match is the newest closed one."""
    task = ANALYSES.claim(engine)
    assert task is not None
    assert task.key == match
    ANALYSES.finish(engine, task, stored_analysis())
