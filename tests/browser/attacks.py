"""Text that would run where it is not escaped."""

from __future__ import annotations

#: Breaks out of an attribute, an element, a comment, a script and a template; reverses, hides, and is long.
ATTACK = (
    "\"'></textarea></title>--></script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    "<form action=//evil.example><button style='position:fixed;inset:0'>Approve</button></form>"
    "{{ 7 * 7 }} <a href='javascript:window.ran=1' hx-get='/console/logout' hx-trigger='load'>x</a> "
    "\u202erettel sdrawkcab\u2066 \u200bhidden " + "longword" * 60
)
