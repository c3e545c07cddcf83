from __future__ import annotations

from sandbox.protocol.control import REPORT_BYTES, Exit, Fork, Kind, Purpose, Report, pack_report


def test_a_request_crosses_unchanged() -> None:
    datagram = Fork(7, 1 << 40, 3, Purpose.PROBE).pack()
    assert Fork.unpack(datagram) == (7, 1 << 40, 3, Purpose.PROBE)


def test_a_report_crosses_unchanged_whatever_follows_it() -> None:
    datagram = pack_report(Kind.EXITED, 7, status=9, cpu_s=1.5, peak_memory_bytes=1 << 40)
    assert len(datagram) == REPORT_BYTES
    assert Report.unpack(datagram + b"{}") == Report(Kind.EXITED, 7, exit=Exit(9, 1.5, 1 << 40))
