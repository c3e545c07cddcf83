"""The usual names of paging: parameters, fields of answers that describe a list, and response headers.

Names are in snake case. Dots join the names of nested fields.
"""

from __future__ import annotations

import re

# Parameters

PAGE = (
    "page", "page_number", "page_num", "pagenumber", "page_no", "page_index", "current_page", "pg", "paged", "pageno",
)  # fmt: skip
OFFSET = (
    "offset", "skip", "start", "start_at", "start_index", "page_offset", "from", "startat", "startindex",
    "first_result", "start_row", "sysparm_offset", "start_position", "startposition", "from_index", "pagination_offset",
)  # fmt: skip
SIZE = (
    "per_page", "limit", "page_size", "size", "top", "count", "max_results", "pagesize", "page_limit", "take", "rows",
    "maxresults", "first", "sysparm_limit", "perpage", "results_per_page", "items_per_page", "page_per_page",
    "pagination_limit",
)  # fmt: skip
CURSOR = (
    "cursor", "page_token", "next_token", "start_cursor", "continuation_token", "next_page_token", "page_cursor",
    "continue", "next_cursor", "marker", "start_key", "exclusive_start_key", "page_after", "after_cursor", "pagetoken",
    "nexttoken", "skip_token", "skiptoken", "scroll_id", "starting_token", "bookmark", "pagination_token",
)  # fmt: skip
#: Other names of cursors.
ANY_CURSOR = re.compile(
    r"(^|_)(cursor|(page|next|continuation|pagination)_?token|continuation|scroll(_id|_param)?|marker|bookmark)$"
)
#: Cursors only beside a page size: alone, they may be access tokens.
CURSOR_BESIDE_SIZE = ("token",)
AFTER = ("starting_after", "after", "after_id", "start_after")
#: Parameters that only a link in the answer fills.
LINKED = ("max_id", "before_id", "ending_before")
#: Object parameters that hold the position of a page, or its size.
CONTAINERS = ("page", "pagination", "paging", "page_request", "pager", "page_info", "options")

#: `start` and `from` are the beginning of a range beside these, or if the description is about time.
RANGES = ("start", "from")
ENDS = ("end", "to", "until", "stop", "finish", "end_time")
OF_TIME = re.compile(
    r"(?i)\b(time|times|timestamp|date|datetime|unix|epoch|seconds|milliseconds|month|year|day|since)\b"
)
#: Descriptions of pages that are numbered from zero.
FROM_ZERO = re.compile(
    r"(?i)\b(zero|0)[- ](based|indexed)|\b(start(s|ing)?|begin(s|ning)?) (at|from|with) (0|zero)\b|\(0\.\."
)

#: Last words of paths that read by POST.
READING = frozenset(
    ("browse", "fetch", "filter", "find", "get", "list", "lookup", "query", "read", "retrieve", "scan", "search")
) | {"sync"}

# Lists in answers

#: The usual fields of the items.
USUAL_LISTS = (
    "items", "data", "results", "result", "value", "values", "records", "entries", "objects", "list", "rows", "content",
    "resources",
)  # fmt: skip
#: Objects around a whole answer or around its list.
ENVELOPES = ("_embedded", "data", "result", "results", "response", "payload", "body", "d", "feed", "hits")
#: Lists that stand beside the items of a page.
BESIDE = frozenset(("errors", "warnings", "links", "_links", "included", "messages"))

# Fields that describe a list

#: Objects in an answer that describe its list.
ABOUT_LIST = (
    "meta", "metadata", "_meta", "pagination", "paging", "page", "page_info", "paginator", "response_metadata",
    "result_info", "links", "cursors", "cursor", "search_metadata", "_metadata", "pages", "pager", "page_context",
)  # fmt: skip
#: Fields that hold the URL of the next page, or else its cursor or number.
NEXT = (
    "next", "next.href", "next.url", "next.link", "next_link", "odata_next_link", "pages.next", "next_url", "next_uri",
    "next_href", "next_page_url", "next_page_uri", "next_page_link", "next_page", "next_records_url", "nextpage",
)  # fmt: skip
#: Fields that hold the cursor of the next page.
TOKENS = (
    "next_cursor", "next_page_token", "next_token", "continuation_token", "next_page_cursor", "next_marker",
    "cursor_next", "continue", "next.after", "cursors.after", "cursors.next", "next_cursor_str", "next_id", "next_key",
    "next_start_key", "last_evaluated_key", "end_cursor", "scroll_id", "bookmark", "after", "cursor.after", "cursor",
)  # fmt: skip
#: Those that may repeat the request.
MAY_BE_ECHOES = ("after", "cursor", "bookmark")
#: Those beside which `next: null` does not mean the end.
OWN_TOKENS = TOKENS[:6]
OFFSETS = ("next_offset", "next_start", "next_skip")
MORE = (
    "has_more", "hasmore", "has_next", "has_next_page", "more", "more_results", "has_more_items", "truncated",
    "more_items_in_collection", "is_truncated", "more_records", "more_available", "has_more_page",
)  # fmt: skip
LAST = ("last", "is_last", "is_last_page", "last_page", "end_of_list", "done")
NUMBERS = ("page", "number", "page_number", "current_page", "page_num", "page_no", "page_index")
PAGES = ("total_pages", "pages", "page_count", "last_page", "num_pages")
POSITIONS = ("start_index", "offset", "skip", "start")
#: Fields that hold the length of the whole list. Some services use `count` for that of the page.
TOTALS = (
    "total", "total_count", "total_items", "total_results", "total_records", "total_size", "total_elements",
    "total_entries", "num_found", "odata_count", "total.value", "count",
)  # fmt: skip

# Headers

TOKEN_HEADERS = ("x-next-cursor", "next-cursor", "x-next-token", "x-ms-continuation", "opc-next-page")
TOTAL_HEADERS = ("x-total-count", "x-total", "x-wp-total", "total-count", "total-records", "x-pagination-total-count")
