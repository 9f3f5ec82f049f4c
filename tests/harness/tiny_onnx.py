"""Networks in the ONNX format with random weights: the shapes of NeMo's exports, and no sense in what they write."""

import json
from pathlib import Path

import numpy as np

from sederunt.transcription.diarization.onnx_file import Graph

VOCABULARY = ("▁so", "▁be", "▁it", "er", ".", "▁yes", "ly", "<blk>")
FEATURES, WIDTH, STATE, STEP, DURATIONS = 80, 16, 4, 8, 3


def write_onnx(folder: Path, kind: str, **config: object) -> Path:
    """A directory with a network: `nemo-conformer-ctc`, `-rnnt` or `-tdt`."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"model_type": kind, "features_size": FEATURES, "subsampling_factor": STEP, **config}
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    lines = (f"{token} {number}\n" for number, token in enumerate(VOCABULARY))
    (folder / "vocab.txt").write_text("".join(lines), encoding="utf-8")
    random = np.random.default_rng(7)
    if kind == "nemo-conformer-ctc":
        (folder / "model.onnx").write_bytes(_ctc(random))
    else:
        (folder / "encoder-model.onnx").write_bytes(_encoder(random))
        outputs = len(VOCABULARY) + (DURATIONS if kind.endswith("tdt") else 0)
        (folder / "decoder_joint-model.onnx").write_bytes(_joint(random, outputs))
    return folder


def _weights(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.normal(0, 1, shape).astype(np.float32)


def _frames(graph: Graph, random: np.random.Generator, width: int) -> tuple[str, str]:
    """Frames of eight features each, batch x width x time, and their number."""
    sound = graph.input("audio_signal", ("batch", FEATURES, "time"))
    length = graph.input("length", ("batch",), whole=True)
    kernel = graph.constant(_weights(random, width, FEATURES, STEP))
    found = graph.add("Conv", sound, kernel, kernel_shape=(STEP,), strides=(STEP,), pads=(0, STEP - 1))
    one, step = (graph.constant(np.array([number], np.int64)) for number in (1, STEP))
    count = graph.add("Add", graph.add("Div", graph.add("Sub", length, one), step), one)
    return found, count


def _encoder(random: np.random.Generator) -> bytes:
    graph = Graph("encoder")
    found, count = _frames(graph, random, WIDTH)
    graph.output("outputs", graph.add("Tanh", found), ("batch", WIDTH, "frames"))
    graph.output("encoded_lengths", count, ("batch",), whole=True)
    return graph.file()


def _ctc(random: np.random.Generator) -> bytes:
    graph = Graph("ctc")
    found, _ = _frames(graph, random, len(VOCABULARY))
    turned = graph.add("Transpose", found, perm=(0, 2, 1))
    graph.output("logprobs", graph.add("LogSoftmax", turned, axis=-1), ("batch", "frames", len(VOCABULARY)))
    return graph.file()


def _joint(random: np.random.Generator, outputs: int) -> bytes:
    """What comes next depends on the frame, the last token and what the state remembers of those before."""
    graph = Graph("joint")
    frame = graph.input("encoder_outputs", ("batch", WIDTH, 1))
    token = graph.input("targets", ("batch", 1), whole=True)
    graph.input("target_length", ("batch",), whole=True)
    states = [graph.input(f"input_states_{number}", (1, "batch", STATE)) for number in (1, 2)]
    told = graph.add("Gather", graph.constant(_weights(random, len(VOCABULARY), STATE)), token)
    remembered = [graph.add("Tanh", graph.add("Add", state, told)) for state in states]
    heard = graph.add(
        "MatMul", graph.add("Transpose", frame, perm=(0, 2, 1)), graph.constant(_weights(random, WIDTH, outputs))
    )
    known = graph.add("MatMul", remembered[0], graph.constant(_weights(random, STATE, outputs)))
    axes = graph.constant(np.array([1], np.int64))
    graph.output("outputs", graph.add("Unsqueeze", graph.add("Add", heard, known), axes), ("batch", 1, 1, outputs))
    for number, state in enumerate(remembered, 1):
        graph.output(f"output_states_{number}", state, (1, "batch", STATE))
    return graph.file()
