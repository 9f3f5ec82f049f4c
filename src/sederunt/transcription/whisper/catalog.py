"""The named Whisper models, their repositories on the hub, and the files with known content."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Pinned:
    """The size and digest that a model's file must have."""

    size: int
    sha256: str


# Name → repository on the hub, in the CTranslate2 format.
HUB: Mapping[str, str] = MappingProxyType(
    {
        **{
            size: f"Systran/faster-whisper-{size}"
            for size in (
                "tiny",
                "tiny.en",
                "base",
                "base.en",
                "small",
                "small.en",
                "medium",
                "medium.en",
                "large-v2",
            )
        },
        "distil-large-v3": "Systran/faster-distil-whisper-large-v3",
        **dict.fromkeys(("turbo", "large-v3-turbo"), "mobiuslabsgmbh/faster-whisper-large-v3-turbo"),
        **dict.fromkeys(("large", "large-v3"), "Systran/faster-whisper-large-v3"),
    }
)


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A model in the ONNX format: its repository on the hub, and the languages it writes."""

    repository: str
    languages: frozenset[str]


ENGLISH_ALONE = frozenset({"en"})
_EUROPE = frozenset(
    [
        "bg",
        "hr",
        "cs",
        "da",
        "nl",
        "en",
        "et",
        "fi",
        "fr",
        "de",
        "el",
        "hu",
        "it",
        "lv",
        "lt",
        "mt",
        "pl",
        "pt",
        "ro",
        "sk",
        "sl",
        "es",
        "sv",
        "ru",
        "uk",
    ]
)
# Name → transducers and CTC networks that the extra `onnx` reads. Their languages are as the authors state.
ONNX: Mapping[str, OnnxModel] = MappingProxyType(
    {
        "parakeet-ctc-0.6b": OnnxModel("istupakov/parakeet-ctc-0.6b-onnx", ENGLISH_ALONE),
        "parakeet-rnnt-0.6b": OnnxModel("istupakov/parakeet-rnnt-0.6b-onnx", ENGLISH_ALONE),
        "parakeet-tdt-0.6b-v2": OnnxModel("istupakov/parakeet-tdt-0.6b-v2-onnx", ENGLISH_ALONE),
        "parakeet-tdt-0.6b-v3": OnnxModel("istupakov/parakeet-tdt-0.6b-v3-onnx", _EUROPE),
    }
)

# The files of the two models in packages. The packages are unofficial, so the content is checked, not the name.
PINNED: Mapping[str, Mapping[str, Pinned]] = MappingProxyType(
    {
        "tiny.en": MappingProxyType(
            {
                "model.bin": Pinned(75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
                "config.json": Pinned(2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
                "tokenizer.json": Pinned(2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
                "vocabulary.txt": Pinned(422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
            }
        ),
        "base": MappingProxyType(
            {
                "model.bin": Pinned(145_217_532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"),
                "config.json": Pinned(2_309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
                "tokenizer.json": Pinned(2_203_239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
                "vocabulary.txt": Pinned(459_861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
            }
        ),
    }
)

# "auto" takes the first of these on the machine: base is multilingual and as good in English.
AUTO = ("base", "tiny.en")
AUTO_NAME = "auto"

# Reads only English; used for live English if it is installed.
SMALLEST = "tiny.en"

# The multilingual model that detects the language for an English-only one.
LANGUAGE_FINDER = "base"


def is_english_only(name: str) -> bool:
    """Return whether a model of this name writes only English."""
    network = onnx_model(name)
    return name.endswith(".en") or (network is not None and network.languages == ENGLISH_ALONE)


def onnx_model(name: str) -> OnnxModel | None:
    """Return the ONNX network with this name or hub id; None if there is none."""
    return ONNX.get(name) or next((network for network in ONNX.values() if network.repository == name), None)


def repository(name: str) -> str | None:
    """Return the hub repository of a name or hub id; None for anything else."""
    if name in ONNX:
        return ONNX[name].repository
    return name if "/" in name else HUB.get(name)


def folder(name: str) -> str:
    """Return the directory of a model within the cache."""
    return name.replace("/", "--")
