"""The JSON Schema of `codemode.yaml` (draft 2020-12).

The schema describes the file as it is written, so it includes the short forms that validators accept. It is shipped as
`codemode.schema.json`. `make schema` generates that file again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from codemode.settings.sections import Settings

#: The shipped schema. `codemode init` writes a file of the same name beside the configuration.
SCHEMA_FILE = Path(__file__).with_name("codemode.schema.json")


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out titles, which would repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False."""
        return False


def generated() -> dict[str, Any]:
    """Return the JSON Schema of the settings."""
    schema = Settings.model_json_schema(schema_generator=_WithoutTitles)
    for section in (schema, *schema["$defs"].values()):
        section.pop("title", None)
        for key in section.get("properties", {}).values():
            default = key.get("default")
            if isinstance(default, dict) and default:
                del key["default"]  # each key of the section has its own default
            elif isinstance(default, float) and default.is_integer():
                key["default"] = int(default)
    return {"$schema": GenerateJsonSchema.schema_dialect, "title": "codemode.yaml", **schema}


def shipped() -> str:
    """Return the text of the shipped schema."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n")
