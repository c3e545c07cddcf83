"""A minimal PDF: one page of text (PDF 1.4, ISO 32000-1 7.5)."""

from __future__ import annotations

import textwrap


def one_page(title: str, lines: list[str]) -> bytes:
    """Return an A4 page in Helvetica. Letters outside Latin-1 become question marks; excess lines are dropped."""
    wrapped = [part for line in lines for part in textwrap.wrap(line, 90) or [""]][:45]
    shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in wrapped)
    content = f"BT /F1 18 Tf 60 780 Td ({_escaped(title)}) Tj /F1 11 Tf 16 TL 0 -32 Td\n{shown}ET"
    text = content.encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    document = b"%PDF-1.4\n"
    offsets = []
    for number, content_of_object in enumerate(objects, start=1):
        offsets.append(len(document))
        document += b"%d 0 obj\n%s\nendobj\n" % (number, content_of_object)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return document + head + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(document))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
