"""List the starter kits by language, with the properties that tests need."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
KITS = ROOT / "sample_bots"
OUT_OF_IDEAS = "out of ideas"
"""Message of the exception that the third bot raises."""


@dataclass(frozen=True)
class Language:
    """Describe a starter kit."""

    name: str
    tools: tuple[str, ...]
    """Programs that building and running the kit requires."""
    random: str
    """The single file of the random bot."""
    greedy: str
    """The game of the kit's greedy bot."""
    third_bot: dict[str, str]
    """Files of a third bot, which are added to the kit before the build.

    The bot prints "thinking", and its function `choose` raises an exception with the message
    OUT_OF_IDEAS.
    """
    run: tuple[str, ...]
    """The command that runs the third bot in the folder."""

    @property
    def folder(self) -> Path:
        """Return the path of the kit in the repository."""
        return KITS / self.name


GO = Language(
    name="go",
    tools=("go",),
    random="random/main.go",
    greedy="poke",
    third_bot={
        "own/main.go": """
package main

import (
	"fmt"

	"mybot/kit"
)

func choose(turn *kit.Turn) (*kit.Action, string) {
	fmt.Println("thinking")
	panic("out of ideas")
}

func main() { kit.Run(choose) }
"""
    },
    run=("./target/own",),
)

RUST = Language(
    name="rust",
    tools=("cargo",),
    random="src/bin/random.rs",
    greedy="saint_poker",
    third_bot={
        "src/bin/own.rs": """
use kit::{Action, Turn};

fn choose(_turn: &Turn) -> Action {
    println!("thinking");
    panic!("out of ideas");
}

fn main() {
    kit::run(choose);
}
"""
    },
    run=("./target/release/own",),
)

TYPESCRIPT = Language(
    name="typescript",
    tools=("node", "npm"),
    random="random.ts",
    greedy="pokino",
    third_bot={
        "own.ts": """
import { type Action, run, type Turn } from "./kit.js";

function choose(turn: Turn): Action {
  console.log("thinking");
  throw new Error("out of ideas");
}

run(choose);
"""
    },
    run=("node", "--enable-source-maps", "target/own.js"),
)

JAVASCRIPT = Language(
    name="javascript",
    tools=("node", "npm"),
    random="random.js",
    greedy="pouku",
    third_bot={
        "own.js": """
import { run } from "./kit.js";

function choose(turn) {
  console.log("thinking");
  throw new Error("out of ideas");
}

run(choose);
"""
    },
    run=("node", "own.js"),
)

PYTHON = Language(
    name="python",
    tools=(),
    random="bot.py",
    greedy="poke",
    third_bot={
        "own.py": """
from pokearena_bot import run

def choose(turn):
    print("thinking")
    raise RuntimeError("out of ideas")

run(choose)
"""
    },
    run=("python", "own.py"),
)

JAVA = Language(
    name="java",
    tools=("java", "mvn"),
    random="src/main/java/MyBot.java",
    greedy="poke",
    third_bot={
        "src/main/java/Own.java": """
import java.util.Random;
import pokearena.Kit;
import pokearena.Move;
import pokearena.v1.Bot.ActRequest;

class Own {
    static Move choose(ActRequest turn, Random random) {
        System.out.println("thinking");
        throw new IllegalStateException("out of ideas");
    }

    public static void main(String[] args) throws Exception {
        Kit.run(Own::choose);
    }
}
"""
    },
    run=("java", "-XX:+UseSerialGC", "-cp", "target/bot.jar", "Own"),
)

KOTLIN = Language(
    name="kotlin",
    tools=("java", "mvn"),
    random="src/main/kotlin/MyBot.kt",
    greedy="pokex",
    third_bot={
        "src/main/kotlin/Own.kt": """
import pokearena.Move
import pokearena.Turn
import pokearena.run

private fun choose(turn: Turn): Move {
    println("thinking")
    error("out of ideas")
}

fun main() = run(::choose)
"""
    },
    run=("java", "-XX:+UseSerialGC", "-cp", "target/bot.jar", "OwnKt"),
)

CPP = Language(
    name="cpp",
    tools=("g++", "make", "pkg-config", "protoc", "grpc_cpp_plugin"),
    random="bot.cc",
    greedy="poke",
    third_bot={
        "own.cc": """
#include <iostream>
#include <stdexcept>

#include "pokearena_bot.h"

pokearena::Move choose(const pokearena::Turn&, pokearena::Random&) {
  std::cout << "thinking" << std::endl;
  throw std::runtime_error("out of ideas");
}

int main() { pokearena::run(choose); }
"""
    },
    run=("./target/own",),
)

RUBY = Language(
    name="ruby",
    tools=("ruby", "grpc_tools_ruby_protoc"),
    random="bot.rb",
    greedy="poke",
    third_bot={
        "own.rb": """
require_relative "pokearena_bot"

def choose(turn)
  puts "thinking"
  raise "out of ideas"
end

PokearenaBot.run { |turn, random| choose(turn) }
"""
    },
    run=("ruby", "own.rb"),
)

LANGUAGES = {
    language.name: language
    for language in (PYTHON, GO, RUST, JAVASCRIPT, TYPESCRIPT, JAVA, KOTLIN, CPP, RUBY)
}
