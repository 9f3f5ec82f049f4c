"""AssemblyAI: after the meeting and while it goes on."""

from sederunt.transcription.assemblyai.vendor import VENDOR
from sederunt.transcription.cloud.provider import CloudProvider

PROVIDER = CloudProvider(VENDOR)
