"""Modules and names that are not offered, with the reason and an alternative for messages."""

from __future__ import annotations

_NO_THIRD_PARTY = "there are no third-party modules"
_NO_NETWORK = "there is no network; call the bound operations, which reach the services"
_NO_FILES = "there are no files; return the text, or use io.StringIO"
_NO_PROCESS = "there are no processes and no environment; pass values in the program"
_NO_ERRORS = "a failed call raises ToolError: write `except ToolError as e`, and look at e.status and e.body"
_CREDENTIALS = "credentials are added outside of the program"
_NO_MESSAGES = (
    "there are no message classes; write the message as text: f'To: {to}\\r\\nSubject: {subject}\\r\\n"
    "Content-Type: text/plain; charset=utf-8\\r\\n\\r\\n{body}', and base64.urlsafe_b64encode(text.encode()).decode() "
    "where it is to be sent raw"
)
_NO_CODE = "programs do not run text as code or look into the interpreter"

#: Advice by module.
NOT_OFFERED: dict[str, str] = {
    "numpy": f"{_NO_THIRD_PARTY}; use statistics (fmean, linear_regression, correlation), math, and lists",
    "scipy": f"{_NO_THIRD_PARTY}; use statistics and math",
    "pandas": (
        f"{_NO_THIRD_PARTY}; use lists of dicts with collections, itertools, statistics and csv, "
        "and return them directly"
    ),
    "matplotlib": f"{_NO_THIRD_PARTY}; return the numbers",
    "tabulate": f"{_NO_THIRD_PARTY}; use f-strings with widths, or str.ljust",
    "dateutil": f"{_NO_THIRD_PARTY}; use datetime.fromisoformat, strptime, timedelta, calendar.monthrange for months",
    "pytz": f"{_NO_THIRD_PARTY}; use zoneinfo.ZoneInfo",
    "yaml": f"{_NO_THIRD_PARTY}; use json",
    **dict.fromkeys(("pydantic", "attr", "attrs"), f"{_NO_THIRD_PARTY}; use dataclasses"),
    **dict.fromkeys(("bs4", "lxml"), f"{_NO_THIRD_PARTY}; use html.parser, xml.etree.ElementTree or re"),
    **dict.fromkeys(("trio", "anyio"), f"{_NO_THIRD_PARTY}; use asyncio"),
    **dict.fromkeys(("tqdm", "rich"), f"{_NO_THIRD_PARTY}; use print"),
    "IPython": f"{_NO_THIRD_PARTY}; print shows a value, and the last expression is the result",
    "typing_extensions": "use typing, which has the same names",
    "tenacity": f"{_NO_THIRD_PARTY}; use a loop with try, except and time.sleep",
    "nest_asyncio": "it is not needed: await works at the top level, and plain calls do too; leave it out",
    **dict.fromkeys(
        ("xml.dom", "xml.dom.minidom", "xml.sax.handler"),
        "use xml.etree.ElementTree; indent(root) and tostring(root) print it over several lines",
    ),
    **dict.fromkeys(
        ("requests", "httpx", "aiohttp", "urllib3", "urllib.request", "http.client", "http.server", "http.cookies"),
        _NO_NETWORK,
    ),
    **dict.fromkeys(("socket", "ssl", "smtplib", "ftplib", "websockets"), _NO_NETWORK),
    **dict.fromkeys(
        ("urllib.error", "requests.exceptions", "urllib3.exceptions", "aiohttp.client_exceptions"), _NO_ERRORS
    ),
    "os": f"{_NO_FILES}; there is no environment: {_CREDENTIALS}",
    **dict.fromkeys(("os.path", "pathlib", "shutil", "tempfile", "glob", "zipfile"), _NO_FILES),
    "sqlite3": "there is no database; keep lists of dicts, and use sorted, sum and collections",
    "pickle": "nothing is pickled here; use json, or copy.deepcopy",
    "multiprocessing": f"{_NO_PROCESS}; use concurrent.futures.ThreadPoolExecutor or asyncio.gather",
    **dict.fromkeys(("subprocess", "signal", "argparse", "getpass", "platform"), _NO_PROCESS),
    "dotenv": f"there is no environment: {_CREDENTIALS}",
    "builtins": f"{_NO_CODE}; call the builtin by its name",
    **dict.fromkeys(("ctypes", "code", "marshal", "dis"), _NO_CODE),
    **dict.fromkeys(("unittest", "doctest", "pytest"), "write assert statements"),
    **dict.fromkeys(("email.mime", "email.message", "email.header", "email.encoders", "email.policy"), _NO_MESSAGES),
    "mimetypes": "write the type, such as 'application/pdf'",
    **dict.fromkeys(("openai", "anthropic"), "the API is bound under the names that search shows"),
}

#: Names that offered modules do not have here, with the reason.
WITHHELD: dict[str, dict[str, str]] = {
    "sys": {"path": _NO_FILES, **dict.fromkeys(("modules", "settrace", "setprofile", "_getframe"), _NO_CODE)},
    "collections": {"UserString": "inherit from str"},
    "asyncio": {
        "open_connection": _NO_NETWORK,
        "start_server": _NO_NETWORK,
        "create_subprocess_exec": _NO_PROCESS,
        "create_subprocess_shell": _NO_PROCESS,
        **dict.fromkeys(("Runner", "set_event_loop_policy"), "there is one loop; write asyncio.run(main())"),
    },
    "tomllib": {"load": f"{_NO_FILES.partition(';')[0]}; write tomllib.loads(text)"},
    "configparser": dict.fromkeys(("RawConfigParser", "SafeConfigParser"), "use ConfigParser, and read_string(text)"),
    "json": {"parse": "write json.loads(...)", "stringify": "write json.dumps(...)"},
    "hashlib": {"file_digest": _NO_FILES},
    "base64": {"encode": _NO_FILES, "decode": _NO_FILES},
    "csv": {"register_dialect": "pass the options to reader and writer"},
    "io": {"open": _NO_FILES, "FileIO": _NO_FILES, "TextIOWrapper": _NO_FILES},
    "gzip": dict.fromkeys(("open", "GzipFile"), f"{_NO_FILES}; gzip.compress and gzip.decompress work on bytes"),
    "concurrent.futures": {"ProcessPoolExecutor": f"{_NO_PROCESS}; use ThreadPoolExecutor"},
}
