"""Built-in Whisper: speech to text on this machine's own processor, without any vendor.

Light to import: faster-whisper, CTranslate2 and onnxruntime are imported when a model is loaded.
"""

from sederunt.transcription.provider import Provider
from sederunt.transcription.whisper.provider import WhisperProvider

PROVIDER: Provider = WhisperProvider()
