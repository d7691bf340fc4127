# SPDX-License-Identifier: GPL-3.0-or-later
"""Executes a command under a seccomp profile in Docker's format, as a container's first process.

    seccomp.py PROFILE COMMAND [ARGUMENT...]

What depends on capabilities is decided by those that Docker leaves a container. Needs libseccomp.
"""

import ctypes
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

Rule = dict[str, Any]

# What "docker run" leaves of the capabilities that profiles ask for
CAPABILITIES = {"CAP_SYS_CHROOT"}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

# seccomp.h of libseccomp
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
COMPARISONS = {
    f"SCMP_CMP_{name}": number
    for number, name in enumerate(("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"), 1)
}


class Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def is_for_this_container(rule: Rule) -> bool:
    includes, excludes = rule.get("includes", {}), rule.get("excludes", {})
    architecture = ARCHITECTURES[platform.machine()]
    return (
        set(includes.get("caps", [])) <= CAPABILITIES
        and architecture in includes.get("arches", [architecture])
        and not set(excludes.get("caps", [])) & CAPABILITIES
        and architecture not in excludes.get("arches", [])
    )


def get_action(name: str, error: int) -> int:
    return ALLOW if name == "SCMP_ACT_ALLOW" else ERRNO | error


def load(profile: dict[str, Any]) -> None:
    """From now on, for this process and what it executes."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    default = get_action(profile["defaultAction"], profile["defaultErrnoRet"])
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(default)))
    for rule in filter(is_for_this_container, profile["syscalls"]):
        action = ctypes.c_uint32(get_action(rule["action"], rule.get("errnoRet", 1)))
        comparisons = [
            Comparison(
                entry["index"], COMPARISONS[entry["op"]], entry["value"], entry.get("valueTwo", 0)
            )
            for entry in rule.get("args", [])
        ]
        array = (Comparison * len(comparisons))(*comparisons)
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number >= 0 and action.value != default:  # not all exist in each architecture
                code = library.seccomp_rule_add_array(
                    context, action, number, len(comparisons), array
                )
                if code:
                    raise OSError(-code, f"seccomp: {name}")
    code = library.seccomp_load(context)
    if code:
        raise OSError(-code, "seccomp_load")


def main() -> None:
    load(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
