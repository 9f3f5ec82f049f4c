"""SaladCloud: transcription after meetings."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.salad.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
