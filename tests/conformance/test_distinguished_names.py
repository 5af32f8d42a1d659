"""Names in certificates are written as Java writes them, whose name Kafka's users have."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Final

import pytest
from fencepost_broker.security.authentication.distinguished_names import subject_of

pytestmark = pytest.mark.conformance

SUBJECTS: Final = (
    "/CN=client",
    "/C=DE/ST=Berlin/L=Berlin/O=Acme, Inc./OU=R+CN=alice",
    "/CN=#x",
    "/CN=  lead and trail  ",
    '/CN=q"uo;te<s>\\\\',
    "/CN=a=b",
    "/emailAddress=a@b.c/CN=mail",
    "/CN=jürgen",
    "/DC=org/DC=example/UID=u1/CN=x",
    "/CN=a+OU=b/O=multi",
    "/serialNumber=5/title=Dr/street=Way 1/CN=z",
)
PROGRAM: Final = """
import java.io.*;
import java.security.cert.*;
public class Names {
    public static void main(String[] paths) throws Exception {
        var out = new PrintStream(System.out, true, "UTF-8");
        var factory = CertificateFactory.getInstance("X.509");
        for (String path : paths) {
            try (var in = new FileInputStream(path)) {
                var certificate = (X509Certificate) factory.generateCertificate(in);
                out.println(certificate.getSubjectX500Principal().getName());
            }
        }
    }
}
"""


def test_names_are_written_as_java_writes_them(tmp_path: Path) -> None:
    java, openssl = shutil.which("java"), shutil.which("openssl")
    if java is None or openssl is None:
        pytest.skip("it needs java and openssl on the PATH")
    paths = []
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key"]
    for number, subject in enumerate(SUBJECTS):
        paths.append(tmp_path / f"{number}.pem")
        name = ["-utf8", "-multivalue-rdn", "-subj", subject, "-out", str(paths[-1])]
        command = [openssl, "req", "-x509", *curve, *name]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    program = tmp_path / "Names.java"
    program.write_text(PROGRAM)
    told = subprocess.run(
        [java, str(program), *map(str, paths)], check=True, capture_output=True, encoding="utf-8"
    )
    ours = [subject_of(ssl.PEM_cert_to_DER_cert(path.read_text())) for path in paths]
    assert ours == told.stdout.splitlines()
