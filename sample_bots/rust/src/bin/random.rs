//! A bot that plays all five games at random.

use kit::{Action, Turn};

fn choose(turn: &Turn) -> Action {
    turn.legal[fastrand::usize(..turn.legal.len())].clone()
}

fn main() {
    kit::run(choose);
}
