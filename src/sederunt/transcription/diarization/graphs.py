"""The two networks as ONNX graphs, built from the tensors of their checkpoints.

Batch normalisations that directly follow a convolution are folded into it. docs/transcription.md compares the results
on speech with PyTorch's own.
"""

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.checkpoint import Tensors
from sederunt.transcription.diarization.onnx_file import Graph

Array = NDArray[np.float32]

RATE = 16_000
# The segmentation network: filters over the waveform, a bidirectional LSTM, a class per set of speakers.
_FILTER, _STRIDE, _LOWEST_HZ, _NARROWEST_HZ = 251, 10, 50.0, 50.0
_LSTM_LAYERS, _LSTM_CELLS = 4, 128
# The voice network (CAM++): (layers, dilation) of its three blocks.
_BLOCKS = ((12, 1), (24, 2), (16, 2))
_SEVEN_BITS = 63  # the largest weight of a product
_EPSILON = 1e-5  # PyTorch's, in every normalisation


def segmentation_graph(tensors: Tensors) -> bytes:
    """Build (batch, samples) at 16 kHz → "classes" (batch, frames, 7): log-probabilities of sets of at most two of
    three voices."""
    graph = Graph("segmentation")
    x = graph.input("samples", ("batch", "samples"))
    x = graph.add("Unsqueeze", x, graph.constant(np.array([1])))
    x = _instance_norm(graph, x, tensors, "sincnet.wav_norm1d")
    for layer in range(3):
        if layer == 0:
            x = graph.add("Abs", graph.add("Conv", x, graph.constant(sinc_filters(tensors)), strides=(_STRIDE,)))
        else:
            name = f"sincnet.conv1d.{layer}"
            x = graph.add("Conv", x, graph.constant(tensors[f"{name}.weight"]), graph.constant(tensors[f"{name}.bias"]))
        x = graph.add("MaxPool", x, kernel_shape=(3,), strides=(3,))
        x = graph.add("LeakyRelu", _instance_norm(graph, x, tensors, f"sincnet.norm1d.{layer}"), alpha=0.01)
    x = graph.add("Transpose", x, perm=(2, 0, 1))  # frames first, as ONNX requires
    for layer in range(_LSTM_LAYERS):
        x = _lstm(graph, x, tensors, layer)
    x = graph.add("Transpose", x, perm=(1, 0, 2))
    for name in ("linear.0", "linear.1"):
        x = graph.add("LeakyRelu", _linear(graph, x, tensors, name), alpha=0.01)
    x = graph.add("LogSoftmax", _linear(graph, x, tensors, "classifier"), axis=-1)
    graph.output("classes", x, ("batch", "frames", 7))
    return graph.file()


def sinc_filters(tensors: Tensors) -> Array:
    """Return the first layer's filters (80, 1, 251): a windowed band pass per band, and its odd counterpart."""
    half = _FILTER // 2
    name = "sincnet.conv1d.0.filterbank"
    low = _LOWEST_HZ + np.abs(tensors[f"{name}.low_hz_"].astype(np.float64))
    high = np.clip(low + _NARROWEST_HZ + np.abs(tensors[f"{name}.band_hz_"]), _LOWEST_HZ, RATE / 2)
    time = 2 * np.pi * np.arange(-half, 0.0)[None, :] / RATE
    window = np.hamming(_FILTER)[:half]
    band = 2 * (high - low)
    even = (np.sin(high @ time) - np.sin(low @ time)) / (time / 2) * window
    odd = (np.cos(low @ time) - np.cos(high @ time)) / (time / 2) * window
    evens = np.concatenate([even, band, even[:, ::-1]], axis=1) / band
    odds = np.concatenate([odd, np.zeros_like(band), -odd[:, ::-1]], axis=1) / band
    return np.concatenate([evens, odds]).astype(np.float32)[:, None, :]


