"""Sederunt: self-hosted meeting bots that record and transcribe."""

import os

__version__ = "0.1.0"

# ONNX Runtime tells its maker of every use, unless its library finds this when it is loaded. Children inherit it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
