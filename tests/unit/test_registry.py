"""Each API stands in one place, and its line is true: what it names exists, and fits."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import pytest
from fencepost_broker.apis import context
from fencepost_broker.apis.authorization.layer import check_of
from fencepost_broker.apis.context import BrokerContext, ControllerContext
from fencepost_broker.apis.controller.brokers_only import OfBrokers
from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.apis.cutting import WHOLE
from fencepost_broker.apis.matching_lists import lists_of, matching_path
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.served import Served, loaded
from fencepost_protocol.apis import Message, request_class, response_class

CONTEXTS: dict[str, type] = vars(context)
ANY: list[tuple[Served, type]] = [(api, BrokerContext) for api in SERVED]
ANY += [(api, ControllerContext) for api in SERVED_BY_CONTROLLER]
APIS = [api for api, _ in ANY]


@pytest.mark.parametrize("registry", [SERVED, SERVED_BY_CONTROLLER])
def test_each_api_stands_once(registry: tuple[Served, ...]) -> None:
    keys = [api.key for api in registry]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(("api", "given"), ANY)
def test_a_handler_takes_the_context_and_the_message_of_its_api(api: Served, given: type) -> None:
    """mypy checks what handlers do with their contexts, and this that they are given them."""
    handler: Any = api.handler.load() if hasattr(api.handler, "load") else loaded(api.handler)
    if inspect.isbuiltin(handler):
        pytest.skip("a compiled function keeps no annotations")
    taken, request, message = inspect.signature(handler).parameters.values()
    assert issubclass(given, CONTEXTS[taken.annotation])
    assert request.annotation == "Request"
    names = {**vars(typing), **vars(inspect.getmodule(handler))}
    types = typing.get_args(eval(message.annotation, names)) or (eval(message.annotation, names),)
    assert request_class(api.key) in types or Message in types


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.key.name)
def test_what_it_asks_of_its_users_exists(api: Served) -> None:
    assert callable(check_of(api))


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.key.name)
def test_the_lists_that_are_cut_or_counted_are_those_of_its_messages(api: Served) -> None:
    asked, answer = request_class(api.key), response_class(api.key)
    cut = api.large or WHOLE
    for path in (cut.asked, *(api.longest.lists if api.longest is not None else ())):
        elements_of(asked, path)
    if cut.answered:
        elements_of(answer, cut.answered)
    elif cut.asked:
        answering = matching_path(asked, answer, tuple(cut.asked.split(".")))
        elements_of(answer, ".".join(answering))


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.key.name)
def test_a_request_with_lists_is_carried_out_as_a_large_one(api: Served) -> None:
    """A list may be long, and then the loop would stop for all clients until it is decoded.

    Requests that only brokers may send are trusted to be short.
    """
    if not isinstance(api.handler, OfBrokers):
        assert (api.large is not None) is bool(lists_of(request_class(api.key)))


def elements_of(kind: type, path: str) -> None:
    for name in path.split(".") if path else ():
        kind = lists_of(kind)[name]
