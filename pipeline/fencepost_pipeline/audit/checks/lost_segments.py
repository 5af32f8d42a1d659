"""Lost files: offsets that are missing between two segment files, where nobody could take them.

Retention takes segments from the begin of a log, compaction records from anywhere: from the middle
of a log that is not compacted nothing goes. So there the end of one file and the name of the next,
which is its first offset, fit together, or a file is missing between them, or the first one's end.
What is missing inside of a file is the affair of the batches beside it (:mod:`.offset_holes`).

Whether a topic is compacted stands in the metadata log: one that ever was may have such holes for
ever. A topic without a ``cleanup.policy`` of its own has the broker's, which the metadata log knows
only if it was changed there; so such a topic's log must also look like one that nobody has
compacted: nothing else is missing in its files, and no batch has fewer records than offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, NamedTuple

from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned
from fencepost_pipeline.audit.segment_seams import Seam, Seams

COMPACT: Final = "compact"
ALWAYS_COMPACTED: Final = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


@dataclass(frozen=True, slots=True)
class Policies:
    """What the metadata log says of ``cleanup.policy``."""

    of_topics: Mapping[str, str] = field(default_factory=dict)
    of_brokers: str = ""


class Setting(NamedTuple):
    """A value of ``cleanup.policy`` in the metadata log; ``topic`` is empty for brokers."""

    topic: str
    value: str


def policies_of(settings: Iterable[Setting]) -> Policies:
    """What was compacted once counts as compacted, whatever was set later."""
    of_topics: dict[str, str] = {}
    of_brokers = ""
    for topic, value in settings:
        if not topic:
            of_brokers = of_brokers if COMPACT in of_brokers else value
        elif COMPACT not in of_topics.get(topic, ""):
            of_topics[topic] = value
    return Policies(of_topics, of_brokers)


def check_lost(
    partitions: Iterable[Scanned], policies: Policies | None, unread: set[str], ledger: Ledger
) -> None:
    """``unread``: files of which something could not be read, which is told already."""
    for scanned in partitions:
        summary = scanned.summary
        ledger.checked(Invariant.LOST, len(summary.segments))
        for seam in summary.seams.found:
            excuse = _excuse(summary.topic, summary.seams, seam, policies, unread)
            if excuse:
                ledger.excused(Invariant.LOST, excuse)
                continue
            ledger.found(
                Finding(
                    Invariant.LOST,
                    f"missing between {PurePath(seam.before).name}, which ends in front of them, "
                    f"and {PurePath(seam.behind).name}: a file, or the end of the first one",
                    summary.topic,
                    summary.partition,
                    seam.start,
                    seam.end - 1,
                    segment=seam.before,
                )
            )


def _excuse(
    topic: str, seams: Seams, seam: Seam, policies: Policies | None, unread: set[str]
) -> str:
    if not unread.isdisjoint((seam.before, seam.behind)):
        return "hole beside a file that cannot be read"
    if topic in ALWAYS_COMPACTED:
        return "hole between two files of a compacted topic"
    if policies is None:
        return "hole between two files; no metadata log here says whether the topic is compacted"
    own = policies.of_topics.get(topic, "")
    if COMPACT in (own or policies.of_brokers):
        return "hole between two files of a compacted topic"
    if not own and seams.looks_compacted:
        return "hole between two files of a topic without cleanup.policy that looks compacted"
    return ""
