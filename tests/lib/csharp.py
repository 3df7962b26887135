"""C# programs of the tests, built with the compiler of an installed SDK alone: no project, no packages. Each is built
once, and kept."""
import json
import pathlib
import shutil
import subprocess

import kept
import polyperf


def root():
    program = shutil.which("dotnet")
    if not program:
        polyperf.skip("dotnet is not installed")
    return pathlib.Path(program).resolve().parent


def newest(folder):
    found = sorted(folder.glob("[0-9]*"), key=lambda path: [int(part) for part in path.name.split("-")[0].split(".")])
    if not found:
        polyperf.skip(f"dotnet has no {folder.name}")
    return found[-1]


def framework():
    """The folder with the assemblies of the newest runtime."""
    return newest(root() / "shared" / "Microsoft.NETCore.App")


def compile_to(folder, source, name, options):
    place = framework()
    compiler = newest(root() / "sdk") / "Roslyn" / "bincore" / "csc.dll"
    copy, output = folder / source.name, folder / f"{name}.dll"
    shutil.copy(source, copy)
    references = [f"-r:{path}" for path in sorted(place.glob("System*.dll"))]
    command = ["dotnet", compiler, "-nologo", "-noconfig", "-nostdlib", "-unsafe", *references, f"-out:{output}",
               *options, copy]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        polyperf.fail(f"{source} does not compile: {done.stdout[-2000:]}{done.stderr[-1000:]}")
    settings = {"framework": {"name": "Microsoft.NETCore.App", "version": place.name},
                "configProperties": {"System.Globalization.Invariant": True}}
    output.with_suffix(".runtimeconfig.json").write_text(json.dumps({"runtimeOptions": settings}))


def build(source, name, *options):
    """The assembly NAME.dll, which `dotnet` runs; its source lies beside it, and its PDB if there is one."""
    parts = [source, name, *options, newest(root() / "sdk"), framework(), pathlib.Path(__file__)]
    return kept.folder(name, parts, lambda folder: compile_to(folder, source, name, options)) / f"{name}.dll"


def build_workload(source, name):
    """As a project of a user's is, for release."""
    return build(source, name, "-optimize", "-debug:portable")
