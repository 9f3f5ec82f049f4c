"""Where in storage things lie that more than one process has to find."""


def peaks_object(resource: str, resource_id: object) -> str:
    """Return where the shape of a resource's sound lies; it goes with the other media."""
    return f"{resource}s/{resource_id}/peaks.json"
