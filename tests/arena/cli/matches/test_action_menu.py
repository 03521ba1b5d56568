"""The menu of a person's legal actions: filter, number, cursor, pages."""

from arena.cli.matches.action_menu import ActionMenu

SHOWS = ("show 2C 3D", "show 2C TH", "show 3D TH", "stand")
MANY = tuple(f"run {n}C {n},0" for n in range(100))


def after(keys: list[str], menu: ActionMenu) -> ActionMenu:
    for key in keys:
        menu = menu.pressed(key)
    return menu


def typed(text: str, menu: ActionMenu) -> ActionMenu:
    return after(list(text), menu)


def test_typed_words_filter_and_enter_selects_the_only_match() -> None:
    menu = ActionMenu(SHOWS)
    assert typed("th", menu).matches == (1, 2)
    assert typed("th 3d", menu).chosen == 2
    assert typed("10h 2c", menu).chosen == 1
    assert typed("sh", menu).chosen is None
    assert typed("3d 3d", menu).matches == ()


def test_a_number_selects_a_hidden_action() -> None:
    menu = ActionMenu(MANY, width=40, rows=3)
    assert typed("77", menu).chosen == 76
    assert any(selected for line in typed("77", menu).lines for _, selected in line)
    assert typed("0", menu).chosen is None
    assert typed("101", menu).chosen is None


def test_enter_without_input_selects_only_a_single_action() -> None:
    assert ActionMenu(SHOWS).chosen is None
    assert ActionMenu(("stand",)).chosen == 0


def test_arrows_select_and_typing_ends_the_selection() -> None:
    menu = ActionMenu(SHOWS, width=12)  # One column.
    assert after(["down"], menu).chosen == 0
    assert after(["down", "down"], menu).chosen == 1
    assert after(["down"] * 9, menu).chosen == 3
    assert after(["down", "up", "up"], menu).chosen == 0
    assert after([*"th", "down", "down"], menu).chosen == 2
    assert after(["down", "s"], menu).cursor is None
    assert after(["9", "down"], menu).chosen == 0


def test_paging_wraps_around_and_keeps_the_selection_visible() -> None:
    menu = ActionMenu(MANY, width=30, rows=4)
    shown = sum(map(len, menu.lines))
    assert menu.hidden == 100 - shown
    assert after(["\t"], menu).first == shown
    assert after(["\t", "page up"], menu).first == 0
    pages = -(-100 // shown)
    assert after(["\t"] * pages, menu).first == 0
    below = after(["down"] * 6, menu)
    assert any(selected for line in below.lines for _, selected in line)


def test_backspace_and_escape_undo_typing() -> None:
    menu = typed("sta", ActionMenu(SHOWS))
    assert after(["\x7f"], menu).typed == "st"
    assert after(["escape"], menu).matches == (0, 1, 2, 3)


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in (20, 40, 80, 200):
        for line in ActionMenu(MANY, width=width).lines:
            assert len("  ".join(cell for cell, _ in line)) <= width
