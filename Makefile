.PHONY: bench

bench:  # How fast everything is, beside peers in the same run.
	uv run python -m bench
