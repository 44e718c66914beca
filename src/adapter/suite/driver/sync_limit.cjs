// Ends a function that computes without end: V8 interrupts a script that runs longer than it may, and whatever
// it has called. REGREEN_TEST_LIMIT and REGREEN_COMPUTING_LIMIT are seconds, as for the drivers of Python.
'use strict';
const { Script } = require('node:vm');

const FUNCTION = Symbol.for('regreen.limited');
const script = new Script("globalThis[Symbol.for('regreen.limited')]()", { filename: 'regreen:limited' });
// Read before tests can replace them: what they make of these must not look like a test that passes.
const { apply } = Reflect;
const { now } = performance;
const { runInThisContext } = script;
const seconds = (name) => Number(process.env[name] ?? 0);
const [usual, known] = [seconds('REGREEN_TEST_LIMIT'), seconds('REGREEN_COMPUTING_LIMIT')];
// Functions that were ended, and the seconds that the longest of the others took.
let [hung, longest] = [0, 0];

// Once one has hung, in this process or an earlier one, the next have a multiple of what the longest took.
function currentLimit() {
  const least = hung > 0 && known <= 1 ? (hung < 3 ? 1 : 0.5) : Math.max(known, 1);
  const computing = hung > 0 || known > 0 ? Math.max(least, 10 * longest) : Infinity;
  return Math.min(usual || Infinity, computing);
}

function callLimited(call) {
  const limit = currentLimit();
  if (limit === Infinity) return call();
  let isCalled = false;
  let answer;
  let thrown;
  globalThis[FUNCTION] = () => {
    isCalled = true;
    delete globalThis[FUNCTION];
    try {
      answer = call();
    } catch (error) {
      thrown = { error };
    }
  };
  const began = apply(now, performance, []);
  try {
    apply(runInThisContext, script, [{ timeout: Math.ceil(limit * 1000), displayErrors: false }]);
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    hung += 1;
    const message = `the test was stopped after ${Number(limit.toFixed(1))} s`;
    // Where it was interrupted is not known.
    throw Object.assign(new Error(message), { stack: `Error: ${message}` });
  }
  if (!isCalled) return call();
  longest = Math.max(longest, (apply(now, performance, []) - began) / 1000);
  if (thrown) throw thrown.error;
  return answer;
}

module.exports = { apply, callLimited, usual };
