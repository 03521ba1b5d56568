"""Checks of the presentation: it shows every position, and names every action in one way."""

from collections import Counter
from collections.abc import Iterator, Sequence

from referee.game_checks.random_games import seen, walk
from referee.game_checks.rule_checks import some_steps, viewers
from referee.game_checks.tables import Table
from referee.games.contract import View
from referee.presentation.elements import PublicAction
from referee.presentation.question_text import question_text, rendered
from referee.presentation.registry import presentation_of
from referee.presentation.text import lines


def rendering(table: Table) -> Iterator[str]:
    """Every position is rendered for every viewer, and every question written as text."""
    game, options, presentation = table.game, table.options, presentation_of(table.game.id)
    names = [f"seat {seat}" for seat in range(table.seats)]
    for step in some_steps(table, 2):
        state, actors = step.state, step.state.actors
        for viewer in viewers(table):
            shown = rendered(game, options, seen(state, viewer), viewer, names, actors)
            if not any(lines(shown)):
                yield "a position has no text"
        for seat in actors:
            view, legal = state.view(seat), state.legal(seat)
            question_text(game, options, table.seats, view, seat, actors, legal)
            presentation.rules_now(view)
            presentation.task(view)
            presentation.remark(view)
        presentation.hidden(state)
        if len(presentation.scores(state.public(), table.seats)) != table.seats:
            yield "scores of the presentation are not those of all seats"


def action_texts(table: Table) -> Iterator[str]:
    """Every listed action has a text of its own, from which it is read again."""
    presentation = presentation_of(table.game.id)
    for step in some_steps(table, 3):
        for seat in step.moves:
            legal = step.state.legal(seat)
            texts = {presentation.choice(action): action for action in legal}
            if len(texts) != sum(1 for _ in legal):
                repeated = Counter(map(presentation.choice, legal)).most_common(1)[0][0]
                yield f'two legal actions have the text "{repeated}"'
            for text, action in texts.items():
                presentation.phrase(action)
                presentation.public_phrase(action)
                presentation.selection(action)
                if presentation.parse(text) != action:
                    yield f'the text "{text}" is not read as its action {action}'


def history(table: Table) -> Iterator[str]:
    """The history is the same in all views of a position, and later ones only append to it."""
    presentation = presentation_of(table.game.id)

    def of(view: View) -> Sequence[PublicAction]:
        return tuple(presentation.history(view))

    for number in range(2):
        before: Sequence[PublicAction] = ()
        for step in walk(table, number):
            now = of(step.state.public())
            if any(of(step.state.view(seat)) != now for seat in range(table.seats)):
                yield "the history of a seat differs from that of a spectator"
            if now[: len(before)] != before:
                yield "an action in the history changes or disappears"
            before = now
