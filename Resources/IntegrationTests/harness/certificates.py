# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate for 127.0.0.1, made for one test, that everybody is to trust."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SSL = Path(__file__).resolve().parents[1] / "OpenSsl" / "ssl.c"


@dataclass(frozen=True)
class Certificate:
    certificate: Path
    key: Path

    def get_https_options(self) -> dict[str, Any]:
        """Options by which Orthanc serves HTTPS; it wants both in one file."""
        both = self.certificate.with_name("both.pem")
        both.write_bytes(self.certificate.read_bytes() + self.key.read_bytes())
        return {"SslEnabled": True, "SslCertificate": str(both)}

    def get_dicom_options(self, is_server: bool = True) -> dict[str, Any]:
        """Options by which Orthanc speaks DICOM TLS; not as a server: to others only."""
        return {
            "DicomTlsEnabled": is_server,
            "DicomTlsCertificate": str(self.certificate),
            "DicomTlsPrivateKey": str(self.key),
            "DicomTlsTrustedCertificates": str(self.certificate),
        }

    def get_dcmtk_arguments(self) -> list[str]:
        trusted = ["--add-cert-file", str(self.certificate)]
        return ["--enable-tls", str(self.key), str(self.certificate), *trusted]


def make_certificate(folder: Path) -> Certificate:
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", made.key, "-out", made.certificate]
    subprocess.run([*command, *files], check=True, capture_output=True, timeout=60)
    return made


def mend_https(folder: Path) -> dict[str, str]:
    """What the environment of Debian's Orthanc needs, so that it can do HTTPS: see ssl.c."""
    folder.mkdir(exist_ok=True)
    flags = ["-shared", "-fPIC", "-Wl,--no-as-needed"]
    command = ["cc", *flags, SSL, "-o", folder / "libssl.so", "-l:libssl.so.3"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    own = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{folder}:{own}" if own else str(folder)}
