"""AssemblyAI: transcription after and during meetings."""

from sederunt.transcription.assemblyai.vendor import VENDOR
from sederunt.transcription.cloud.provider import CloudProvider

PROVIDER = CloudProvider(VENDOR)
