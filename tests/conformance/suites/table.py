"""All suites, in the order of the page."""

from typing import Final

from tests.conformance.suites import (
    application_suites,
    go_suites,
    java_suites,
    python_suites,
    rust_suites,
)
from tests.conformance.suites.running import Suite

SUITES: Final[tuple[Suite, ...]] = (
    *go_suites.SUITES,
    *python_suites.SUITES,
    *rust_suites.SUITES,
    *java_suites.SUITES,
    *application_suites.SUITES,
)
