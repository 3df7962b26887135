"""C# programs of the tests, built with the compiler of an installed SDK alone: no project, no packages."""
import json
import pathlib
import shutil
import subprocess

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


def build(source, output, *options):
    """Compiles into the assembly `output`, which `dotnet OUTPUT` then runs."""
    compiler = newest(root() / "sdk") / "Roslyn" / "bincore" / "csc.dll"
    place = framework()
    references = [f"-r:{place / name}.dll" for name in (
        "System.Private.CoreLib", "System.Runtime", "System.Collections", "System.Collections.Immutable",
        "System.Console", "System.Linq", "System.Reflection.Metadata", "System.IO.Compression",
        "System.Threading", "System.Memory", "System.Diagnostics.Process", "System.Diagnostics.StackTrace")]
    command = ["dotnet", compiler, "-nologo", "-noconfig", "-nostdlib", "-unsafe", *references, f"-out:{output}",
               *options, source]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        polyperf.fail(f"{source} does not compile: {done.stdout[-2000:]}{done.stderr[-1000:]}")
    settings = {"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": place.name}}}
    output = pathlib.Path(output)
    output.with_suffix(".runtimeconfig.json").write_text(json.dumps(settings))
    return output
