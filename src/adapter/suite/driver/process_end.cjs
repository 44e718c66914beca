// Ends a process whose tests are over and that waits for something, such as a timer or a server that they left behind:
// the whole run would wait for it.
'use strict';
const { usual } = require('./sync_limit.cjs');

// Read before tests can replace them.
const { clearTimeout, setTimeout } = globalThis;
const { exit } = process;
let timer;

function endProcess() {
  const waitsFor = [...new Set(process.getActiveResourcesInfo())].filter((kind) => !kind.endsWith('Wrap'));
  const what = waitsFor.length > 0 ? ` and waits for: ${waitsFor.join(', ')}` : '';
  console.error(`Error: the process did not end within ${usual} s after its last test${what}`);
  // Mocha would say with its exit code that no test has failed.
  process.exit = () => exit(1);
  process.on('exit', () => {
    process.exitCode = 1;
  });
  exit(1);
}

// Whoever finds another test takes it back.
exports.awaitsMore = () => clearTimeout(timer);

exports.awaitsEnd = () => {
  clearTimeout(timer);
  if (usual > 0) timer = setTimeout(endProcess, usual * 1000).unref();
};
