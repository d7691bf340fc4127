# SPDX-License-Identifier: GPL-3.0-or-later
"""The five published reports that the lab repeats: what they say, and where they say it.

Each report has its claims, one for each of its experiments. An experiment of the lab puts what it
has found beside them, in a table of its page; what one machine cannot hold has the reason instead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.report import format_table

NOT_MEASURED = "not measured in this run"


@dataclass(frozen=True)
class Claim:
    """One experiment of a report, and its figure. `reason`: what of it one machine cannot hold."""

    experiment: str
    published: str
    reason: str = ""


@dataclass(frozen=True)
class Found:
    """What a run says of a claim, and in which of its cells."""

    figure: str
    cell: str


@dataclass(frozen=True)
class Report:
    """The number is this project's; `source` is for a reader who looks for the original."""

    number: str
    title: str
    source: str
    claims: dict[str, Claim]

    def get_heading(self) -> str:
        """Of the section with the table."""
        return f"Report {self.number} and this run"

    def tell(self, found: Mapping[str, Found | None]) -> list[str]:
        """All claims, one a row, with what was found of them; a table of Markdown."""
        if unknown := found.keys() - self.claims.keys():
            raise KeyError(f"report {self.number} does not claim {', '.join(unknown)}")
        head = ["experiment", "published", "here", "cell"]
        rows = (list_row(claim, found.get(key)) for key, claim in self.claims.items())
        return format_table(head, rows)


def list_row(claim: Claim, found: Found | None) -> list[str]:
    figure = found.figure if found else ("" if claim.reason else NOT_MEASURED)
    here = "; ".join(part for part in (figure, claim.reason) if part)
    return [claim.experiment, f"*{claim.published}*", here, found.cell if found else ""]


def tell_span(figures: Iterable[float], unit: str) -> str:
    """A row of a published table, by its ends."""
    first, *_, last = figures
    return f"{first:g} … {last:g} {unit}"


# Report 000

MOVE_SECONDS, STORE_SECONDS = 300, 1  # for 1000 CT images by movescu, which receives; by storescu
NAGLE_OFF_SECONDS, NAGLE_ON_SECONDS = 240, 60  # of movescu
BEFORE, AFTER = 129075, 129076  # TCP_BUFFER_LENGTH, slow and fast

REPORT_000 = Report(
    "000",
    "DCMTK through localhost is slow",
    "http://lapraszerelt.blogspot.com/2016/02/dcmtk-through-localhost-is-slow.html (4 February"
    " 2016), with the answer of DCMTK's developers below it",
    {
        "store": Claim(
            "1000 CT by C-STORE, loopback",
            f"less than {STORE_SECONDS} s",
        ),
        "move": Claim(
            "1000 CT by C-MOVE; movescu receives in its own process",
            f"{MOVE_SECONDS // 60} min",
        ),
        "receiver": Claim(
            "1000 CT by C-MOVE to a receiver in a process of its own",
            "“excellent”",
        ),
        "gdcmscu": Claim(
            "1000 CT by C-MOVE; gdcmscu receives",
            "“excellent”",
        ),
        "elsewhere": Claim(
            "1000 CT by C-MOVE; movescu receives on another host, or in a container",
            "“excellent”",
        ),
        "nagle": Claim(
            "`TCP_NODELAY=0` for a C-MOVE, which switches Nagle's algorithm on",
            f"{NAGLE_OFF_SECONDS // 60} min become {NAGLE_ON_SECONDS // 60}",
        ),
        "jump": Claim(
            f"`TCP_BUFFER_LENGTH` of {AFTER:,} instead of {BEFORE:,} bytes for a C-MOVE",
            f"{MOVE_SECONDS // 60} min become {STORE_SECONDS} s",
        ),
    },
)


# Report 001

FIXED_BUFFER = 65536  # bytes, which DCMTK set by itself then
FIXED_RATE, FREE_RATE, IPERF_RATE = 1.5, 5.2, 8  # Gb/s
GAIN = FREE_RATE / FIXED_RATE
WAIT = 1  # seconds before the first image

