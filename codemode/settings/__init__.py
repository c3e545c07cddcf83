"""`codemode.yaml` and the environment. No other package reads them.

An invalid configuration is rejected as a whole. All mistakes are reported at once, with line, key, expected value and
the closest valid key. Secrets are references (`{env: NAME}`, `{file: PATH}`, …). They are resolved when a source is
loaded, and never printed.
"""

from codemode.settings.agent import AgentMode, AgentSettings, PriceSettings
from codemode.settings.connections import ConnectionSettings
from codemode.settings.console import ConsoleSettings
from codemode.settings.content import ContentSettings
from codemode.settings.continuations import ContinuationSettings
from codemode.settings.conversations import ConversationSettings
from codemode.settings.credentials import (
    ApiKeyCredential,
    AwsCredential,
    BasicCredential,
    BearerCredential,
    CallerReference,
    ClientCertificate,
    CredentialSettings,
    NoCredential,
    OAuth2Credential,
)
from codemode.settings.definitions import DefinitionSettings
from codemode.settings.embeddings import EmbeddingSettings, LocalEmbeddings, ServiceEmbeddings
from codemode.settings.file import (
    API_KEY_VARIABLE,
    DEFAULT_FILE,
    load_settings,
    namespace_of,
    settings_for_document,
    settings_for_mcp_server,
)
from codemode.settings.folders import default_configuration, is_set, tokenizer_folder
from codemode.settings.journal import Durability, JournalSettings
from codemode.settings.mcp_clients import ClientName, Machine, McpClient, mcp_clients, runs_codemode
from codemode.settings.mcp_servers import NoServers, servers_in
from codemode.settings.menu import CategorySettings, MenuSettings, RoleMenuSettings, RouterSettings
from codemode.settings.mistakes import line_of, mistakes, yaml_message
from codemode.settings.modes import ModeName, ModeRuleSettings
from codemode.settings.namespace import namespace
from codemode.settings.notify import (
    MailTarget,
    NotifyEvent,
    NotifySettings,
    NotifyTarget,
    SlackTarget,
    TeamsTarget,
    WebhookTarget,
)
from codemode.settings.observe import ObserveSettings
from codemode.settings.plugins import PLUGINS_GROUP, PluginSettings
from codemode.settings.policy import DEFAULT_ROLE, DecisionName, PolicySettings, QuotaSettings, RuleSettings
from codemode.settings.references import references
from codemode.settings.reviewers import ReviewerSettings, ReviewModelSettings
from codemode.settings.saved import SavedSettings
from codemode.settings.search import Enrichment, SearchSettings
from codemode.settings.secrets import SecretReference, Secrets
from codemode.settings.sections import LimitSettings, SandboxSettings, Settings
from codemode.settings.server import KeySettings, LoadSettings, ServerSettings, TokenSettings
from codemode.settings.sources import PYTHON, SOURCES_GROUP, EffectName, SourceSettings, is_python
from codemode.settings.trust import ConfigurationUntrusted, distrust, trust
from codemode.settings.urls import is_url

__all__ = [
    "API_KEY_VARIABLE",
    "DEFAULT_FILE",
    "DEFAULT_ROLE",
    "PLUGINS_GROUP",
    "PYTHON",
    "SOURCES_GROUP",
    "AgentMode",
    "AgentSettings",
    "ApiKeyCredential",
    "AwsCredential",
    "BasicCredential",
    "BearerCredential",
    "CallerReference",
    "CategorySettings",
    "ClientCertificate",
    "ClientName",
    "ConfigurationUntrusted",
    "ConnectionSettings",
    "ConsoleSettings",
    "ContentSettings",
    "ContinuationSettings",
    "ConversationSettings",
    "CredentialSettings",
    "DecisionName",
    "DefinitionSettings",
    "Durability",
    "EffectName",
    "EmbeddingSettings",
    "Enrichment",
    "JournalSettings",
    "KeySettings",
    "LimitSettings",
    "LoadSettings",
    "LocalEmbeddings",
    "Machine",
    "MailTarget",
    "McpClient",
    "MenuSettings",
    "ModeName",
    "ModeRuleSettings",
    "NoCredential",
    "NoServers",
    "NotifyEvent",
    "NotifySettings",
    "NotifyTarget",
    "OAuth2Credential",
    "ObserveSettings",
    "PluginSettings",
    "PolicySettings",
    "PriceSettings",
    "QuotaSettings",
    "ReviewModelSettings",
    "ReviewerSettings",
    "RoleMenuSettings",
    "RouterSettings",
    "RuleSettings",
    "SandboxSettings",
    "SavedSettings",
    "SearchSettings",
    "SecretReference",
    "Secrets",
    "ServerSettings",
    "ServiceEmbeddings",
    "Settings",
    "SlackTarget",
    "SourceSettings",
    "TeamsTarget",
    "TokenSettings",
    "WebhookTarget",
    "default_configuration",
    "distrust",
    "is_python",
    "is_set",
    "is_url",
    "line_of",
    "load_settings",
    "mcp_clients",
    "mistakes",
    "namespace",
    "namespace_of",
    "references",
    "runs_codemode",
    "servers_in",
    "settings_for_document",
    "settings_for_mcp_server",
    "tokenizer_folder",
    "trust",
    "yaml_message",
]
