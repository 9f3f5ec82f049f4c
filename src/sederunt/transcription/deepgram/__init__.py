"""Deepgram: nova-2 and nova-3, after and during meetings."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.deepgram.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