REPORT_001 = Report(
    "001",
    "DCMTK and 10 Gb/s; DCMTK adds 1 sec delay",
    "http://lapraszerelt.blogspot.com/2016/09/ (13 September 2016)",
    {
        "fixed": Claim(
            "DCMTK over 10 Gb/s, its buffers fixed at 64 KiB",
            f"{FIXED_RATE} Gb/s",
            "one machine has no line of 10 Gb/s",
        ),
        "free": Claim(
            "the same without fixed buffers",
            f"{FREE_RATE} Gb/s, {GAIN:.1f} times as much",
        ),
        "iperf": Claim(
            "iperf on the same line",
            f"{IPERF_RATE} Gb/s",
        ),
        "wait": Claim(
            "C-MOVE, movescu receives: until the first image is sent",
            f"{WAIT} s",
        ),
        "thread": Claim(
            "the same with a receiver in a thread of its own",
            "no such wait",
            "here a process",
        ),
    },
)


# Report 002: seconds until each of so many senders in parallel has sent all images

UPLOAD_IMAGES = 373
UPLOADS: dict[str, dict[int, float]] = {
    "storescu, one thread": {1: 27.7, 2: 24.5, 4: 26.8, 8: 30.5, 16: 60.4},
    "storescu": {1: 25.9, 2: 25.1, 4: 25.1, 8: 25.6, 16: 37.5},
    "storescu, DCMTK": {1: 28.3, 2: 27.3, 8: 27.3, 16: 41.3},
    "storescu, GDCM": {1: 28.8, 2: 27.4, 8: 27.1, 16: 41.6},
    "HTTP": {1: 6.8, 2: 7.1, 4: 8.8, 8: 18.0, 16: 38.4},
    "HTTP, DCMTK": {1: 9.6, 2: 9.6, 4: 12.0, 8: 18.7, 16: 40.7},
    "HTTP, GDCM": {1: 9.9, 2: 9.9, 4: 11.7, 8: 19.9, 16: 39.2},
    "C-MOVE, 1 / 4": {1: 4.1, 2: 7.6, 4: 15.0, 8: 30.4},
    "C-MOVE, 4 / 4": {1: 4.3, 2: 4.8, 4: 7.3, 8: 14.5},
    "C-MOVE, 16 / 1": {1: 3.8, 2: 7.6, 4: 15.2, 8: 32.2},
    "C-MOVE, 16 / 16": {1: 4.1, 2: 3.9, 4: 6.8, 8: 13.8, 16: 27.3},
    "slow disk, one thread": {1: 89.5, 2: 168.8},
    "slow disk": {1: 91.5, 2: 128.8, 4: 261.7},
}

NO_USB = "no disk on USB: one that the kernel throttles, and that has no seek time"
NO_GZIP = "no client of this run accepts gzip: `ingest --axes gzip` has one"


def find_ends(key: str, counts: Iterable[int]) -> list[int]:
    """The fewest and the most of these senders in parallel, as far as the report has them, too."""
    common = sorted(UPLOADS[key].keys() & set(counts))
    return list(dict.fromkeys([*common[:1], *common[-1:]]))


def tell_uploads(key: str, counts: Sequence[int]) -> str:
    seconds = " … ".join(str(UPLOADS[key][count]) for count in counts)
    return f"{seconds} s by {' and '.join(map(str, counts))} in parallel"


def claim_upload(key: str, experiment: str, reason: str = "") -> Claim:
    """With the ends of the published row."""
    return Claim(experiment, tell_uploads(key, find_ends(key, UPLOADS[key])), reason)


