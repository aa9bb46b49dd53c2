"""plant_text.py - change(NAME, pairs): in the file NAME of the folder planted, replace the first text of each pair, which
is there once, by the second one."""
import pathlib


def change(name, pairs, folder="planted"):
    path = pathlib.Path(folder) / name
    text = path.read_text()
    for was, now in pairs:
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    path.write_text(text)
