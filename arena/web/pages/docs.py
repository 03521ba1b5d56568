"""How it works, and the rules of the games."""

from __future__ import annotations

from arena import library
from arena.web.links import Links
from arena.web.page import Ask, NoSuchPage, Page
from arena.web.state import Web
from arena.web.writing import Written, written
from referee.games.registry import GAMES

_KEPT_SECONDS = 3600.0


def contents(web: Web, ask: Ask) -> Page:
    """All pages that tell how it works."""
    pages = [(name, _page(name, ask.links).title, about) for name, about in library.PAGES.items()]
    return Page(
        title="How it works",
        template="docs.html",
        model={"pages": pages},
        data={"pages": [{"page": name, "title": t, "about": about} for name, t, about in pages]},
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )


def page(web: Web, ask: Ask) -> Page:
    """One of them; raises NoSuchPage."""
    name = ask.path["page"]
    if name not in library.PAGES:
        raise NoSuchPage(f"there is no page {name}; there are {', '.join(library.PAGES)}.")
    found = _page(name, ask.links)
    return _written(found, library.page(name), {"above": ("docs", "How it works"), "game": None})


def games(web: Web, ask: Ask) -> Page:
    """All games."""
    every = list(GAMES.values())
    forms = {
        game.id: [form for form in web.sight.ladders if _is_of(form, game.id)] for game in every
    }
    return Page(
        title="Games",
        template="games.html",
        model={"games": every, "forms": forms},
        data={
            "games": [
                {
                    "game": game.id,
                    "title": game.title,
                    "seats": list(game.seats),
                    "options": {name: option.default for name, option in game.options.items()},
                }
                for game in every
            ]
        },
    )


def rules(web: Web, ask: Ask) -> Page:
    """The rules of a game; raises NoSuchPage."""
    name = ask.path["game"]
    if name not in GAMES:
        raise NoSuchPage(f"there is no game {name}; there are {', '.join(GAMES)}.")
    found = _rules(name, ask.links)
    model = {"above": ("rules", "Games"), "game": GAMES[name]}
    return _written(found, library.rules(name), model)


def _written(found: Written, markdown: str, model: dict[str, object]) -> Page:
    return Page(
        title=found.title,
        template="written.html",
        model={"found": found, **model},
        data={"title": found.title, "markdown": markdown},
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )


def _is_of(form: str, game: str) -> bool:
    return form == game or form.startswith(f"{game}-")


def _page(name: str, links: Links) -> Written:
    return written(library.page(name), links)


def _rules(game: str, links: Links) -> Written:
    return written(library.rules(game), links)