REPORT_002 = Report(
    "002",
    "Orthanc's upload tables",
    "notes of November 2021, with the mainline of Orthanc and of its plugin GDCM",
    {
        key: claim_upload(key, experiment, reason)
        for key, experiment, reason in (
            ("storescu, one thread", "`storescu`, one DICOM thread", ""),
            ("storescu", "`storescu`, four DICOM threads", ""),
            ("storescu, DCMTK", "`storescu`, DCMTK to JPEG Lossless", ""),
            ("storescu, GDCM", "`storescu`, GDCM to JPEG Lossless", ""),
            ("HTTP", "HTTP clients", ""),
            ("HTTP, DCMTK", "HTTP clients, DCMTK to JPEG Lossless", ""),
            ("HTTP, GDCM", "HTTP clients, GDCM to JPEG Lossless", ""),
            ("C-MOVE, 1 / 4", "C-MOVE, DICOM threads 1 / 4 (destination / source)", ""),
            ("C-MOVE, 4 / 4", "C-MOVE, DICOM threads 4 / 4", ""),
            ("C-MOVE, 16 / 1", "C-MOVE, DICOM threads 16 / 1", ""),
            ("C-MOVE, 16 / 16", "C-MOVE, DICOM threads 16 / 16", ""),
            ("slow disk, one thread", "slow disk, `storescu`, one DICOM thread", NO_USB),
            ("slow disk", "slow disk, `storescu`, four DICOM threads", NO_USB),
        )
    }
    | {
        "best": Claim("the most images in each second", "213 images/s, by C-MOVE"),
        "pynetdicom": Claim("`storescu` beside pynetdicom", "20 to 30 % faster"),
        "phases, storescu": Claim(
            "where the time of an image goes, `storescu`, by hand from the log",
            "11 ms between two images, 60 ms receive, 2 ms index",
        ),
        "phases, HTTP": Claim(
            "where the time of an image goes, HTTP client, by hand from the log",
            "10 ms receive, 1 ms transcode",
        ),
        "gzip": Claim(
            "from compressing the answer until the next request, HTTP client, by hand from the log",
            "7 ms to compress the answer",
        ),
    },
)


def choose_uploads(ends: Mapping[str, Sequence[int]]) -> Report:
    """Report 002 with its figures for as many senders in parallel as a run has."""
    chosen = {
        key: replace(REPORT_002.claims[key], published=tell_uploads(key, counts))
        for key, counts in ends.items()
        if counts
    }
    return replace(REPORT_002, claims=REPORT_002.claims | chosen)


# Report 003

SERVED, PLAIN_SERVED = 111, 112  # MB/s by MINT, by a plain server
CURL_MB = 1024**2 / 1e6  # of ours, see https://everything.curl.dev/cmdline/progressmeter
UNIT = (
    f"The report's MB are most likely curl's, of 1,048,576 bytes: {PLAIN_SERVED} of them are"
    f" {PLAIN_SERVED * CURL_MB:.0f} of ours."
)
NO_WINDOWS = "Windows and IIS, no part of this lab"

REPORT_003 = Report(
    "003",
    "MINT performance testing",
    "A. J. Weigold, wiki of the MINT project, 29 September 2010",
    {
        "study": Claim(
            "1090 MB study in bulk, MINT by Tomcat, Linux",
            f"{SERVED} MB/s",
            "loopback instead of a line of 1 Gb/s",
        ),
        "web": Claim("the same bytes in one file, Apache, Linux", f"{PLAIN_SERVED} MB/s"),
        "ftp": Claim("the same file, vsftpd, Linux", f"{PLAIN_SERVED} MB/s"),
        "2003": Claim(
            "Windows 2003: MINT by Tomcat, file by Apache, FTP by IIS, MINT behind IIS",
            "67, 71, 112, 111 MB/s",
            NO_WINDOWS,
        ),
        "2008": Claim(
            "Windows 2008: MINT by Tomcat, file by Apache, FTP by IIS, MINT behind IIS",
            "36, 50, 112, 111 MB/s",
            NO_WINDOWS,
        ),
    },
)


# Report 004, tables 3 and 4: Mb/s by round trip in ms, with an MTU of 1500; CIFS by its server's
# buffers

DISTANCES = {
    "DICOM": {0.1: 85.8, 25: 9.39, 50: 4.95, 100: 2.55, 200: 1.05, 400: 0.522, 800: 0.301},
    "HTTPS": {0.1: 18.9, 25: 4.05, 50: 1.79, 100: 1.34, 200: 0.733, 400: 0.358, 800: 0.173},
    "FTP": {0.1: 41.0, 25: 7.51, 50: 3.95, 100: 2.02, 200: 1.05, 400: 0.539, 800: 0.279},
    "HTTP": {0.1: 237, 25: 9.73, 50: 7.47, 100: 4.30, 200: 2.26, 400: 1.12, 800: 0.589},
    "CIFS, 16 KiB": {
        **{0.1: 263, 25: 4.04, 50: 1.90, 100: 0.893, 200: 0.477, 400: 0.227, 800: 0.122},
    },
    "CIFS, 64 KiB": {
        **{0.1: 36.7, 25: 4.23, 50: 2.13, 100: 1.07, 200: 0.550, 400: 0.269, 800: 0.135},
    },
}

