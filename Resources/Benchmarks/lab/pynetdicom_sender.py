# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends files by pynetdicom over one association, and prints the seconds from connect to release.

A program of its own, so that it shares no interpreter with the lab.
"""

import argparse
import os
import ssl
import sys
import time
from pathlib import Path

import pydicom
from pydicom.uid import ExplicitVRLittleEndian
from pynetdicom import AE
from pynetdicom.sop_class import CTImageStorage

from harness.senders import keep_reactor_paused

SUCCESS = 0x0000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificate", type=Path, help="use TLS, and trust this one")
    parser.add_argument("count", type=int, help="of senders that begin together")
    parser.add_argument("folder", type=Path, help="of these senders, and empty")
    parser.add_argument("port", type=int)
    parser.add_argument("files", type=Path, nargs="+")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    images = [pydicom.dcmread(path) for path in arguments.files]
    entity = AE("PYNETDICOM")
    entity.add_requested_context(CTImageStorage, ExplicitVRLittleEndian)
    tls = None
    if arguments.certificate:
        context = ssl.create_default_context(cafile=arguments.certificate)
        context.check_hostname = False
        tls = (context, "127.0.0.1")
    (arguments.folder / str(os.getpid())).touch()
    while sum(1 for _ in arguments.folder.iterdir()) < arguments.count:
        time.sleep(0.005)

    begin = time.monotonic()
    association = entity.associate("127.0.0.1", arguments.port, ae_title="ORTHANC", tls_args=tls)
    if not association.is_established:
        sys.exit("no association")
    connected = time.monotonic()
    with keep_reactor_paused(association):
        begin += time.monotonic() - connected  # is no part of the transfer
        for image in images:
            status = association.send_c_store(image)
            if status.get("Status") != SUCCESS:
                sys.exit(f"C-STORE answered {status}")
    association.release()
    print(time.monotonic() - begin)


if __name__ == "__main__":
    main()
