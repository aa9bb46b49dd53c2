"""The command line: `heddle` of the wheel, and `python -m heddle`."""
import os
import pathlib
import sys


def main() -> None:
    inside = pathlib.Path(__file__).parent / "bin" / "heddle"
    program = str(inside) if inside.exists() else "heddle"
    os.execvp(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
