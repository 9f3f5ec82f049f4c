"""The device that networks compute on, and what prevents it."""

from sederunt.settings import WhisperSettings

_ANY = frozenset({"default", "auto"})  # CTranslate2 chooses


def chosen(settings: WhisperSettings) -> str:
    """Return the device that the settings select on this machine: cpu or cuda."""
    import ctranslate2

    if settings.device != "auto":
        return settings.device
    return "cuda" if ctranslate2.get_cuda_device_count() else "cpu"


def obstacle(settings: WhisperSettings) -> str | None:
    """Return why Whisper cannot compute as the settings say, with the remedy; None if it can."""
    import ctranslate2

    device = chosen(settings)
    if device == "cuda" and not ctranslate2.get_cuda_device_count():
        return (
            "No CUDA device is to be had here: install NVIDIA's driver, cuBLAS and cuDNN, "
            "or set SEDERUNT_WHISPER__DEVICE=cpu."
        )
    supported = ctranslate2.get_supported_compute_types(device)
    if settings.compute_type not in supported | _ANY:
        return (
            f"The {device} of this machine computes with {', '.join(sorted(supported))}, not with "
            f"'{settings.compute_type}': set SEDERUNT_WHISPER__COMPUTE_TYPE to one of them."
        )
    return None