# Of one machine's lines
NO_KERNEL_CIFS = "the kernel here has no CIFS client"
OWN_CIFS = "by samba's own client, as the kernel here has none: `wan --lines fixed`"
NO_JUMBO = "no line with delay here takes such packets: that needs netem in the kernel"


def claim_distance(key: str, experiment: str, reason: str = "") -> Claim:
    return Claim(f"{experiment}, 0.1 to 800 ms", tell_span(DISTANCES[key].values(), "Mb/s"), reason)


REPORT_004 = Report(
    "004",
    "PACS over a wide area network",
    "an article by a group in Minnesota, about 2010, whose text came to this project without title"
    " and authors; it begins “Radiology examinations are large”",
    {
        "region": Claim(
            "CT from sites in the states around, over 155 Mb/s",
            "4 images/s",
            "how far these sites are is not said",
        ),
        "share": Claim("between Minnesota and Arizona, 53 ms: used of 155 Mb/s", "3 to 5 %"),
        "LAN share": Claim("the same computers on a LAN: used of 1 Gb/s", "more than 50 %"),
        "LAN": Claim("CT from Arizona, 53 ms away, beside a LAN", "30 times slower"),
        "DICOM": claim_distance("DICOM", "20 CT by DICOM"),
        "HTTPS": claim_distance("HTTPS", "20 CT by HTTPS"),
        "FTP": claim_distance("FTP", "FTP"),
        "HTTP": claim_distance("HTTP", "HTTP"),
        "NFS": Claim(
            "NFS, 0.1 to 800 ms",
            "258 … 0.506 Mb/s",
            "the kernel here has no NFS client: files by HTTP and FTP instead",
        ),
        "buffers": Claim(
            "CIFS with buffers of 16 and 64 KiB, 50 ms",
            "1.9 and 2.13 Mb/s",
            f"{NO_KERNEL_CIFS}: DICOM with such buffers",
        ),
        "CIFS 16": claim_distance("CIFS, 16 KiB", "CIFS, buffers of 16 KiB", OWN_CIFS),
        "CIFS 64": claim_distance("CIFS, 64 KiB", "CIFS, buffers of 64 KiB", OWN_CIFS),
        "MTU": Claim("MTU 9000 instead of 1500, HTTP and FTP, 0.1 ms", "1.47 and 1 times as fast"),
        "far MTU": Claim(
            "MTU 9000 instead of 1500, 25 to 800 ms",
            "FTP 1.06 … 1.03, NFS 0.94 … 1.03, HTTP 1.79 … 1.02, CIFS with 16 KiB 0.86 … 1.02, with"
            " 64 KiB 1.01 … 2.43 times as fast",
            NO_JUMBO,
        ),
        "compression": Claim(
            "compressed 2.5:1 and with larger buffers, beside a LAN", "9.2 times slower"
        ),
        "accelerators": Claim(
            "the same behind accelerators, beside a LAN",
            "1.5 times slower",
            "appliances of two makers: there are none here",
        ),
    },
)

REPORTS = (REPORT_000, REPORT_001, REPORT_002, REPORT_003, REPORT_004)


TABLES = {REPORT_002.number: (UPLOADS, "s"), REPORT_004.number: (DISTANCES, "Mb/s")}


def list_figures(report: Report) -> Iterator[str]:
    """All of its figures that a text may quote, each with its unit."""
    yield from (f"{claim.experiment} {claim.published}" for claim in report.claims.values())
    rows, unit = TABLES.get(report.number, ({}, ""))
    yield from (f"{value:g} {unit}" for row in rows.values() for value in row.values())
