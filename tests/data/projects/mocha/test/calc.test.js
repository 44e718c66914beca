const assert = require('node:assert');
const { add, half } = require('../calc.js');
describe('calc', () => {
  it('adds', () => assert.strictEqual(add(1, 2), 3));
  it('halves', () => assert.strictEqual(half(4), 2));
  it('same', () => {});
  it('same', () => { throw new Error('second'); });
  it.skip('later', () => {});
  it('pending');
  describe('hooks', () => { before(() => { throw new TypeError('no set-up'); }); it('never runs', () => {}); it('neither', () => {}); });
});
