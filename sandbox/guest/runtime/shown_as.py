"""Classes of ours that show as others: `type(answer) is dict` holds for what a tool returns."""

from __future__ import annotations

#: Filled where such a class is defined.
SHOWN_AS: dict[type, type] = {}
