"""Which samples of a recording are in managed code of .NET, and how many of those have a name.

Judged by mappings alone, whatever polyperf calls them: managed is what lies in an assembly that is mapped, or in
executable memory that no file stands behind. There the runtime keeps what it compiles, and its stubs.
"""
import bisect
import collections
import zipfile

import live
import oracle

NAMED_SHARE = 99.0  # percent
# Stubs that are told of nowhere: counting calls before a method is compiled again and, with W^X, the helpers of
# precompiled code. They have one name for all.
UNTOLD, UNTOLD_SHARE = "[unannounced]", 20.0
ASSEMBLIES = (".dll", ".exe")

Managed = collections.namedtuple("Managed", "sample mapping kind")


def kind_of(mapping):
    """jit, image, or None for what is native."""
    if oracle.ANONYMOUS.match(mapping.path):
        return "jit"
    return "image" if mapping.path.lower().endswith(ASSEMBLIES) else None


def samples_in_managed_code(recording):
    memory, found = oracle.Memory(), []
    for event in oracle.read_events(recording.read_bytes()):
        memory.take(event)
        if isinstance(event, oracle.Sample) and event.frames[0] < oracle.KERNEL_START:
            mapping = memory.mapping_at(event.pid, event.frames[0])
            kind = mapping and kind_of(mapping)
            if kind:
                found.append(Managed(event, mapping, kind))
    return found


def announced(recording):
    """All code that runtimes told of, by process id, in the order of addresses."""
    codes = collections.defaultdict(list)
    with zipfile.ZipFile(recording) as members:
        for name in members.namelist():
            folder, _, rest = name.partition("/")
            pid, _, rest = rest.partition("/")
            if folder != "process":
                continue
            if rest.startswith("jit/"):
                codes[int(pid)] += oracle.read_jitdump(members.read(name))
            elif rest == "perf.map":
                codes[int(pid)] += oracle.read_map(members.read(name))
    return {pid: sorted(found, key=lambda code: code.start) for pid, found in codes.items()}


def place_of(managed, codes):
    """Where an address is that has no name: the file, or the code before it, and how far behind its start."""
    sample, mapping, kind = managed
    address = sample.frames[0]
    if kind == "image":
        return f"{mapping.path} + {address - mapping.start >> 12 << 12:x}"
    here = codes.get(sample.pid, [])
    at = bisect.bisect_right(here, address, key=lambda code: code.start) - 1
    if at < 0:
        return f"page {address >> 12 << 12:x} of {mapping.path}, before all code that is told of"
    before = here[at]
    distance = address - before.start
    return f"{distance if distance < 128 else 'some'} bytes behind {before.name[:60]} of {before.end - before.start}"


def naming_faults(program, recording, minimum=100, floor=NAMED_SHARE):
    """The share of samples in managed code that have a name, printed, and against the floor."""
    samples = samples_in_managed_code(recording)
    leaves = live.leaf_names(program, recording)
    unnamed, counts, named, untold = [], collections.Counter(), collections.Counter(), 0
    for managed in samples:
        name, trust = leaves.get((managed.sample.tid, managed.sample.time), ("", "unknown"))
        untold += name == UNTOLD
        counts[managed.kind] += 1
        named[managed.kind] += trust != "unknown"
        if trust == "unknown":
            unnamed.append(managed)
    share = 100 * named.total() / len(samples) if samples else 0
    kinds = ", ".join(f"{named[kind]} of {counts[kind]} in {kind}" for kind in sorted(counts))
    processes = len({managed.sample.pid for managed in samples})
    untold_share = 100 * untold / max(len(samples), 1)
    print(f"  {len(samples)} managed samples in {processes} processes, {share:.2f} % named: {kinds}; "
          f"{untold_share:.2f} % stubs that are told of nowhere")
    if unnamed:
        codes = announced(recording)
        worst = collections.Counter(place_of(managed, codes) for managed in unnamed)
        for place, count in worst.most_common(8):
            print(f"    unnamed {count}: {place}")
    if len(samples) < minimum:
        return [f"only {len(samples)} managed samples"]
    faults = [f"{share:.2f} % of the managed samples have a name"] if share < floor else []
    if untold_share > UNTOLD_SHARE:
        faults.append(f"{untold_share:.2f} % of the managed samples are in stubs that are told of nowhere")
    return faults
