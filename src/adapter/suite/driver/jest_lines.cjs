// One more setup file for Jest's test environments; see script_trace.cjs.
const { createTrace } = require('./script_trace.cjs');

const trace = createTrace();
// Jest gives the whole name only; the report gives its parts.
beforeEach(() => trace.began(expect.getState().testPath, null));
afterEach(() => trace.ended([expect.getState().currentTestName]));
afterAll(() => trace.closed());
