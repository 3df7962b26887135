#!/usr/bin/env python3
"""Compares the functions that symbol_lookup and `perf script` name for one ELF object.

usage: perf_names.py LOOKUP OBJECT COUNT MIN_PERCENT [--demangle]

Writes a perf.data file whose samples lie at COUNT spread addresses of the object's code
(starts, second bytes, middles and last bytes of functions, and between them), lets perf
name them, lets LOOKUP name the same file offsets, and prints every class of difference.
For /proc/kallsyms the addresses are the kernel's own. Exits with 77 (skipped) where perf or the object is missing.

What remains different, with perf 6.1, and why we leave it:
- PLT stubs. perf counts through .rela.plt and goes wrong where a relocation has no name
  (libc's indirect functions: it prints "@plt" and shifts the rest); stubs in .plt.got and
  .plt.sec it does not know at all. We read the slot that each stub jumps through.
- A function without a size at the end of its section (_init): perf lets it reach into the
  next section.
- Data in .text (OpenSSL's tables): perf names objects too. No sample lies there.
- In the kernel: perf takes the last of all aliases, so "__pi_memset", not "memset".
- With --demangle: perf compares the names of aliases after demangling (fewer underscores,
  then longer), we before: of two C++ functions at one address it may show the other.
"""
import collections, mmap, os, random, shutil, struct, subprocess, sys, tempfile

BASE = 0x7F0000000000
PAGE = 4096
SAMPLE_ID = struct.pack("<IIQ", 100, 100, 1)


def segments(image):
    """(file offset, size, address) of the executable PT_LOADs, and whether it is ET_DYN."""
    kind = struct.unpack_from("<H", image, 16)[0]
    phoff, = struct.unpack_from("<Q", image, 32)
    phentsize, phnum = struct.unpack_from("<HH", image, 54)
    found = []
    for i in range(phnum):
        p_type, flags, offset, vaddr, _, filesz = struct.unpack_from(
            "<IIQQQQ", image, phoff + i * phentsize)
        if p_type == 1 and flags & 1:
            found.append((offset, filesz, vaddr))
    return found, kind == 3


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_data(mmaps, ips, misc):
    """A process, the mapping records, one sample an address; sample_type IP | TID | TIME."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, 1 | 2 | 4, 0, 1 << 8 | 1 << 18)
    attr += bytes(112 - len(attr))
    data = record(3, 2, struct.pack("<II", 100, 100) + b"program\0" + SAMPLE_ID) + mmaps
    data += b"".join(record(9, misc, struct.pack("<QIIQ", ip, 100, 100, 2 + i))
                     for i, ip in enumerate(ips))
    attr_section = attr + struct.pack("<QQ", 0, 0)
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr_section), 104,
                         len(attr_section), 104 + len(attr_section), len(data), 0, 0)
    return header + bytes(104 - len(header)) + attr_section + data


def mmap_record(pid, start, size, offset, name, misc):
    name += bytes(8 - len(name) % 8)
    return record(1, misc, struct.pack("<IIQQQ", pid, pid, start, size, offset) + name + SAMPLE_ID)


def ask_perf(mmaps, ips, misc, options):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "perf.data")
        with open(name, "wb") as out:
            out.write(perf_data(mmaps, ips, misc))
        text = subprocess.run(["perf", "script", "-f", "-i", name, "-F", "ip,sym"] + options,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "HOME": folder}).stdout
    lines = text.decode("utf-8", "replace").splitlines()
    if len(lines) != len(ips):
        sys.exit(f"perf answered {len(lines)} lines for {len(ips)} samples")
    return [line.split(None, 1)[1] if " " in line.strip() else "[unknown]" for line in lines]


def ask_us(command, numbers):
    done = subprocess.run(command, input="".join(f"{n:x}\n" for n in numbers),
                          stdout=subprocess.PIPE, check=True, text=True, errors="replace")
    return done.stdout.splitlines()


def starts(lookup, path):
    done = subprocess.run([lookup, "--starts", path], stdout=subprocess.PIPE, check=True,
                          text=True)
    return [tuple(int(x, 16) for x in line.split()) for line in done.stdout.splitlines()]


def compare_object(lookup, path, count, demangle):
    """File offsets, what perf calls them, what we call them."""
    path = os.path.realpath(path)
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as image:
        loads, is_dyn = segments(image)
    wanted = set()
    ranges = starts(lookup, path)
    for start, end in random.sample(ranges, min(len(ranges), count // 5)):
        wanted |= {start, start + 1, (start + end) // 2, end - 1}
    for offset, size, _ in loads:
        wanted |= {random.randrange(offset, offset + size) for _ in range(count // 5)}
    offsets = sorted(o for o in wanted if any(a <= o < a + s for a, s, _ in loads))
    bias = BASE if is_dyn else 0
    mmaps = b""
    for offset, size, vaddr in loads:
        down = offset % PAGE
        mmaps += mmap_record(100, bias + vaddr - down, (size + down + PAGE - 1) // PAGE * PAGE,
                             offset - down, path.encode(), 2)
    ips = [next(bias + v + wanted - o for o, s, v in loads if o <= wanted < o + s)
           for wanted in offsets]
    theirs = ask_perf(mmaps, ips, 2, [] if demangle else ["--no-demangle"])
    return offsets, theirs, ask_us([lookup] + ["--demangle"] * demangle + [path], offsets)


def compare_kernel(lookup, path, count):
    with open(path) as text:
        symbols = [line.split() for line in text]
    code = [int(s[0], 16) for s in symbols if s[1] in "tTwW" and len(s) == 3]
    if not any(code):
        print("skipped: the kernel hides its addresses here")
        sys.exit(77)
    first = min(a for a in code if a)
    ips = sorted({random.choice(code) + random.randrange(64) for _ in range(count)})
    mmaps = mmap_record(0xFFFFFFFF, first, max(code) + PAGE - first, first,
                        b"[kernel.kallsyms]_text", 1)
    theirs = ask_perf(mmaps, ips, 1, ["--kallsyms", path])
    return ips, theirs, ask_us([lookup, "--kallsyms", path], ips)


def main():
    lookup, path, count, least = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    if not shutil.which("perf"):
        print("skipped: no perf here")
        sys.exit(77)
    if not os.path.exists(path):
        print(f"skipped: no {path} here")
        sys.exit(77)
    random.seed(1)
    if path == "/proc/kallsyms":
        places, theirs, ours = compare_kernel(lookup, path, count)
    else:
        places, theirs, ours = compare_object(lookup, path, count,
                                              sys.argv[5:] == ["--demangle"])
    same, classes = 0, collections.defaultdict(list)
    for place, a, b in zip(places, theirs, ours):
        if a == b:
            same += 1
        else:
            kind = ("only perf" if b == "[unknown]" else "only polyperf" if a == "[unknown]"
                    else "other name")
            classes[kind].append(f"  {place:x}: perf {a}, polyperf {b}")
    percent = 100 * same / len(places)
    for kind, lines in classes.items():
        print(f"{kind}: {len(lines)}")
        print("\n".join(lines[:: max(1, len(lines) // 10)][:10]))
    print(f"{path}: {same} of {len(places)} addresses alike, {percent:.2f} %")
    sys.exit(percent < least)


main()
