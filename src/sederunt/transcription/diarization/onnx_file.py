"""Writes ONNX files: the few parts of the format that our graphs need, in protobuf's wire format.

The `onnx` package would do it too, but is 30 MB large. Numbers in the code are the field numbers of onnx.proto
(IR version 8, operator set 17; ONNX Runtime's own operators are in its own domain).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

IR_VERSION, OPERATORS = 8, 17
_FLOAT, _INT8, _INT64 = 1, 3, 7  # TensorProto.DataType
_KINDS = {"f": (_FLOAT, "<f4"), "i": (_INT64, "<i8")}
_OWN_DOMAIN = "com.microsoft"
_OWN = frozenset({"DynamicQuantizeLSTM", "DynamicQuantizeMatMul"})
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_TEXT, _ATTRIBUTE_INTS = 1, 2, 3, 7

Attribute = float | int | str | Sequence[int]


class Graph:
    """A graph that grows node by node. Every method that adds a value returns its name."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def input(self, name: str, shape: Sequence[str | int], *, whole: bool = False) -> str:
        """Add an input tensor of floats or of whole numbers; a dimension without a fixed size has a name."""
        self._inputs.append(_value(name, shape, _INT64 if whole else _FLOAT))
        return name

    def output(self, name: str, value: str, shape: Sequence[str | int], *, whole: bool = False) -> None:
        """Add an output of floats or of whole numbers under a name."""
        self._nodes.append(_node("Identity", [value], [name], {}))
        self._outputs.append(_value(name, shape, _INT64 if whole else _FLOAT))

    def constant(self, array: NDArray[np.generic]) -> str:
        name = self._new("c")
        kind, data = (_INT8, "i1") if array.dtype == np.int8 else _KINDS[array.dtype.kind]
        dims = b"".join(_number(1, size) for size in array.shape)
        raw = np.ascontiguousarray(array, data).tobytes()
        self._constants.append(dims + _number(2, kind) + _text(8, name) + _bytes(9, raw))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Attribute) -> str:
        """Add a node with one output; an input "" is omitted."""
        name = self._new(operator.lower())
        self._nodes.append(_node(operator, inputs, [name], attributes))
        return name

    def file(self) -> bytes:
        """Return the serialised model."""
        graph = b"".join(
            [
                *(_bytes(1, node) for node in self._nodes),
                _text(2, self._name),
                *(_bytes(5, constant) for constant in self._constants),
                *(_bytes(11, value) for value in self._inputs),
                *(_bytes(12, value) for value in self._outputs),
            ]
        )
        domains = _bytes(8, _number(2, OPERATORS)) + _bytes(8, _text(1, _OWN_DOMAIN) + _number(2, 1))
        return _number(1, IR_VERSION) + _text(2, "sederunt") + _bytes(7, graph) + domains

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


def _node(operator: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Attribute]) -> bytes:
    names = b"".join([*(_text(1, name) for name in inputs), *(_text(2, name) for name in outputs)])
    settings = b"".join(_bytes(5, _attribute(*pair)) for pair in attributes.items())
    return names + _text(4, operator) + settings + (_text(7, _OWN_DOMAIN) if operator in _OWN else b"")


def _attribute(name: str, value: Attribute) -> bytes:
    match value:
        case float():
            return _text(1, name) + _key(2, 5) + np.float32(value).tobytes() + _number(20, _ATTRIBUTE_FLOAT)
        case int():
            return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)
        case str():
            return _text(1, name) + _text(4, value) + _number(20, _ATTRIBUTE_TEXT)
        case _:
            return _text(1, name) + b"".join(_number(8, item) for item in value) + _number(20, _ATTRIBUTE_INTS)


def _value(name: str, shape: Sequence[str | int], kind: int) -> bytes:
    dims = b"".join(_bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
