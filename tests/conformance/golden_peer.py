"""Apache Kafka's own codecs, asked over a pipe: the source of the golden bytes.

The Java program behind it (`java/`) is built with Maven on first use and again when its sources
change. Its line protocol is described at the top of its Main.java.

    with GoldenPeer() as peer:
        encoded = peer.encode("EndTxnRequest", 3, {"transactionalId": "a", ...})
        encoded_again, json_object = peer.decode("EndTxnRequest", 3, encoded)

Many questions go through `ask`, which keeps both sides busy; `encode_question`, `decode_question`
and `answer_parts` make and read its lines.
"""

import base64
import hashlib
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeAlias

if sys.platform != "win32":
    import fcntl

JsonObject: TypeAlias = dict[str, Any]

# The sizes of the chunks that a writer has sent, an error in making the next one, None at the end.
_Chunks: TypeAlias = queue.Queue[int | Exception | None]

JAVA_DIR = Path(__file__).parent / "java"
TARGET_DIR = JAVA_DIR / "target"
LIBRARY_DIR = TARGET_DIR / "lib"

# Measured: a start without the second compiler (TieredStopAtLevel=1) saves 0.05 s and costs half
# the lines a second; the other collectors are slower on small messages.
JVM_FLAGS = ("-Xmx512m", "-XX:+UseSerialGC")

# `ask` hands the writer's lines over in chunks; so many of them may be on their way at once.
CHUNK_CHARS = 1 << 16
CHUNK_LINES = 512
CHUNKS_IN_FLIGHT = 16


class PeerUnavailableError(Exception):
    """A tool that the Java side needs is not installed."""


class PeerBuildError(Exception):
    """The tools are there, and the build of the Java side fails."""


class PeerDiedError(Exception):
    """The Java process ended or closed its output while answers were due."""


class PeerError(Exception):
    """Kafka's own code refused a question."""


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """One error code of Apache Kafka, with all that its exception extends and implements."""

    code: int
    name: str
    exception: str | None
    ancestors: frozenset[str]

    def is_a(self, exception: str) -> bool:
        return exception == self.exception or exception in self.ancestors


@dataclass(frozen=True, slots=True)
class MessageFact:
    """One message that the peer can encode and decode."""

    name: str
    class_name: str
    lowest_version: int
    highest_version: int


def build() -> None:
    """Builds the program and fetches its libraries, unless what is there is up to date."""
    stamp = TARGET_DIR / "built-from.sha256"
    with _build_lock():
        wanted = _digest_of_sources()
        if not stamp.exists() or stamp.read_text() != wanted:
            maven = _tool("mvn", "Apache Maven")
            _tool("javac", "a JDK, 17 or later")
            shutil.rmtree(TARGET_DIR, ignore_errors=True)
            _run_maven(maven)
            stamp.write_text(wanted)


def encode_question(name: str, version: int, json_object: JsonObject) -> str:
    return f"encode\t{name}\t{version}\t{_to_json(json_object)}"


def decode_question(name: str, version: int, data: bytes | bytearray | memoryview) -> str:
    return f"decode\t{name}\t{version}\t{data.hex()}"


def answer_parts(answer: str, question: str = "") -> list[str]:
    """What stands behind "ok"; raises PeerError with the reason that stands behind "error"."""
    verdict, *parts = answer.split("\t")
    if verdict != "ok":
        asked = f" (asked: {question[:500]})" if question else ""
        raise PeerError("\t".join(parts) + asked)
    return parts


