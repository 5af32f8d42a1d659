"""UpdateFeatures (KIP-584): changes of finalized feature levels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord
from fencepost_protocol.generated.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from fencepost_broker.controller.bootstrap import one_min_insync
from fencepost_broker.controller.context import Context
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.features import (
    ELIGIBLE_LEADERS,
    PREREGISTRATION,
    SUPPORTED_FEATURES,
    any_eligible,
    any_leaderless,
    keeps_eligible,
)
from fencepost_broker.metadata.image.model import FeatureRange

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3


def update_features(
    context: Context, request: UpdateFeaturesRequest
) -> Decision[UpdateFeaturesResponse]:
    """Decide an UpdateFeatures request: all of it or nothing.

    ``AllowDowngrade`` of version 0 has no effect, as in Kafka 4.3: a downgrade needs an upgrade
    type, which version 0 does not have.
    """
    updates = {update.feature: update for update in request.feature_updates}  # the last one counts
    for update in updates.values():
        reason = _problem(context, update)
        if reason is not None:
            message = (
                f"{update.feature} cannot go to level {update.max_version_level}: {reason}; "
                "nothing was changed"
            )
            code = ErrorCode.INVALID_UPDATE_VERSION
            return Decision(UpdateFeaturesResponse(error_code=code, error_message=message))
    response = UpdateFeaturesResponse(error_message=None)
    for update in request.feature_updates:  # version 2 leaves them out
        response.results.append(UpdatableFeatureResult(update.feature, error_message=None))
    if request.validate_only:
        return Decision(response)
    # A level that stays is written too: what a client did shows as a new epoch of the features.
    records = [
        MetadataRecord(FeatureLevelRecord(update.feature, update.max_version_level), 0)
        for update in updates.values()
        if update.feature != PREREGISTRATION.name
    ]
    if ELIGIBLE_LEADERS in updates and updates[ELIGIBLE_LEADERS].max_version_level:
        records = [*one_min_insync(context.image, context.settings.min_insync_replicas), *records]
        if not keeps_eligible(context.image) and any_eligible(context.image):
            # Replicas that were eligible when it was turned off were not tracked since.
            records.append(MetadataRecord(ClearElrRecord(), 0))
    return Decision(response, tuple(records))


def _problem(context: Context, update: FeatureUpdateKey) -> str | None:
    name, level = update.feature, update.max_version_level
    if update.upgrade_type not in {UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE}:
        return (
            f"there is no upgrade type {update.upgrade_type}: use 1 (upgrade), 2 (safe "
            "downgrade) or 3 (unsafe downgrade)"
        )
    if level < 0:
        return "the lowest level is 0 (off)"
    if name == PREREGISTRATION.name:
        return None if level == PREREGISTRATION.max_level else "it is always at level 1"
    if level == 0 and all(feature.name != name for feature in SUPPORTED_FEATURES):
        return "there is no such feature"
    problem = _unsupported("the controller", SUPPORTED_FEATURES, name, level)
    for broker in context.image.cluster.brokers.values():
        problem = problem or _unsupported(
            f"broker {broker.broker_id}", broker.features, name, level
        )
    if problem is not None:
        return problem
    if name == ELIGIBLE_LEADERS and level == 0 and any_leaderless(context.image):
        return "some partitions have no in-sync replica, and then no other replica could lead them"
    current = context.image.features.levels.get(name, 0)
    if level < current and update.upgrade_type == UPGRADE:
        return f"its level is {current}; a downgrade needs upgrade type 2 (safe) or 3 (unsafe)"
    if level > current and update.upgrade_type != UPGRADE:
        return f"its level is {current}; an upgrade needs upgrade type 1"
    return None


def _unsupported(who: str, ranges: Iterable[FeatureRange], name: str, level: int) -> str | None:
    found = next((each for each in ranges if each.name == name), None)
    if found is None:
        return None if level == 0 else f"{who} does not know this feature"
    if found.min_level <= level <= found.max_level:
        return None
    levels = f"levels {found.min_level} to {found.max_level}"
    if found.min_level == found.max_level:
        levels = f"level {found.min_level} only"
    return f"{who} supports {levels}"
