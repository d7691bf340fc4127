# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line needs: "all" that run.sh installs and builds, or no more than a client.

run.sh asks before it does. A command line that is none ends here.
"""

import sys

from lab.__main__ import EXPERIMENTS, parse_arguments


def main() -> None:
    experiment = EXPERIMENTS.get(parse_arguments(sys.argv[1:]).command)
    if experiment is not None and experiment.is_local:
        print("all")


if __name__ == "__main__":
    main()
