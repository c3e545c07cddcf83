"""How much a program may use. Each limit is enforced from outside the program and reported when it is hit."""

from __future__ import annotations

from dataclasses import dataclass, fields

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one execution; sizes in bytes, times in seconds."""

    #: From the first byte sent to the worker to its last answer, tool time included. Monty and smolagents: 30 s.
    wall_s: float = 30.0
    #: Processor time of the program. A loop that waits for nothing ends here before the wall clock does.
    cpu_s: float = 10.0
    #: Address space beyond what an idle worker has. Monty: 256 MiB, FastMCP: 100 MB.
    memory_bytes: int = 256 * MIB
    #: Source text. The longest program that a model wrote in the development corpus has 7 kB.
    source_bytes: int = 100_000
    #: Nesting of the syntax tree, and of brackets in the source.
    source_depth: int = 160
    #: Captured `print` output; more is cut and said so.
    output_bytes: int = 256 * 1024
    #: The result as JSON; a list in it counts for at least 8 bytes, an object for 16. 16 MiB holds a 10 MB list of
    #: records, and takes the host 400 MB at worst (short texts that are not ASCII); a result of 50 MB is an error.
    result_bytes: int = 16 * MIB
    #: Nesting of the result.
    result_depth: int = 64
    #: Calls of one execution.
    calls: int = 1_000
    #: Calls that may be under way at one time; more wait in the host, in order.
    calls_in_flight: int = 64
    #: One message from the guest that is not the result.
    frame_bytes: int = 4 * MIB
    #: All messages of the guest together but output and result: calls with their arguments, above all. Each counts for
    #: at least 512 bytes, so that nobody keeps the host busy with many small ones.
    traffic_bytes: int = 32 * MIB
    #: One reply into the guest. While so much waits to be read, no further call is started.
    reply_bytes: int = 16 * MIB
    #: All replies together. The host keeps those of a recorded run, and sends them all again when it is taken up; no
    #: call is started once there are so many.
    replies_bytes: int = 256 * MIB

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not (isinstance(value, (int, float)) and value >= 0):
                message = f"{limit.name}={value!r}: a number is expected, 0 or more"
                raise ValueError(message)
