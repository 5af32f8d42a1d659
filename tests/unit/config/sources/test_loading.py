"""Where settings come from: file, environment, options, code; the later wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.config import Origin, SettingsError, load


def test_the_later_place_wins(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=2\nlog.retention.ms=2\nnode.id=2\nfsync=always\n")
    settings = load(
        file,
        {"FENCEPOST_LOG_RETENTION_MS": "3", "FENCEPOST_NODE_ID": "3", "HOME": "/"},
        ["node.id=4", "process.roles=broker"],
        {"process.roles": ("controller", "broker")},
    )
    assert settings.num_partitions == 2
    assert settings.log_retention_ms == 3
    assert settings.node_id == 4
    assert settings.process_roles == ("controller", "broker")
    assert [str(each.source) for each in settings.given("node.id")] == [
        "-c node.id",
        "FENCEPOST_NODE_ID in the environment",
        f"{file}:3",
    ]
    assert settings.source("process.roles").origin is Origin.CODE
    assert settings.source("fsync").origin is Origin.FILE


def test_of_two_options_the_later_wins() -> None:
    assert load(options=["node.id=4", "node.id = 5"]).node_id == 5


def test_a_value_may_have_equals_signs() -> None:
    assert load(options=["broker.rack=a=b"]).broker_rack == "a=b"


def test_a_toml_file_is_told_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "broker.TOML"
    file.write_text('[log]\ndirs = ["/a", "/b"]\n')
    settings = load(file)
    assert settings.data_dirs == ("/a", "/b")
    assert settings.source("log.dirs").place == f"{file}:2"


def test_data_dirs() -> None:
    assert load().data_dirs == ()
    assert load(options=["log.dir=/a"]).data_dirs == ("/a",)
    assert load(options=["log.dir=/a", "log.dirs=/b,/c"]).data_dirs == ("/b", "/c")


def test_all_places_are_checked_before_anything_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.properties"
    file.write_text("num.partitions=x\nnum.partition=1\n")
    with pytest.raises(SettingsError) as caught:
        load(file, {"FENCEPOST_NODE_IDS": "1"}, ["fsync", "=1", "fsync=never"])
    told = str(caught.value)
    assert (
        f"num.partitions=x: it is not a whole number; allowed: int, at least 1 ({file}:1)" in told
    )
    assert f"did you mean num.partitions? ({file}:2)" in told
    assert "did you mean node.id? (FENCEPOST_NODE_IDS in the environment)" in told
    assert "-c fsync: it must be name=value" in told
    assert "-c =1: it must be name=value" in told
    assert "one of interval, always (-c fsync)" in told
    assert len(caught.value.problems) == 6


def test_broken_lines_do_not_hide_what_is_wrong_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "a.properties"
    file.write_text("a=\\q\n")
    with pytest.raises(SettingsError) as caught:
        load(file, options=["node.id=x"])
    assert len(caught.value.problems) == 2


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml cannot be read: No such file"):
        load(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path)
    large = tmp_path / "large.properties"
    large.write_bytes(b"#" * (1 << 21))
    with pytest.raises(SettingsError, match="larger than"):
        load(large)


def test_variables_that_container_platforms_set_for_a_service_are_no_settings() -> None:
    environment = {
        "FENCEPOST_PORT": "tcp://10.0.0.1:9092",
        "FENCEPOST_PORT_9092_TCP": "tcp://10.0.0.1:9092",
        "FENCEPOST_PORT_9092_TCP_ADDR": "10.0.0.1",
        "FENCEPOST_PORT_9092_TCP_PORT": "9092",
        "FENCEPOST_PORT_9092_TCP_PROTO": "tcp",
        "FENCEPOST_SERVICE_HOST": "10.0.0.1",
        "FENCEPOST_SERVICE_PORT": "9092",
        "FENCEPOST_SERVICE_PORT_KAFKA": "9092",
        "FENCEPOST_NAME": "/other/fencepost",
        "FENCEPOST_TEST_ROUNDS": "5",
    }
    assert dict(load(environment=environment)) == dict(load())
    with pytest.raises(SettingsError):
        load(environment={"FENCEPOST_PORTS": "1"})


def test_other_defaults_count_where_nothing_is_given() -> None:
    defaults = {"transaction.state.log.replication.factor": 3, "num.partitions": 5}
    settings = load(options=["transaction.state.log.min.isr=2", "num.partitions=7"],
                    defaults=defaults)  # fmt: skip
    assert settings.shown("transaction.state.log.replication.factor") == "3"
    assert settings.source("transaction.state.log.replication.factor").origin is Origin.DEFAULT
    assert settings.num_partitions == 7
