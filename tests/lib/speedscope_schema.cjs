// Holds a file against speedscope's own schema of its format, and sees that this can fail.
//
//     node speedscope_schema.cjs FILE
"use strict";
const fs = require("fs");
const Ajv = require("ajv");

const schema = require("speedscope/dist/release/file-format-schema.json");
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const profile = JSON.parse(fs.readFileSync(process.argv[2]));

if (!validate(profile)) {
	console.error(validate.errors.slice(0, 5));
	process.exit(1);
}
delete profile.profiles[0].unit;
if (validate(profile)) {
	console.error("a profile without a unit is valid, too");
	process.exit(1);
}
