// What pprof-format reads in a profile: a JSON of its sample types and samples.
//     node pprof.cjs FILE
"use strict";
const { readFileSync } = require("fs");
const { gunzipSync } = require("zlib");
const { Profile } = require("pprof-format");

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])));
const text = id => profile.stringTable.strings[Number(id)];
const byId = items => new Map(items.map(item => [Number(item.id), item]));
const functions = byId(profile.function);
const locations = byId(profile.location);
const mappings = byId(profile.mapping);

function framesOf(id) {
  const location = locations.get(Number(id));
  return location.line.map((line, index) => {
    const of = functions.get(Number(line.functionId));
    return {
      name: text(of.name),
      file: text(of.filename),
      line: Number(line.line),
      inlined: index + 1 < location.line.length,
      address: Number(location.address),
      mapping: Number(location.mappingId),
    };
  });
}

process.stdout.write(JSON.stringify({
  types: profile.sampleType.map(type => [text(type.type), text(type.unit)]),
  mappings: [...mappings.values()].map(mapping => text(mapping.filename)),
  time_ns: String(profile.timeNanos),
  samples: profile.sample.map(sample => ({
    values: sample.value.map(Number),
    labels: Object.fromEntries(sample.label.map(label =>
      [text(label.key), Number(label.str) ? text(label.str) : Number(label.num)])),
    frames: sample.locationId.flatMap(framesOf),
  })),
}));
