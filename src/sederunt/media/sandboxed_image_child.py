"""The process behind `sandboxed_image`: drops its rights, then converts the picture from standard input."""

import os
import sys

from sederunt.media.sandboxed_reader_child import give_up_rights, tell

MEMORY_BYTES = 3 << 29  # of address space; the largest accepted picture needs 0.4 GB


def main() -> None:
    """Run with the arguments `CPU_S NICE`; writes a JPEG. Reports errors as other readers do."""
    cpu_s, gives_way = sys.argv[1:]
    os.nice(int(gives_way))
    give_up_rights(int(cpu_s), memory_bytes=MEMORY_BYTES)
    from sederunt.errors import MediaError  # heavy imports follow the limits
    from sederunt.media.camera_image import still

    try:
        sys.stdout.buffer.write(still(sys.stdin.buffer.read()))
    except MediaError as error:
        tell(type(error).__name__, str(error))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
