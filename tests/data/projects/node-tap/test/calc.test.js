const t = require('tap');
const { add, half } = require('../calc.js');
t.test('adds', t => { t.equal(add(1, 2), 3); t.equal(add(1, 2), 3); t.end(); });
t.test('halves', t => { t.equal(half(4), 2, 'half of four'); t.end(); });
t.test('later', { skip: true }, t => { t.end(); });
t.test('throws', t => { throw new TypeError('bad'); });
t.ok(true, 'top');
