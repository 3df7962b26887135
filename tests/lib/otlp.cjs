// What protobufjs reads in an export to OpenTelemetry: a JSON of its samples, one for each time.
//     node otlp.cjs SCHEMA FILE
"use strict";
const { readFileSync } = require("fs");
const protobuf = require("protobufjs");

const [schema, file] = process.argv.slice(2);
const type = protobuf.loadSync(schema).lookupType("otlp.ProfilesData");
const data = type.toObject(type.decode(readFileSync(file)), { longs: String, defaults: true });
const tables = data.dictionary;
const text = index => tables.stringTable[index];

function attributes(indices) {
  return Object.fromEntries(indices.map(index => {
    const { keyStrindex, value } = tables.attributeTable[index];
    return [text(keyStrindex), value.stringValue ?? value.intValue];
  }));
}

function framesOf(index) {
  const location = tables.locationTable[index];
  return location.lines.map((line, at) => {
    const of = tables.functionTable[line.functionIndex];
    return [text(of.nameStrindex), text(of.filenameStrindex), Number(line.line),
      at + 1 < location.lines.length];
  });
}

const samples = [];
data.resourceProfiles[0].scopeProfiles[0].profiles.forEach((profile, event) => {
  for (const sample of profile.samples) {
    const of = attributes(sample.attributeIndices);
    const frames = tables.stackTable[sample.stackIndex].locationIndices.flatMap(framesOf);
    sample.values.forEach((value, at) => samples.push({
      pid: Number(of["process.pid"]),
      tid: Number(of["thread.id"]),
      event,
      time_ns: sample.timestampsUnixNano[at],
      period: Number(value),
      frames,
    }));
  }
});
process.stdout.write(JSON.stringify(samples));
