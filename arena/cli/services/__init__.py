"""Commands for operators: `serve`, `web`, `worker`, `referee`, `metrics`, `db`, `webhook`."""
