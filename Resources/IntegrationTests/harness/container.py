# SPDX-License-Identifier: GPL-3.0-or-later
"""What containers take away from a process, and an image of Orthanc over a Debian root.

There is no container engine in it: unshare(1), mount(8), chroot(1) and setpriv(1) do the same, as
root. All mounts are in a namespace of their own, and gone with the process.
"""

import os
import re
import shlex
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from harness.process import run

NOBODY = 65534
SECCOMP = Path(__file__).with_name("seccomp.py")

ORTHANC_USER = 999


def find_obstacle() -> str | None:
    tried = run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
    return f"mounting needs root: {tried.stderr.strip()}" if tried.returncode else None


@dataclass(frozen=True)
class Limits:
    """What is taken away.

    `read_only`: the root file system is, but for what is named. Without `proc` there is no /proc.
    `user`: a number without any capability. `seccomp`: a profile in Docker's format.
    """

    read_only: bool = False
    proc: bool = True
    user: int | None = None
    seccomp: Path | None = None

    def make_command(self, *command: str, root: str | None = None) -> str:
        """For a shell: ends as the command, in the shell's own place, perhaps below a root."""
        words = ["exec"]
        if self.seccomp:
            words += [sys.executable, str(SECCOMP), str(self.seccomp)]
        if root is not None:
            words += ["chroot", root]
        if self.user is not None:
            words += ["setpriv", f"--reuid={self.user}", f"--regid={self.user}"]
            words += ["--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
            words += ["--no-new-privs"]
        return shlex.join([*words, *command])


def make_launcher(steps: list[str]) -> list[str]:
    """The steps, in a mount namespace; they find the command that follows in "$@"."""
    return ["unshare", "--mount", "sh", "-c", "\n".join(["set -e", *steps]), "sh"]


def confine(folder: Path, limits: Limits) -> list[str]:
    """A launcher on this machine's own root file system: the folder stays writable."""
    quoted = shlex.quote(str(folder))
    steps = []
    if limits.read_only:
        # As "docker run --read-only --tmpfs /tmp"; the folder may be below /tmp
        steps += [
            f"mount --bind {quoted} /mnt",
            "mount -t tmpfs tmpfs /tmp",
            f"mkdir -p {quoted}",
            f"mount --bind /mnt {quoted}",
            "mount -o remount,bind,ro /",
        ]
    if not limits.proc:
        steps.append("mount -t tmpfs tmpfs /proc")
    if limits.user is not None:
        steps.append(f"chown -R {limits.user}:{limits.user} {quoted}")
    steps.append(f'{limits.make_command()} "$@"')
    return make_launcher(steps)


def build(dockerfile: Path, context: Path, layers: Path) -> None:
    """What the Dockerfile's instructions COPY, as Docker does, for such simple ones as ours."""
    text = dockerfile.read_text("utf-8").replace("\\\n", " ")
    instructions = re.findall(r"^COPY (.+)$", text, re.MULTILINE)
    assert instructions
    for instruction in instructions:
        words = instruction.split()
        options = dict(word[2:].split("=") for word in words if word.startswith("--"))
        *sources, target = (word for word in words if not word.startswith("--"))
        folder = layers / target.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            copy = folder / Path(source).name
            shutil.copy(context / source, copy)
            copy.chmod(int(options["chmod"], 8))
            if "chown" in options:
                assert options["chown"] == "orthanc:orthanc"
                os.chown(copy, ORTHANC_USER, ORTHANC_USER)


def hide(folder: Path) -> Path:
    """An empty folder of a layer, whatever is below it in lower layers (overlayfs)."""
    folder.mkdir(parents=True)
    os.setxattr(folder, "trusted.overlay.opaque", b"y")
    return folder


@dataclass(frozen=True)
class ContainerImage:
    """orthancteam/orthanc, over the root file system of a Debian with Orthanc.

    Not in it: the image's own Linux (an Ubuntu) and its own build of Orthanc.
    """

    root: Path
    layers: Path

    def run(self, work: Path, limits: Limits, volume: str) -> list[str]:
        """A launcher that starts what the image starts, whatever command follows, below `work`.

        As "docker run", with --read-only --tmpfs as orthancteam/orthanc wants it, --user,
        --security-opt seccomp=, and with a new volume.
        """
        work.mkdir()
        steps = [
            f"mount -t tmpfs tmpfs {shlex.quote(str(work))}",
            f"cd {shlex.quote(str(work))}",
            "mkdir upper work root",
            f"cp -a {shlex.quote(str(self.layers))} layers",  # overlayfs refuses nested ones
            f"mount -t overlay -o lowerdir=layers:{self.root},upperdir=upper,workdir=work "
            "overlay root",
            "mount -t proc proc root/proc",
            "mount --rbind /dev root/dev",
            # It takes the owner of the image's folder; one that the image does not have is root's
            f"mkdir -p root{volume}",
            f"owner=$(stat -c uid=%u,gid=%g,mode=%a root{volume})",
            f'mount -t tmpfs -o "$owner" tmpfs root{volume}',
        ]
        if limits.read_only:
            steps += [
                "mkdir -p root/run/orthanc/plugins",
                "mount -t tmpfs -o mode=1777 tmpfs root/tmp",
                "mount -t tmpfs -o mode=1777 tmpfs root/run/orthanc/plugins",
                "mount -o remount,ro root",
            ]
        entry = ["/docker-entrypoint.sh", "/tmp/orthanc.json"]
        steps.append(limits.make_command(*entry, root="root"))
        return make_launcher(steps)


def unpack_orthancteam(sources: Path, root: Path, layers: Path) -> ContainerImage:
    """orthancteam/orthanc by the sources of orthanc-server/orthanc-builder, docker/orthanc."""
    hide(layers / "etc/orthanc")
    startup = hide(layers / "startup")
    for pattern in ("*.json", "generateConfiguration.py", "helpers.py", "configurator.py"):
        for path in sources.glob(pattern):
            shutil.copy(path, startup)
    shutil.copy(sources / "docker-entrypoint.sh", layers)
    (layers / "docker-entrypoint.sh").chmod(0o755)
    (layers / "etc/hostid").write_text("not-generated\n", "utf-8")

    share = layers / "usr/share/orthanc"
    for owned in (
        hide(share / "plugins"),
        hide(share / "plugins-available"),
        hide(layers / "var/lib/orthanc"),
        layers / "etc/hostid",
    ):
        os.chown(owned, ORTHANC_USER, ORTHANC_USER)

    # "pip install envsubst" of the image
    packages = layers / "usr/lib/python3/dist-packages"
    packages.mkdir(parents=True)
    shutil.copy(Path(sysconfig.get_path("purelib")) / "envsubst.py", packages)
    return ContainerImage(root, layers)


def list_mount_options(pid: int, point: str) -> list[str]:
    """Of what is mounted there, as the process sees it (proc(5), mountinfo)."""
    mounts = run(["cat", f"/proc/{pid}/mountinfo"], check=True).stdout
    found = [line.split() for line in mounts.splitlines() if line.split()[4] == point]
    return found[-1][5].split(",")
