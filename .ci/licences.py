"""Fails for a package whose licence is not among those that the single file may contain.

    python .ci/licences.py [--installed | PACKAGE ...]

It looks at the metadata of packages that the Python which runs it has: those named, those that
installing Fencepost brings along (`--installed`), or all.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distribution, distributions

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "MIT", "MIT-0", "PSF-2.0",
    "Zlib",
}  # fmt: skip
FOR_DEVELOPERS = {"bench", "dev", "docs", "release"}
"""Extras of ours for developers; users of Fencepost do not install them."""
OWN_NAMES = {
    "Apache License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages from before SPDX's names say, in their licence field or as a classifier."""
BY_ITSELF = {"crc32c": "LGPL-2.1-or-later"}
"""A shared library in a file of its own, which a user can replace in the unpacked folder."""
CLASSIFIER = "License :: "


def main() -> int:
    """Tell each package's licence, and return the exit code."""
    names = sys.argv[1:]
    if names == ["--installed"]:
        packages = installed_with_fencepost()
    else:
        packages = [distribution(name) for name in names] if names else list(distributions())
    refused = 0
    for package in sorted(packages, key=lambda each: each.name.lower()):
        licence = licence_of(package)
        good = is_allowed(licence) or BY_ITSELF.get(package.name) == licence
        refused += not good
        print(f"{package.name} {package.version}: {licence}{'' if good else ' IS NOT ALLOWED'}")
    if refused:
        print(f"{refused} licences to look at; .ci/licences.py says which are allowed")
    return bool(refused)


def installed_with_fencepost() -> list[Distribution]:
    """Return Fencepost and all that it requires, with each extra that users have."""
    # Only here: the packages of the single file, which a release asks for, have none of this name.
    from packaging.requirements import Requirement

    extras = set(distribution("fencepost").metadata.get_all("Provides-Extra", []))
    found: dict[str, Distribution] = {}
    waiting = [Requirement(f"fencepost[{','.join(sorted(extras - FOR_DEVELOPERS))}]")]
    while waiting:
        needed = waiting.pop()
        package = distribution(needed.name)
        if package.name in found and not needed.extras:
            continue
        found[package.name] = package
        waiting += [
            each
            for each in map(Requirement, package.requires or ())
            if not each.marker
            or any(each.marker.evaluate({"extra": extra}) for extra in ("", *needed.extras))
        ]
    return list(found.values())


def licence_of(package: Distribution) -> str:
    """Return a package's licence as an expression of SPDX, or what it says instead."""
    expression = package.metadata.get("License-Expression")
    if expression:
        return expression
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in package.metadata.get_all("Classifier", [])
        if each.startswith(CLASSIFIER)
    ]
    said = (package.metadata.get("License") or "").strip().partition("\n")[0]
    for name in (said, *classifiers):
        found = OWN_NAMES.get(name, name)
        if is_allowed(found) or found in BY_ITSELF.values():
            return found
    return said or " and ".join(classifiers) or "none"


def is_allowed(expression: str) -> bool:
    """Whether everything in one of the alternatives is allowed; AND binds closer than OR."""
    return any(
        all(each in ALLOWED for each in together.split(" AND "))
        for together in expression.split(" OR ")
    )


if __name__ == "__main__":
    sys.exit(main())
