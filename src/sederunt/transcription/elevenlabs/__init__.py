"""ElevenLabs: Scribe, after meetings."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.elevenlabs.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
