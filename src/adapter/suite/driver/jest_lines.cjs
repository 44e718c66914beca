// One more setup file for Jest's test environments; see script_trace.cjs.
const { createTrace } = require('./script_trace.cjs');

const trace = createTrace();
// Jest tells the whole name only; its parts are told by the report.
beforeEach(() => trace.began(expect.getState().testPath, null));
afterEach(() => trace.ended([expect.getState().currentTestName]));
afterAll(() => trace.closed());
