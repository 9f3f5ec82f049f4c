"""Sederunt: self-hosted meeting bots that record and transcribe."""

import os

__version__ = "0.1.0"

# ONNX Runtime sends telemetry unless this is set when its library is loaded. Child processes inherit it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
