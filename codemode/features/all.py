"""The features of codemode, in the order in which they take part. Nothing else lists them."""

from __future__ import annotations

from codemode.features.accounts.accounts import Accounts
from codemode.features.budgets.budgets import Budgets
from codemode.features.cards.desk import Cards
from codemode.features.content.archive import JournalContents
from codemode.features.continuations.continuations import Continuations
from codemode.features.conversations.conversations import Conversations
from codemode.features.decisions.decisions import RememberedDecisions
from codemode.features.feature import Feature
from codemode.features.feedback.feedback import Feedback
from codemode.features.flow.flow import Flow
from codemode.features.notify.notifications import Notifications
from codemode.features.plans.plans import Plans
from codemode.features.reviewers.loading import load_reviewers
from codemode.features.rollback.rollback import Rollbacks
from codemode.features.saved.saved import SavedPrograms

FEATURES = (
    Feature(
        name="accounts",
        section="connections",
        part=Accounts,
        faces=("console.pages.accounts",),
        page="how-to/accounts.md",
    ),
    Feature(
        name="flow",
        section="flow",
        part=Flow,
        page="security/data-flow.md",
    ),
    Feature(
        name="content",
        part=JournalContents,
        faces=("cli.content", "console.pages.files"),
        page="how-to/files-and-images.md",
    ),
    Feature(
        name="conversations",
        section="conversations",
        part=Conversations,
        faces=("console.pages.conversations",),
        page="how-to/conversations.md",
    ),
    Feature(
        name="plans",
        part=Plans,
        routes="http.plans:add_plan_routes",
        faces=("cli.plans", "console.pages.plans", "http.plans"),
        page="how-to/plans.md",
    ),
    Feature(
        name="cards",
        part=Cards,
        faces=("cli.asking", "cli.executions", "console.pages.approvals", "http.approvals", "mcp.in_client"),
        page="how-to/approvals.md",
    ),
    Feature(
        name="continuations",
        section="continuations",
        part=Continuations,
        routes="http.continuations:add_continuation_routes",
        faces=("http.continuations",),
        page="explanation/executions.md",
    ),
    Feature(
        name="notify",
        section="notify",
        part=Notifications,
        faces=("cli.notify", "cli.notify_check", "console.pages.notifications"),
        page="how-to/notifications.md",
    ),
    Feature(
        name="rollback",
        part=Rollbacks,
        routes="http.rollback:add_rollback_routes",
        faces=("cli.rollback", "console.pages.rollback", "http.rollback"),
        page="how-to/approvals.md",
    ),
    Feature(
        name="saved",
        section="saved",
        part=SavedPrograms,
        routes="http.saved:add_saved_routes",
        faces=("cli.saved", "console.pages.saved", "http.saved"),
        page="how-to/saved-programs.md",
    ),
    Feature(
        name="decisions",
        part=RememberedDecisions,
        routes="http.decisions:add_decision_routes",
        faces=("cli.decisions", "console.pages.decisions", "http.decisions"),
        page="how-to/approvals.md",
    ),
    Feature(
        name="budgets",
        section="budgets",
        part=Budgets,
        faces=("cli.policy", "console.pages.policy"),
        page="reference/policy.md",
    ),
    Feature(
        name="feedback",
        part=Feedback,
        page="explanation/search.md",
    ),
    Feature(
        name="reviewers",
        section="reviewers",
        plugins=load_reviewers,
        page="how-to/second-opinions.md",
    ),
)
