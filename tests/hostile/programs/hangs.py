"""Never answers."""

import time

from honest import play

play(lambda turn: time.sleep(600))
