"""tfl_labels.py FOLDER - TFLite files (NEG of three values) with metadata and an archive of labels, whole and damaged."""

import io
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "oracle" / "tosa"))
from tosa_writer import Table, flatbuffer  # noqa: E402

NEG, DESCRIPTIONS, AXIS_LABELS = 59, 1, 2
files = [Table({0: "about.txt", 2: ("u8", DESCRIPTIONS)}), Table({0: "classes.txt", 2: ("u8", AXIS_LABELS)})]


def metadata(files):
    return flatbuffer(Table({3: [Table({3: [Table({6: files})]})]}), b"M001")


def model(buffer, **members):
    tensors = [Table({0: [1, 3], 1: ("u8", 0), 2: 0, 3: name}) for name in ("x", "y")]
    graph = Table({0: tensors, 1: [0], 2: [1], 3: [Table({0: 0, 1: [0], 2: [1]})]})
    content = io.BytesIO(flatbuffer(Table({0: 3, 1: [Table({0: ("u8", NEG), 3: NEG})], 2: [graph],
                                           4: [Table({0: b""}), Table({0: buffer})],
                                           6: [Table({0: "min_runtime_version", 1: 0}),
                                               Table({0: "TFLITE_METADATA", 1: 1})]}), b"TFL3"))
    if members:
        with zipfile.ZipFile(content, "a") as archive:
            for i, (name, text) in enumerate(members.items()):
                archive.writestr(name.replace("_", "."), text,
                                 zipfile.ZIP_DEFLATED if i else zipfile.ZIP_STORED)
    return content.getvalue()


right = metadata(files)
for name, content in {
        "right": model(right, about_txt="none", classes_txt="cat\r\ndog\nwell, a bird"),
        "few": model(right, classes_txt="cat\ndog\n"),
        "lost": model(right, other_txt="cat\ndog\n"),
        "bare": model(right),
        "none": model(metadata(files[:1])),
        "damaged": model(right[:40])}.items():
    (pathlib.Path(sys.argv[1]) / f"{name}.tflite").write_bytes(content)
