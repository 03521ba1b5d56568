package pokearena;

import pokearena.v1.Bot.Action;

/** An answer, and a few words why: the replay shows them beside the move. */
public record Move(Action action, String note) {
    public Move(Action action) {
        this(action, "");
    }
}
