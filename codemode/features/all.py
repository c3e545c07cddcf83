"""The features of codemode, in the order in which they take part. Nothing else lists them."""

from __future__ import annotations

from codemode.features.conversations.conversations import Conversations
from codemode.features.feature import Feature
from codemode.features.flow.flow import Flow
from codemode.features.plans.plans import Plans
from codemode.features.reviewers.loading import load_reviewers

FEATURES = (
    Feature(
        name="flow",
        section="flow",
        part=Flow,
        page="security/data-flow.md",
    ),
    Feature(
        name="conversations",
        section="conversations",
        part=Conversations,
        page="how-to/conversations.md",
    ),
    Feature(
        name="plans",
        part=Plans,
        routes="http.plans:add_plan_routes",
        faces=("http.plans", "cli.plans"),
        page="how-to/plans.md",
    ),
    Feature(
        name="reviewers",
        section="reviewers",
        plugins=load_reviewers,
        page="how-to/second-opinions.md",
    ),
)
