"""Storage keys that more than one process needs."""


def peaks_object(resource: str, resource_id: object) -> str:
    """Return the key of a resource's waveform peaks; they are deleted with the other media."""
    return f"{resource}s/{resource_id}/peaks.json"
