"""Reads processed profiles of the Firefox Profiler (format version 70), and finds what is wrong in
their tables.
"""
import collections
import decimal
import gzip
import json
import pathlib

Frame = collections.namedtuple("Frame", "name file line category subcategory inline_depth place")
Sample = collections.namedtuple("Sample", "time_ms weight frames")
Marker = collections.namedtuple("Marker", "name time_ms data category")
Thread = collections.namedtuple("Thread", "name pid tid process is_main samples markers")

# Columns that point into other tables: None where any number will do.
POINTERS = {
    "stackTable": {"frame": "frameTable"},
    "frameTable": {"func": "funcTable", "nativeSymbol": "nativeSymbols"},
    "funcTable": {"name": "stringArray", "resource": "resourceTable", "source": "sources"},
    "resourceTable": {"name": "stringArray"},
    "nativeSymbols": {"name": "stringArray"},
    "sources": {"filename": "stringArray"},
    "sourceLocationTable": {},
}


def parse(content):
    """Times are decimals: they are exact."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return json.loads(content, parse_float=decimal.Decimal)


def load(path):
    return parse(pathlib.Path(path).read_bytes())


def table_faults(name, table):
    return [f"{name}.{column}: {len(values)} rows of {table['length']}"
            for column, values in table.items()
            if isinstance(values, list) and len(values) != table["length"]]


def faults(document):
    """Rows that are missing, and numbers that point nowhere."""
    shared, found = document["shared"], []
    sizes = {name: table["length"] for name, table in shared.items() if name != "stringArray"}
    sizes["stringArray"] = len(shared["stringArray"])
    for name, columns in POINTERS.items():
        found += table_faults(name, shared[name])
        for column, other in columns.items():
            found += [f"{name}.{column}[{row}]: {value} is not in {other}"
                      for row, value in enumerate(shared[name][column])
                      if value is not None and not -1 <= value < sizes[other]]
    found += [f"stackTable.prefixOffset[{row}]: {offset}"
              for row, offset in enumerate(shared["stackTable"]["prefixOffset"])
              if not 0 <= offset <= row]
    categories = document["meta"]["categories"]
    frames = shared["frameTable"]
    found += [f"frame {row}: no subcategory {sub} of {category}"
              for row, (category, sub) in enumerate(zip(frames["category"], frames["subcategory"]))
              if sub >= len(categories[category]["subcategories"])]
    found += [f"frame {row}: no lib {lib}" for row, lib in enumerate(frames["lib"])
              if not -1 <= lib < len(document["libs"])]
    for thread in document["threads"]:
        samples = thread["samples"]
        found += table_faults("samples", samples) + table_faults("markers", thread["markers"])
        if sorted(samples["time"]) != samples["time"]:
            found.append(f"{thread['name']}: times go back")
    return found


class Reader:
    def __init__(self, document):
        self.document = document
        self.shared = document["shared"]
        self.strings = self.shared["stringArray"]
        self.frames = [self.frame(row) for row in range(self.shared["frameTable"]["length"])]
        self.stacks = []
        table = self.shared["stackTable"]
        for row, (frame, offset) in enumerate(zip(table["frame"], table["prefixOffset"])):
            before = self.stacks[row - offset] if offset else ()
            self.stacks.append((*before, self.frames[frame]))

    def frame(self, row):
        frames, functions = self.shared["frameTable"], self.shared["funcTable"]
        function = frames["func"][row]
        source = functions["source"][function]
        file = self.strings[self.shared["sources"]["filename"][source]] if source is not None else ""
        category = self.document["meta"]["categories"][frames["category"][row]]
        return Frame(self.strings[functions["name"][function]], file, frames["line"][row] or 0,
                     category["name"], category["subcategories"][frames["subcategory"][row]],
                     frames["inlineDepth"][row],
                     (frames["address"][row], frames["lib"][row], frames["nativeSymbol"][row]))

    def samples(self, table):
        weights = table["weight"] or [1] * table["length"]
        return [Sample(time, weight, self.stacks[stack] if stack is not None else ())
                for time, weight, stack in zip(table["time"], weights, table["stack"])]

    def markers(self, table):
        """Fields that are strings of the shared array are looked up."""
        schemas = {schema["name"]: schema for schema in self.document["meta"]["markerSchema"]}
        found = []
        for data, name, time, category in zip(table["data"], table["name"], table["startTime"],
                                              table["category"]):
            unique = {field["key"] for field in schemas[data["type"]]["fields"]
                      if field["format"] == "unique-string"}
            data = {key: self.strings[value] if key in unique else value
                    for key, value in data.items()}
            found.append(Marker(self.strings[name], time, data,
                                self.document["meta"]["categories"][category]["name"]))
        return found

    def threads(self):
        return [Thread(thread["name"], int(thread["pid"]), thread["tid"], thread["processName"],
                       thread["isMainThread"], self.samples(thread["samples"]),
                       self.markers(thread["markers"])) for thread in self.document["threads"]]
