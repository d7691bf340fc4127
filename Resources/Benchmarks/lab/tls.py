# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate for one run, and the options by which each program uses it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """One self-signed certificate: both sides show it, and both trust it."""

    key: Path
    certificate: Path

    @staticmethod
    def make(folder: Path) -> "Certificate":
        made = Certificate(folder / "key.pem", folder / "certificate.pem")
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-subj", "/CN=127.0.0.1", "-keyout", str(made.key)]
        command += ["-out", str(made.certificate)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        return made

    def list_dcmtk_options(self) -> list[str]:
        return ["+tls", str(self.key), str(self.certificate), "+cf", str(self.certificate)]

    def get_orthanc_options(self) -> dict[str, Any]:
        return {
            "DicomTlsEnabled": True,
            "DicomTlsPrivateKey": str(self.key),
            "DicomTlsCertificate": str(self.certificate),
            "DicomTlsTrustedCertificates": str(self.certificate),
            "DicomTlsRemoteCertificateRequired": False,
        }
