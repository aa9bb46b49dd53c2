"""heddle in Python: networks compiled, run and compared by libheddle (include/heddle/heddle.h).

    import heddle, numpy as np

    with heddle.Network("digits", engine="func", hw="tiny") as network:
        result = network.run(np.zeros(network.inputs[0].shape, np.int8))
    print(result.verdict, result.outputs[0])

Options are those of the command line as keywords: no_search=True, target_dir=["mine"]. Errors are heddle.Error with the
text and the exit code of the command line. In a notebook a result shows its report.
"""
from __future__ import annotations

import ctypes
import html
import importlib
import json
import pathlib
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._library import CALLBACK, Code, Described, Text, library, text_of

__all__ = ["Code", "Error", "Network", "Result", "Runs", "Tensor", "Text", "command", "regress", "run", "version"]

Array = npt.NDArray[Any]
Option = Union[bool, int, float, str, "pathlib.PurePath", Sequence[Union[str, "pathlib.PurePath"]], None]
OnText = Callable[[Text, str], None]
TYPES = {"i8": "<i1", "u8": "<u1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "f32": "<f4", "bool": "|b1"}


class Error(Exception):
    """An error as heddle reports it; `code` is the exit code of the command line."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = Code(code)


@dataclass(frozen=True)
class Tensor:
    """An input or output of the model, of one inference. scale 0: it is not quantised by one scale."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    scale: float
    zero_point: int
    n_bytes: int

    @property
    def one(self) -> tuple[int, ...]:
        """The shape without a batch of 1, in whose place arrays have the inferences."""
        return self.shape[1:] if self.shape[:1] == (1,) else self.shape


@dataclass(frozen=True)
class Result:
    """A run. outputs: inferences as first dimension; report: schema heddle.stats.v2; page: report.html."""

    outputs: list[Array]
    report: dict[str, Any]
    page: str = field(repr=False, default="")

    @property
    def verdict(self) -> str:
        """match, within, mismatch or unchecked."""
        return str(self.report["verdict"])

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The layers, for pandas.DataFrame(result.layers)."""
        return list(self.report["layers"])

    def _repr_html_(self) -> str:
        if not self.page:
            return f"<pre>{html.escape(json.dumps(self.report, indent=1))}</pre>"
        return _frame(self.page)


@dataclass(frozen=True)
class Runs:
    """A session of a suite: runs and what is wrong with them. report: schema heddle.regress.v1; page: index.html."""

    report: dict[str, Any]
    page: str = field(repr=False)

    @property
    def wrong(self) -> list[str]:
        """A line for each finding: run, kind, text."""
        return [f"{run['label']}: {found['kind']}: {found['text']}" for run in self.report["runs"] for found in run["findings"]]

    def frame(self) -> Any:
        """The runs as pandas.DataFrame, a row each, by label. Needs pandas."""
        return importlib.import_module("pandas").DataFrame(self.report["runs"]).set_index("label")

    def _repr_html_(self) -> str:
        return _frame(self.page)


def _frame(page: str) -> str:
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:720px;border:0"></iframe>'


class _Context:
    """A struct heddle with its options."""

    def __init__(self, on_text: OnText | None, options: dict[str, Option]) -> None:
        self.handle = library.heddle_new()
        if not self.handle:
            raise MemoryError("heddle: out of memory")
        self.free = weakref.finalize(self, library.heddle_free, self.handle)
        self.callback = CALLBACK(lambda _, kind, text: on_text(Text(kind), text_of(text)) if on_text else None)
        if on_text:
            library.heddle_on_text(self.handle, sum(Text), self.callback, None)
        # options of targets exist once their target is known
        for name in sorted(options, key=lambda name: (name != "target_dir", name != "target")):
            self.set(name.replace("_", "-"), options[name])

    def check(self, code: int) -> None:
        if code:
            raise Error(code, text_of(library.heddle_error(self.handle)))

    def set(self, name: str, value: Option) -> None:
        if isinstance(value, (list, tuple)):
            for one in value:
                self.set(name, one)
        elif isinstance(value, bool):
            self.check(library.heddle_set(self.handle, name.encode(), b"true" if value else b"false"))
        elif value is not None:
            self.check(library.heddle_set(self.handle, name.encode(), str(value).encode()))

    def tensors(self, side: int) -> list[Tensor]:
        found, all_tensors = Described(), []
        for i in range(library.heddle_count(self.handle, side)):
            self.check(library.heddle_tensor(self.handle, side, i, ctypes.byref(found)))
            all_tensors.append(Tensor(text_of(found.name), tuple(found.dim[: found.rank]),
                                      np.dtype(TYPES[text_of(found.type)]), found.scale if found.n_scale == 1 else 0.0,
                                      found.zero_point, found.n_bytes))
        return all_tensors


class Network:
    """A loaded model: a file, or the name of a network that comes with heddle. A context manager; close() frees it."""

    def __init__(self, model: str | pathlib.PurePath, *, on_text: OnText | None = None, **options: Option) -> None:
        self._lent: list[weakref.ref[Any]] = []
        self._context = _Context(on_text, options)
        self._context.check(library.heddle_load(self._context.handle, str(model).encode()))
        self.inputs = self._context.tensors(0)
        self.outputs = self._context.tensors(1)

    def __enter__(self) -> Network:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the network. Arrays of run(copy=False) must be gone."""
        self._check_lent()
        self._context.free()

    def _check_lent(self) -> None:
        if not self._context.free.alive:
            raise ValueError("the network is closed")
        if any(owner() is not None for owner in self._lent):
            raise BufferError("outputs of run(copy=False) are in use: copy or delete them before the next call")

    def _give(self, arrays: Sequence[Array], tensors: list[Tensor], function: Any, what: str) -> None:
        if len(arrays) not in (0, len(tensors)):
            raise Error(Code.USAGE, f"{what}: found {len(arrays)} arrays, expected none or {len(tensors)}")
        for i, tensor in enumerate(tensors):
            if not arrays:
                self._context.check(function(self._context.handle, i, None, 0))
                continue
            array = np.asarray(arrays[i])
            shape = array.shape[max(0, array.ndim - len(tensor.one)):]
            if array.dtype.newbyteorder("<") != tensor.dtype or shape != tensor.one:
                raise Error(Code.USAGE, f"{what} {i} ({tensor.name}): found {array.dtype} {array.shape}, expected "
                            f"{tensor.dtype} {('inferences', *tensor.one)}")
            array = np.ascontiguousarray(array, tensor.dtype)  # no copy if it is so already
            self._context.check(function(self._context.handle, i, array.ctypes.data, array.nbytes))

    def _output(self, i: int, copy: bool) -> Array:
        data, n = ctypes.c_void_p(), ctypes.c_size_t()
        self._context.check(library.heddle_output(self._context.handle, i, ctypes.byref(data), ctypes.byref(n)))
        memory = (ctypes.c_char * n.value).from_address(data.value or 0)
        array: Array = np.frombuffer(memoryview(memory), self.outputs[i].dtype).reshape(-1, *self.outputs[i].one)
        if copy:
            return array.copy()
        array.flags.writeable = False
        self._lent.append(weakref.ref(memory))
        return array

    def run(self, *inputs: Array, expect: Sequence[Array] = (), copy: bool = True) -> Result:
        """Run on arrays of the model's types, or on what the options say. A mismatch is a verdict, not an exception.

        copy=False: outputs are the library's memory, read-only; the next call is refused while they are in use.
        """
        self._check_lent()
        self._give(inputs, self.inputs, library.heddle_input, "input")
        self._give(expect, self.outputs, library.heddle_expect, "expect")
        code = library.heddle_run(self._context.handle)
        if code != Code.DIFFERS:
            self._context.check(code)
        outputs = [self._output(i, copy) for i in range(len(self.outputs))]
        report = json.loads(text_of(library.heddle_report(self._context.handle)))
        return Result(outputs, report, text_of(library.heddle_page(self._context.handle)))

    def _text(self, function: Any) -> str:
        self._check_lent()
        text = ctypes.c_char_p()
        self._context.check(function(self._context.handle, ctypes.byref(text)))
        return text_of(text.value)

    def inspect(self) -> str:
        """The target of each operator, with reasons."""
        return self._text(library.heddle_inspect)

    def disasm(self) -> str:
        """The command stream as text."""
        return self._text(library.heddle_disasm)

    def compile(self, out: str | pathlib.PurePath) -> None:
        """Write a self-contained package into a folder or NAME.tar."""
        self._check_lent()
        self._context.check(library.heddle_compile(self._context.handle, str(out).encode()))


def run(model: str | pathlib.PurePath, *inputs: Array, on_text: OnText | None = None, **options: Option) -> Result:
    """Load a model, run it once and free it."""
    with Network(model, on_text=on_text, **options) as network:
        return network.run(*inputs)


def command(name: str, *arguments: str | pathlib.PurePath, on_text: OnText | None = None, **options: Option) -> str:
    """Run a command of the command line and return what it prints.

    command("quantise", "net.onnx", input="x.npy", output="q.onnx")
    """
    printed: list[str] = []

    def take(kind: Text, text: str) -> None:
        if kind == Text.RESULT:
            printed.append(text)
        if on_text:
            on_text(kind, text)

    context = _Context(take, options)
    array = (ctypes.c_char_p * len(arguments))(*(str(argument).encode() for argument in arguments))
    context.check(library.heddle_command(context.handle, name.encode(), array, len(arguments)))
    return "".join(printed)


def regress(suite: str | pathlib.PurePath, *, output: str | pathlib.PurePath = "regress", on_text: OnText | None = None,
            **options: Option) -> Runs:
    """Run a suite (docs/REGRESS.md) in the folder `output` and return its session. Findings are no exception."""
    try:
        command("regress", suite, output=output, on_text=on_text, **options)
    except Error as error:
        if error.code != Code.DIFFERS:
            raise
    folder = pathlib.Path(output)
    return Runs(json.loads((folder / "results.json").read_text("utf-8")), (folder / "index.html").read_text("utf-8"))


def version() -> str:
    """The version of libheddle."""
    return text_of(library.heddle_version())
