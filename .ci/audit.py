"""Known weaknesses of the packages that are installed, by pip-audit: told, and a failure.

Where they cannot be looked up, for lack of a network, that is said and no failure: pip-audit itself calls a package
that it could not look up skipped, and ends well if all of them are.
"""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

HOME = Path("build/audit")


def main() -> int:
    """0 if nothing is known or nothing could be looked up, 1 if there are weaknesses."""
    try:
        packages = look_up()
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"audit skipped: pip-audit cannot be installed or run here: {error}")
        return 0
    known = [one for one in packages if "skip_reason" not in one]
    if not known:
        print(f"audit skipped: none of {len(packages)} packages can be looked up here")
        return 0
    weak = [(one, weakness) for one in known for weakness in one["vulns"]]
    for one, weakness in weak:
        mended = ", ".join(weakness["fix_versions"]) or "no version yet"
        print(f"{one['name']} {one['version']} has {weakness['id']}; mended in {mended}")
    print(f"audit: {len(known)} of {len(packages)} packages looked up, {len(weak)} known weaknesses")
    return 1 if weak else 0


def look_up() -> list[dict]:
    """What pip-audit, in an environment of its own, says of each package of this one."""
    if not (HOME / "bin/pip-audit").exists():
        venv.create(HOME, with_pip=True, clear=True)
        install = [HOME / "bin/python", "-m", "pip", "install", "--quiet", "pip-audit"]
        subprocess.run(install, check=True, capture_output=True)
    audit = [HOME / "bin/pip-audit", "--path", sysconfig.get_path("purelib"), "--progress-spinner", "off", "-f", "json"]
    # It ends with 1 if there are weaknesses, and so it does if it fails; but then it prints no JSON.
    return json.loads(subprocess.run(audit, capture_output=True, text=True).stdout)["dependencies"]


if __name__ == "__main__":
    sys.exit(main())
