"""Settings of the authorizer, besides ACLs and ``super.users``."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import Setting, boolean, string

STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class AuthorizerSettings:
    """Kafka's authorizer, and its setting that is not in Kafka's table."""

    authorizer_class_name: Setting[str] = string(
        "",
        "the class that decides what users may do; empty: every user may do everything",
        check=lambda name: (
            None if name in ("", STANDARD_AUTHORIZER) else "no other class can be loaded"
        ),
        range_text=f"{STANDARD_AUTHORIZER}, or empty",
    )
    allow_everyone_if_no_acl_found: Setting[bool] = boolean(
        False,
        "whether every user may do everything to a resource without ACLs",
        own=True,
    )
