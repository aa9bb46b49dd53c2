"""Execute the notebooks of docs/notebooks, each in a folder of its own below the one given, and keep them with outputs."""
import os
import pathlib
import sys

import nbclient
import nbformat

for source in sorted((pathlib.Path(os.environ["HEDDLE_HOME"]) / "docs/notebooks").glob("*.ipynb")):
    notebook = nbformat.read(source, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), f"{source.name}: kept with outputs"
    folder = pathlib.Path(sys.argv[1]) / source.stem
    folder.mkdir()
    nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    pages = sum("text/html" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ()))
    assert pages > 0, f"{source.name}: no table, report or picture is shown"
    nbformat.write(notebook, folder / source.name)
    print(f"{source.name}: {len(notebook.cells)} cells, {pages} shown as HTML")