class GoldenPeer:
    """A running Java process. Not for several threads at once."""

    def __init__(self, jvm_flags: Sequence[str] = JVM_FLAGS) -> None:
        self._jvm_flags = jvm_flags
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._asking = False

    def __enter__(self) -> Self:
        build()
        java = _tool("java", "a Java runtime, 17 or later")
        class_path = [TARGET_DIR / "golden-peer.jar", *sorted(LIBRARY_DIR.glob("*.jar"))]
        separator = ";" if sys.platform == "win32" else ":"
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [
                java,
                *self._jvm_flags,
                "-cp",
                separator.join(map(str, class_path)),
                "fencepost.golden.Main",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            # Killed, not asked: it has nothing to save, and a stuck one would not answer.
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def encode(self, name: str, version: int, json_object: JsonObject) -> bytes:
        """The bytes of a message given in the format of Kafka's JSON converters."""
        (encoded,) = self._ask_one(encode_question(name, version, json_object))
        return bytes.fromhex(encoded)

    def decode(
        self, name: str, version: int, data: bytes | bytearray | memoryview
    ) -> tuple[bytes, JsonObject]:
        """The message encoded again by Kafka, and as its JSON converter writes it."""
        encoded_again, json_text = self._ask_one(decode_question(name, version, data))
        return bytes.fromhex(encoded_again), json.loads(json_text)

    def build_batch(self, records: Iterable[JsonObject], **header: int | str | bool) -> bytes:
        """A record batch of Kafka's making.

        `records` and `header` are what `Batches.build` in Java takes; keys, values and header
        values may be given as bytes.
        """
        batch = {"records": list(records), **header}
        (encoded,) = self._ask_one(f"batch\t{_to_json(batch)}")
        return bytes.fromhex(encoded)

    def read_batch(self, data: bytes | bytearray | memoryview) -> JsonObject:
        """The header and the records of one batch; keys, values and header values come as bytes."""
        (json_text,) = self._ask_one(f"readbatch\t{data.hex()}")
        batch: JsonObject = json.loads(json_text)
        for record in batch["records"]:
            record["key"] = _from_base64(record["key"])
            record["value"] = _from_base64(record["value"])
            record["headers"] = [(key, _from_base64(value)) for key, value in record["headers"]]
        return batch

    def build_marker(
        self,
        *,
        offset: int,
        timestamp: int,
        leader_epoch: int,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        coordinator_epoch: int,
    ) -> bytes:
        """The control batch that ends a transaction in one partition."""
        marker = {
            "offset": offset,
            "timestamp": timestamp,
            "leaderEpoch": leader_epoch,
            "producerId": producer_id,
            "producerEpoch": producer_epoch,
            "commit": commit,
            "coordinatorEpoch": coordinator_epoch,
        }
        (encoded,) = self._ask_one(f"marker\t{_to_json(marker)}")
        return bytes.fromhex(encoded)

    def errors(self) -> list[ErrorFact]:
        (json_text,) = self._ask_one("errors")
        return [
            ErrorFact(row["code"], row["name"], row["exception"], frozenset(row["ancestors"]))
            for row in json.loads(json_text)
        ]

    def messages(self) -> list[MessageFact]:
        (json_text,) = self._ask_one("messages")
        return [
            MessageFact(row["name"], row["class"], row["lowest"], row["highest"])
            for row in json.loads(json_text)
        ]

    def ask(self, lines: Iterable[str]) -> Generator[str, None, None]:
        """The answers to many questions, in order, while later questions are still being sent.

        A thread of its own takes from `lines`, so they must not wait for answers. Answers that
        begin with "error" are handed out like the others; see `answer_parts`.
        """
        _, stdout = self._pipes()
        self._refuse_overlap()
        self._asking = True
        stop = threading.Event()
        chunks: _Chunks = queue.Queue(CHUNKS_IN_FLIGHT)
        threading.Thread(target=self._write_all, args=(lines, chunks, stop), daemon=True).start()
        due = 0
        more = True
        try:
            while more:
                chunk = chunks.get()
                if isinstance(chunk, Exception):
                    raise chunk
                more = chunk is not None
                due = chunk or 0
                while due:
                    answer = self._read_line(stdout)
                    due -= 1
                    yield answer
        finally:
            # The caller may stop listening at any answer: the rest of them must leave the pipe.
            stop.set()
            while more:
                for _ in range(due):
                    stdout.readline()
                chunk = chunks.get()
                more = chunk is not None
                due = chunk if isinstance(chunk, int) else 0
            self._asking = False

    def _write_all(
        self,
        lines: Iterable[str],
        chunks: _Chunks,
        stop: threading.Event,
    ) -> None:
        stdin, _ = self._pipes()
        try:
            for chunk in _chunked(lines):
                if stop.is_set():
                    break
                # Announced before it is written: the reader must be at work when the pipes fill up.
                chunks.put(len(chunk))
                stdin.write(("\n".join(chunk) + "\n").encode())
                stdin.flush()
        except OSError:
            pass  # the process died: the reader finds out, and knows what it said last
        except Exception as error:  # noqa: BLE001 - made by `lines`: the caller gets it
            chunks.put(error)
        finally:
            chunks.put(None)

    def _ask_one(self, question: str) -> list[str]:
        self._refuse_overlap()
        stdin, stdout = self._pipes()
        try:
            stdin.write(f"{question}\n".encode())
            stdin.flush()
        except OSError as error:
            raise self._death() from error
        return answer_parts(self._read_line(stdout), question)

    def _refuse_overlap(self) -> None:
        if self._asking:
            raise RuntimeError("finish (or close) the iterator that ask() returned first")

    def _read_line(self, stdout: IO[bytes]) -> str:
        line = stdout.readline()
        if not line.endswith(b"\n"):
            raise self._death()
        return line[:-1].decode()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            raise RuntimeError("use GoldenPeer in a with statement")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _death(self) -> PeerDiedError:
        assert self._process is not None
        assert self._stderr is not None
        code = self._process.wait(timeout=10)
        self._stderr.seek(0)
        said = self._stderr.read()[-2000:].decode(errors="replace")
        return PeerDiedError(f"the Java process ended with {code}; it said: {said}")


def _chunked(lines: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    chars = 0
    for line in lines:
        chunk.append(line)
        chars += len(line)
        if chars >= CHUNK_CHARS or len(chunk) >= CHUNK_LINES:
            yield chunk
            chunk = []
            chars = 0
    if chunk:
        yield chunk


def _to_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), default=_to_base64)


def _to_base64(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"no JSON for {value!r}")


def _from_base64(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


@contextmanager
def _build_lock() -> Iterator[None]:
    """Two test runs at once must not build into the same folder."""
    if sys.platform == "win32":
        yield
        return
    with (JAVA_DIR / "pom.xml").open("rb") as pom:
        fcntl.flock(pom, fcntl.LOCK_EX)
        yield


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in [JAVA_DIR / "pom.xml", *sorted((JAVA_DIR / "src").rglob("*.java"))]:
        digest.update(path.relative_to(JAVA_DIR).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _tool(command: str, what: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise PeerUnavailableError(
            f"conformance tests need {what}: there is no '{command}' on the PATH"
        )
    return path


def _run_maven(maven: str) -> None:
    result = subprocess.run(
        [maven, "-q", "-B", "package"],
        cwd=JAVA_DIR,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise PeerBuildError(
            f"'mvn package' failed in {JAVA_DIR} (are the Maven repositories reachable?):\n"
            + result.stdout[-4000:]
        )
