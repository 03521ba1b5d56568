package pokearena;

import pokearena.v1.Bot.Action;

/** An action with an optional note, which the replay shows beside the action. */
public record Move(Action action, String note) {
    public Move(Action action) {
        this(action, "");
    }
}
