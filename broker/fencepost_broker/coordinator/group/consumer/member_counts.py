"""What the members of a consumer group have in common, as numbers of members."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost_broker.coordinator.group.consumer.member import ConsumerMember


@dataclass(slots=True)
class MemberCounts:
    """How many members there are, and how many of them want what."""

    members: int = 0
    classic: int = 0
    """Members on the classic protocol."""
    names: dict[str, int] = field(default_factory=dict)
    """By topic: members that subscribe to it by name."""
    patterns: dict[str, int] = field(default_factory=dict)
    """By regular expression: members that subscribe with it."""
    assignors: dict[str, int] = field(default_factory=dict)
    """By assignor: members that prefer it."""
    classic_protocols: dict[str, int] = field(default_factory=dict)
    """By name: members on the classic protocol that support it."""

    def count(self, member: ConsumerMember, by: int) -> None:
        """Count a member (1) or count it no longer (-1)."""
        self.members += by
        for topic in set(member.topics):
            add_to(self.names, topic, by)
        if member.pattern:
            add_to(self.patterns, member.pattern, by)
        if member.assignor is not None:
            add_to(self.assignors, member.assignor, by)
        if member.classic is not None:
            self.classic += by
            for name, _ in member.classic.protocols:
                add_to(self.classic_protocols, name, by)

    def copy(self) -> MemberCounts:
        """Return the same counts, to be changed."""
        return MemberCounts(
            self.members,
            self.classic,
            self.names.copy(),
            self.patterns.copy(),
            self.assignors.copy(),
            self.classic_protocols.copy(),
        )

    def all_subscribe_alike(self) -> bool:
        """Whether all members subscribe to the same topics in the same way."""
        return {*self.names.values(), *self.patterns.values()} <= {self.members}


def add_to(counts: dict[str, int], name: str, by: int) -> None:
    """Change the count of a name; one that is 0 is removed."""
    count = counts.get(name, 0) + by
    if count:
        counts[name] = count
    else:
        counts.pop(name, None)
