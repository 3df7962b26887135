"""Programs of .NET for tests: built, published for another runtime, and what they are configured by."""
import os
import pathlib
import re
import shutil
import subprocess

import kept
import polyperf

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "live" / "workloads"
# Nothing stays behind to be reused: it would hold files in TMPDIR, and be recorded by others.
ALONE = ("-nologo", "-nodeReuse:false", "-p:UseSharedCompilation=false")
QUIET = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
         "DOTNET_GENERATE_ASPNET_CERTIFICATE": "false", "DOTNET_CLI_USE_MSBUILD_SERVER": "0"}
LIBRARY_PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
  </PropertyGroup>
</Project>
"""


def sdk():
    """The program `dotnet`, which has an SDK, and the SDK's folder."""
    program = shutil.which("dotnet")
    if not program:
        polyperf.skip("dotnet is not installed")
    listed = subprocess.run([program, "--list-sdks"], capture_output=True, text=True).stdout.splitlines()
    if not listed:
        polyperf.skip("dotnet has no SDK")
    version, _, folder = listed[-1].partition(" ")
    return program, pathlib.Path(folder.strip("[]")) / version


def run(folder, *words):
    """With the user's own configuration of packages; its output where it fails, else None."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=240,
                          env={**os.environ, **QUIET})
    return done.stdout + done.stderr if done.returncode else None


def fill(folder, words, files, missing):
    program, _ = sdk()
    for path in files:
        shutil.copy(path, folder)
    said = run(folder, program, *words, *ALONE, "-v", "q", "-c", "Release", "-p:NuGetAudit=false", "-o", "out",
               files[-1].name)
    if said and missing and re.search(missing, said):
        polyperf.skip("what it is built with cannot be had: " + re.sub(r"\s+", " ", said)[-300:])
    if said:
        polyperf.fail(said[-2000:])


def made(words, files, missing=None):
    """The folder with what `dotnet WORDS` makes of the files, of which the last is the project: once for all tests.
    Skips where it fails and says what is `missing`.
    """
    return kept.folder(f"{files[-1].stem}-{words[0]}", [*words, *files, sdk()[1]],
                       lambda folder: fill(folder, words, files, missing)) / "out"


def build(source, project):
    """The assembly that a workload becomes which needs more than the compiler."""
    return made(["build"], [WORKLOADS / source, WORKLOADS / project]) / f"{pathlib.Path(project).stem}.dll"


def publish(folder, framework):
    """The twin with the newest runtime that the SDK knows of that framework; skips where that cannot be had."""
    program, _ = sdk()
    folder.mkdir()
    shutil.copy(WORKLOADS / "Work.cs", folder)
    # Given on the command line, it would not reach the restoring.
    project = (WORKLOADS / "work.csproj").read_text()
    (folder / "work.csproj").write_text(project.replace("net$(BundledNETCoreAppTargetFrameworkVersion)", framework))
    said = run(folder, program, "publish", *ALONE, "-v", "q", "-c", "Release", "-r", "linux-x64", "--self-contained",
               "-p:UseAppHost=true", "-p:NuGetAudit=false", "-o", "out", "work.csproj")
    if said:
        if "NU1" in said:
            polyperf.skip(f"no runtime of {framework} can be restored: {said.strip().splitlines()[0]}")
        polyperf.fail(said[-2000:])
    return folder / "out" / "work"


def write_sources(folder, files, methods=20):
    """Classes with generic calls, lambdas and iterators, for a compiler to work on."""
    folder.mkdir()
    for number in range(files):
        body = "\n".join(
            f"    public static int M{k}(int a, string b) {{ var l = new List<int>(); "
            f"for (int i = 0; i < a; i++) l.Add(i * {k} + b.Length); "
            "return l.Where(x => x % 3 == 0).Select(x => x + b.Length).Sum(); }" for k in range(methods))
        (folder / f"C{number}.cs").write_text(
            f"using System.Collections.Generic;\nusing System.Linq;\npublic static class C{number} {{\n{body}\n}}\n")


def compiler_command(folder, files):
    """Roslyn in a process of its own, compiling generated sources."""
    program, sdk_folder = sdk()
    sources = folder / "sources"
    write_sources(sources, files)
    packs = sorted((sdk_folder.parent.parent / "packs" / "Microsoft.NETCore.App.Ref").glob("*/ref/*"))
    if not packs:
        polyperf.skip("there are no reference assemblies")
    response = folder / "references.rsp"
    response.write_text("".join(f'-r:"{path}"\n' for path in sorted(packs[-1].glob("*.dll"))))
    return [program, "exec", sdk_folder / "Roslyn" / "bincore" / "csc.dll", "-nologo", "-target:library", "-noconfig",
            f"-out:{folder / 'out.dll'}", f"@{response}", *sorted(sources.glob("*.cs"))]


def project_to_build(folder):
    """A console project, and the command that builds it in many processes."""
    program, _ = sdk()
    write_sources(folder, 20)
    (folder / "Main.cs").write_text("System.Console.WriteLine(C1.M1(10, \"a\"));\n")
    (folder / "console.csproj").write_text(LIBRARY_PROJECT)
    # The analyzers are one more program in the compiler, and say nothing.
    return [program, "build", *ALONE, "-v", "q", "-p:RunAnalyzers=false", "-p:UseAppHost=false", "console.csproj"]
