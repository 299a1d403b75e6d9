"""Prints what a plain installation needs, a requirement a line, for `make lock`."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    print(*sorted(tomllib.loads(PROJECT.read_text())["project"]["dependencies"]), sep="\n")


if __name__ == "__main__":
    main()