def _instance_norm(graph: Graph, x: str, tensors: Tensors, name: str) -> str:
    scale, bias = (graph.constant(tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
    return graph.add("InstanceNormalization", x, scale, bias, epsilon=_EPSILON)


def _lstm(graph: Graph, x: str, tensors: Tensors, layer: int) -> str:
    """Add a bidirectional layer over (frames, batch, features), with 8-bit weights: two thirds of the time."""

    def gates(part: str, suffix: str) -> Array:
        """Reorder PyTorch's gates (input, forget, cell, output) for ONNX (input, output, forget, cell)."""
        i, f, c, o = np.split(tensors[f"lstm.{part}_l{layer}{suffix}"], 4)
        return np.concatenate([i, o, f, c])

    ways = ("", "_reverse")
    weights, weight_scales = _in_8_bits(np.stack([gates("weight_ih", way).T for way in ways]))
    states, state_scales = _in_8_bits(np.stack([gates("weight_hh", way).T for way in ways]))
    biases = np.stack([np.concatenate([gates("bias_ih", way), gates("bias_hh", way)]) for way in ways])
    zeros = graph.constant(np.zeros(2, np.int8))
    y = graph.add(
        "DynamicQuantizeLSTM",
        x,
        graph.constant(weights),
        graph.constant(states),
        graph.constant(biases),
        *("", "", "", ""),  # lengths, first states, peepholes
        graph.constant(weight_scales),
        zeros,
        graph.constant(state_scales),
        zeros,
        hidden_size=_LSTM_CELLS,
        direction="bidirectional",
    )
    y = graph.add("Transpose", y, perm=(0, 2, 1, 3))  # (frames, ways, batch, cells) → (frames, batch, ways, cells)
    return graph.add("Reshape", y, graph.constant(np.array([0, 0, 2 * _LSTM_CELLS])))


def _in_8_bits(weights: Array) -> tuple[NDArray[np.int8], Array]:
    """Return (rounded weights, scale) per row of the first dimension."""
    scales = np.abs(weights).max(axis=(1, 2)) / np.float32(127)
    return np.rint(weights / scales[:, None, None]).astype(np.int8), scales


def _linear(graph: Graph, x: str, tensors: Tensors, name: str) -> str:
    y = graph.add("MatMul", x, graph.constant(tensors[f"{name}.weight"].T))
    return graph.add("Add", y, graph.constant(tensors[f"{name}.bias"]))


def voice_graph(tensors: Tensors) -> bytes:
    """Build "features" (batch, frames, 80) → "voices" (batch, 192).

    Two more inputs tell how the context of a frame is pooled, since that depends on the number of frames: "pool"
    (half the frames, stretches) and "spread" (stretches, half the frames); see `networks.context`.
    """
    graph = Graph("voice")
    x = graph.input("features", ("batch", "frames", 80))
    pool = graph.input("pool", ("half", "stretches"))
    spread = graph.input("spread", ("stretches", "half"))
    x = _head(graph, graph.add("Transpose", x, perm=(0, 2, 1)), tensors)
    x = _folded(graph, x, tensors, "xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm", stride=2, pads=2)
    x = graph.add("Transpose", graph.add("Relu", x), perm=(0, 2, 1))  # frames first, as products require
    for number, (layers, dilation) in enumerate(_BLOCKS, start=1):
        for layer in range(1, layers + 1):
            new_channels = _dense_layer(
                graph, x, tensors, f"xvector.block{number}.tdnnd{layer}", dilation, pool, spread
            )
            x = graph.add("Concat", x, new_channels, axis=2)
        name = f"xvector.transit{number}"
        x = graph.add("Relu", _scaled(graph, x, tensors, f"{name}.nonlinear.batchnorm"))
        x = _product(graph, x, tensors[f"{name}.linear.weight"][:, :, 0])
    x = graph.add("Relu", _scaled(graph, x, tensors, "xvector.out_nonlinear.batchnorm"))
    x = graph.add("Transpose", x, perm=(0, 2, 1))
    x = _folded(graph, _statistics(graph, x), tensors, "xvector.dense.linear", "xvector.dense.nonlinear.batchnorm")
    graph.output("voices", graph.add("Squeeze", x, graph.constant(np.array([2]))), ("batch", 192))
    return graph.file()


def _head(graph: Graph, x: str, tensors: Tensors) -> str:
    """Add two-dimensional convolutions over features and time; four reductions by two in frequency."""
    x = graph.add("Unsqueeze", x, graph.constant(np.array([1])))
    x = graph.add("Relu", _folded(graph, x, tensors, "head.conv1", "head.bn1", pads=1))
    for layer, stride in (("layer1.0", 2), ("layer1.1", 1), ("layer2.0", 2), ("layer2.1", 1)):
        name = f"head.{layer}"
        y = graph.add("Relu", _folded(graph, x, tensors, f"{name}.conv1", f"{name}.bn1", stride=stride, pads=1))
        y = _folded(graph, y, tensors, f"{name}.conv2", f"{name}.bn2", pads=1)
        if stride > 1:
            x = _folded(graph, x, tensors, f"{name}.shortcut.0", f"{name}.shortcut.1", stride=stride)
        x = graph.add("Relu", graph.add("Add", y, x))
    x = graph.add("Relu", _folded(graph, x, tensors, "head.conv2", "head.bn2", stride=2, pads=1))
    return graph.add("Reshape", x, graph.constant(np.array([0, 320, -1])))


def _dense_layer(graph: Graph, x: str, tensors: Tensors, name: str, dilation: int, pool: str, spread: str) -> str:
    """Add a context-aware masking layer over (batch, frames, channels): 32 new channels, weighted by a frame's
    surroundings.
    """
    y = graph.add("Relu", _scaled(graph, x, tensors, f"{name}.nonlinear1.batchnorm"))
    factor, addend = _scaling(tensors, f"{name}.nonlinear2.batchnorm")
    narrower = tensors[f"{name}.linear1.weight"][:, :, 0] * factor[:, None]
    y = graph.add("Relu", _product(graph, y, narrower, addend))
    y = graph.add("Transpose", y, perm=(0, 2, 1))
    cam = f"{name}.cam_layer"
    kernel = graph.constant(tensors[f"{cam}.linear_local.weight"])
    local = graph.add("Conv", y, kernel, dilations=(dilation,), pads=(dilation, dilation))
    context = graph.add("MatMul", y, pool)
    for part, activation in (("linear1", "Relu"), ("linear2", "Sigmoid")):
        weight, bias = (graph.constant(tensors[f"{cam}.{part}.{kind}"]) for kind in ("weight", "bias"))
        context = graph.add(activation, graph.add("Conv", context, weight, bias))
    return graph.add("Transpose", graph.add("Mul", local, graph.add("MatMul", context, spread)), perm=(0, 2, 1))


def _product(graph: Graph, x: str, weight: Array, addend: Array | None = None) -> str:
    """Add (batch, frames, channels) times a weight (new channels, channels), in 8 bits: half the time.

    Weights use seven bits: processors without an instruction for such products add pairs in 16 bits, where
    2 × 255 × 127 does not fit.
    """
    scales = np.abs(weight).max(axis=1) / np.float32(_SEVEN_BITS)
    rounded = np.rint(weight / scales[:, None]).astype(np.int8)
    factors = graph.constant(np.ascontiguousarray(rounded.T)), graph.constant(scales)
    bias = () if addend is None else ("", graph.constant(addend))  # "": their zeros are zero
    return graph.add("DynamicQuantizeMatMul", x, *factors, *bias)


def _statistics(graph: Graph, x: str) -> str:
    """Add mean and unbiased deviation over time, concatenated."""
    mean = graph.add("ReduceMean", x, axes=(2,))
    differences = graph.add("Sub", x, mean)
    squares = graph.add("ReduceMean", graph.add("Mul", differences, differences), axes=(2,))
    count = graph.add("Cast", graph.add("Shape", x, start=2), to=1)
    count_minus_one = graph.add("Sub", count, graph.constant(np.array([1.0], np.float32)))
    deviation = graph.add("Sqrt", graph.add("Mul", squares, graph.add("Div", count, count_minus_one)))
    return graph.add("Concat", mean, deviation, axis=1)


def _scaling(tensors: Tensors, name: str) -> tuple[Array, Array]:
    """Return a batch normalisation as (factor, addend) per channel."""
    mean, variance = tensors[f"{name}.running_mean"], tensors[f"{name}.running_var"]
    factor = tensors.get(f"{name}.weight", np.ones_like(mean)) / np.sqrt(variance + np.float32(_EPSILON))
    return factor, tensors.get(f"{name}.bias", np.zeros_like(mean)) - mean * factor


def _scaled(graph: Graph, x: str, tensors: Tensors, name: str) -> str:
    """Add a batch normalisation over (batch, frames, channels)."""
    factor, addend = _scaling(tensors, name)
    return graph.add("Add", graph.add("Mul", x, graph.constant(factor)), graph.constant(addend))


def _folded(graph: Graph, x: str, tensors: Tensors, conv: str, norm: str, *, stride: int = 1, pads: int = 0) -> str:
    """Add a convolution with its batch normalisation. In two dimensions `stride` applies to frequency."""
    weight = tensors[f"{conv}.weight"]
    factor, addend = _scaling(tensors, norm)
    kernel = weight * factor.reshape(-1, *(1,) * (weight.ndim - 1))
    axes = weight.ndim - 2
    strides = (stride,) if axes == 1 else (stride, 1)
    return graph.add(
        "Conv", x, graph.constant(kernel), graph.constant(addend), strides=strides, pads=(pads,) * (2 * axes)
    )
