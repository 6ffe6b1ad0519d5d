"""manyclass serve: what it says before there is a server; the server itself is in tests/server."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["fastapi", "uvicorn"])
def test_without_its_packages_it_says_what_to_install(tmp_path, package):
    script = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['manyclass', 'serve', '.']\n"
        "from manyclass.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert 'pip install "manyclass[serve]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_the_library_does_not_load_them():
    script = (
        "import manyclass, sys; print([name for name in ('fastapi', 'uvicorn', 'starlette') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
