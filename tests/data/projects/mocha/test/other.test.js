const assert = require('node:assert');
describe('calc', () => { it('adds', () => assert.ok(true)); });
