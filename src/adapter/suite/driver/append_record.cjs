// Adds one JSON line to a file, whatever tests in the same process make of `fs`: `appendFileSync` would call the
// `fs.writeFileSync` of the moment.
'use strict';
const { closeSync, openSync, writeSync } = require('node:fs');
const { stringify } = JSON;

exports.appendRecord = (path, record) => {
  const file = openSync(path, 'a');
  writeSync(file, `${stringify(record)}\n`);
  closeSync(file);
};
