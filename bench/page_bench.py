"""The page of many samples: how long to write it, how large it is, and how soon a browser shows it."""
import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TARGET_S = 3.0


def look(page, environment):
    """What page.cjs found, or None where there is no browser or no driver for it."""
    readers = pathlib.Path(os.environ.get("POLYPERF_READERS", HERE.parent / "build/readers"))
    if not (readers / "list").exists() or not shutil.which("chromium") or not shutil.which("node"):
        print("page: no Chromium, or tools/readers.sh was not run")
        return None
    done = subprocess.run(["node", str(HERE / "page.cjs"), str(page)], capture_output=True, text=True, check=True,
                          env={**environment, "NODE_PATH": str(readers / "node_modules")})
    return json.loads(done.stdout)


def measure(table, folder, polyperf, timed, environment, runs):
    """`timed(command, folder, runs)` gives the least of the runs."""
    few, many = folder / "few.html", folder / "many.html"
    command = [polyperf, "report", "--self-contained", "-i"]
    page = timed([*command, "many.data", f"--html={many}"], folder, runs)
    timed([*command, "few.data", f"--html={few}"], folder, 1)
    table.add("page, a million samples: to write it", "-", f"{page.cpu:.2f} s of a processor", "-",
              f"at most {TARGET_S:g} s", page.cpu <= TARGET_S)
    sizes = [path.stat().st_size / 1e6 for path in (few, many)]
    table.add("its size, of a fifth and of all samples", f"{sizes[0]:.2f} MB", f"{sizes[1]:.2f} MB",
              f"{sizes[1] / sizes[0]:.1f}x", "at most 3x", sizes[1] <= 3 * sizes[0])
    found = look(many, environment)
    if found:
        seconds = min(found["seconds"])
        table.add("from opening it to the first picture", "-", f"{seconds:.2f} s", "-", f"at most {TARGET_S:g} s",
                  seconds <= TARGET_S)
        table.add("after a brush over a third of the time", "-", f"{min(found['brush']):.2f} s", "-", "at most 0.5 s",
                  min(found["brush"]) <= 0.5)
        print(f"  the browser's heap: {found['heap_mb']:.0f} MB")
