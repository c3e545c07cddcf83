"""`codemode.yaml` and the environment: the only package that reads either.

A configuration is read whole, checked whole, and refused with every mistake in it at once: line, key, what was
expected, and the nearest valid key. Secrets are references (`{env: NAME}` or `{file: PATH}`), resolved when a source is
loaded, and never printed.
"""

from codemode.settings.credentials import (
    ApiKeyCredential,
    BasicCredential,
    BearerCredential,
    ClientCertificate,
    CredentialSettings,
    OAuth2Credential,
)
from codemode.settings.file import API_KEY_VARIABLE, DEFAULT_FILE, load_settings, settings_for_document
from codemode.settings.folders import tokenizer_folder
from codemode.settings.secrets import SecretReference
from codemode.settings.sections import LimitSettings, SandboxSettings, SearchSettings, ServerSettings, Settings
from codemode.settings.sources import PYTHON, EffectName, SourceSettings, is_python, is_url

__all__ = [
    "API_KEY_VARIABLE",
    "DEFAULT_FILE",
    "PYTHON",
    "ApiKeyCredential",
    "BasicCredential",
    "BearerCredential",
    "ClientCertificate",
    "CredentialSettings",
    "EffectName",
    "LimitSettings",
    "OAuth2Credential",
    "SandboxSettings",
    "SearchSettings",
    "SecretReference",
    "ServerSettings",
    "Settings",
    "SourceSettings",
    "is_python",
    "is_url",
    "load_settings",
    "settings_for_document",
    "tokenizer_folder",
]
