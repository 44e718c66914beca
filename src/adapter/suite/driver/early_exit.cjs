// Node.js calls a test file passed whose process ends with 0, although the tests behind are never run.
'use strict';

const { exit } = process;

// Hooks end it when their tests are over, and so does `--test-force-exit`.
function isRightful(stack) {
  const [, , caller = ''] = stack.split('\n');
  return caller.includes('(node:internal/test_runner/') || stack.includes(' TestHook.');
}

if (process.env.NODE_TEST_CONTEXT) {
  process.exit = (code = process.exitCode) => {
    const hasTests = process.moduleLoadList.includes('NativeModule internal/test_runner/harness');
    if (hasTests && Number(code ?? 0) === 0) {
      const { stack } = new Error('`process.exit` ended the process before all tests of this file had run');
      if (!isRightful(stack)) {
        console.error(stack);
        code = 1;
      }
    }
    exit(code);
  };
}
