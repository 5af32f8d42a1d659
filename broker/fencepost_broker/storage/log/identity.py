"""``meta.properties``: the broker and the cluster that a data directory belongs to."""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_protocol.primitives import parse_uuid

from fencepost_broker.storage.log import checkpoints
from fencepost_broker.storage.log.disk import CorruptFileError, Disk
from fencepost_broker.storage.log.names import META_PROPERTIES, parse_folder_name

_META_VERSION: Final = "1"


class Identity(NamedTuple):
    """Whose data directory it is."""

    node_id: int
    cluster_id: str
    directory_id: str
    """A uuid in Kafka's text form; used when the directory has none yet."""


def check_identity(disk: Disk, identity: Identity) -> Identity:
    """Compare ``meta.properties`` with whose the directory should be; write it when it is new."""
    data = disk.read(META_PROPERTIES)
    path = f"{disk.name}/{META_PROPERTIES}"
    if data is None:
        partitions = [each.name for each in disk.list_folder("") if parse_folder_name(each.name)]
        if partitions:
            raise CorruptFileError(
                path,
                f"it is not there, and there are partitions ({partitions[0]}, ...). Restore "
                f"it, or write its lines: version={_META_VERSION}, node.id={identity.node_id}, and "
                "cluster.id=, followed by the id of the cluster",
            )
        properties = {
            "version": _META_VERSION,
            "cluster.id": identity.cluster_id,
            "node.id": str(identity.node_id),
            "directory.id": identity.directory_id,
        }
        disk.write(META_PROPERTIES, checkpoints.format_properties(properties), durable=True)
        return identity
    found = checkpoints.parse_properties(data, path)
    for name, wanted in (("cluster.id", identity.cluster_id), ("node.id", str(identity.node_id))):
        if not found.get(name):
            raise CorruptFileError(
                path,
                f"it has no {name}: the file is damaged. Restore it, or, if the directory is this "
                f"broker's, write the line {name}={wanted} into it",
            )
        if found[name] != wanted:
            raise CorruptFileError(
                path,
                f"the directory belongs to {name} {found[name]}, not {wanted}; set {name} to"
                " that, or use another directory",
            )
    directory_id = found.get("directory.id", identity.directory_id)
    try:
        parse_uuid(directory_id)
    except ValueError as error:
        raise CorruptFileError(
            path, f"its directory.id is no uuid: {error}. Restore the file"
        ) from error
    return Identity(identity.node_id, identity.cluster_id, directory_id)
