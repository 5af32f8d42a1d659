"""Checks of requests for settings of topics, groups, brokers and loggers."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.by_topics import module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Check, Rest, Verdict
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.security.authorizer.acls import CLUSTER_NAME, AclResource, Operation

_OF_CLUSTER: Final = (AclResource.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
_PROTECTED: Final = {
    ResourceType.TOPIC: (AclResource.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ResourceType.GROUP: (AclResource.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ResourceType.BROKER: _OF_CLUSTER,
    ResourceType.BROKER_LOGGER: _OF_CLUSTER,
    ResourceType.CLIENT_METRICS: _OF_CLUSTER,
}


def _denial(asked: Asked, operation: Operation, resource: Any) -> ErrorCode | None:
    if resource.resource_type not in _PROTECTED:
        return None
    kind, code = _PROTECTED[ResourceType(resource.resource_type)]
    name = CLUSTER_NAME if kind is AclResource.CLUSTER else resource.resource_name
    return None if asked.rights.may(operation, kind, name) else code


def _words(code: ErrorCode, operation: Operation, resource: Any) -> str | None:
    """Return the error message; like Kafka, none for loggers unless levels are changed."""
    is_of_loggers = resource.resource_type == ResourceType.BROKER_LOGGER
    if is_of_loggers and operation is Operation.ALTER_CONFIGS:
        return None
    return f"not authorized: {code.name}"


def of_each_resource(
    operation: Operation, answers: str, answer_class: str, *, denied_last: bool = False
) -> Check:
    """Check each resource; denied ones are answered in the order of the request, or last."""

    def check(asked: Asked) -> Verdict:
        message = asked.message
        codes = [_denial(asked, operation, each) for each in message.resources]
        if not any(codes):
            return None
        make = getattr(module_of(message), answer_class)
        made = [
            None
            if code is None
            else make(code, _words(code, operation, each), each.resource_type, each.resource_name)
            for each, code in zip(message.resources, codes, strict=True)
        ]
        message.resources = [
            each for each, code in zip(message.resources, codes, strict=True) if code is None
        ]

        def complete(response: Any) -> None:
            if denied_last:
                denied = [each for each in made if each is not None]
                setattr(response, answers, [*getattr(response, answers), *denied])
                return
            told = iter(getattr(response, answers))
            in_order = [next(told, None) if each is None else each for each in made]
            # A resource that is repeated in the request may be answered once.
            setattr(response, answers, [each for each in in_order if each is not None])

        return Rest(complete, is_left=bool(message.resources))

    return check
