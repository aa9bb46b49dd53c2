"""libheddle by ctypes: its functions, found in the package, at HEDDLE_LIBRARY, or where the loader looks."""
from __future__ import annotations

import ctypes
import enum
import os
import pathlib

API_VERSION = 1  # HEDDLE_API_VERSION of include/heddle/heddle.h
MAX_RANK = 8


class Code(enum.IntEnum):
    """The exit code of the command line (enum heddle_code)."""

    OK = 0
    DIFFERS = 1
    USAGE = 2
    MODEL = 3
    DEVICE = 4
    INTERNAL = 5
    INTERRUPTED = 130


class Text(enum.IntFlag):
    """Kinds of texts (enum heddle_text)."""

    RESULT = 1
    NOTE = 2
    PROGRESS = 4


class Described(ctypes.Structure):
    """struct heddle_tensor"""

    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p),
                ("rank", ctypes.c_uint32), ("n_scale", ctypes.c_uint32),
                ("dim", ctypes.c_int32 * MAX_RANK), ("scale", ctypes.c_double), ("zero_point", ctypes.c_int32),
                ("n_bytes", ctypes.c_size_t)]


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_handle, _text, _size, _pointer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
_FUNCTIONS = {
    "api_version": (ctypes.c_uint32, []),
    "version": (_text, []),
    "new": (_handle, []),
    "free": (None, [_handle]),
    "error": (_text, [_handle]),
    "on_text": (None, [_handle, ctypes.c_uint, CALLBACK, _pointer]),
    "set": (ctypes.c_int, [_handle, _text, _text]),
    "command": (ctypes.c_int, [_handle, _text, _pointer, _size]),
    "load": (ctypes.c_int, [_handle, _text]),
    "count": (_size, [_handle, ctypes.c_int]),
    "tensor": (ctypes.c_int, [_handle, ctypes.c_int, _size, _pointer]),
    "inspect": (ctypes.c_int, [_handle, _pointer]),
    "disasm": (ctypes.c_int, [_handle, _pointer]),
    "compile": (ctypes.c_int, [_handle, _text]),
    "input": (ctypes.c_int, [_handle, _size, _pointer, _size]),
    "expect": (ctypes.c_int, [_handle, _size, _pointer, _size]),
    "run": (ctypes.c_int, [_handle]),
    "output": (ctypes.c_int, [_handle, _size, _pointer, _pointer]),
    "report": (_text, [_handle]),
    "page": (_text, [_handle]),
}


def text_of(text: bytes | None) -> str:
    return (text or b"").decode("utf-8", "replace")


def _load() -> ctypes.CDLL:
    inside = pathlib.Path(__file__).parent / "lib" / "libheddle.so.0"
    path = os.environ.get("HEDDLE_LIBRARY") or (str(inside) if inside.exists() else "libheddle.so.0")
    found = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(found, "heddle_" + name)
        function.restype, function.argtypes = result, arguments
    if found.heddle_api_version() != API_VERSION:
        raise ImportError(f"{path}: found interface {found.heddle_api_version()}, expected {API_VERSION}")
    return found


library = _load()
