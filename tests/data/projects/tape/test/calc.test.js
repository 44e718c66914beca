const test = require('tape');
const { add, half } = require('../calc.js');
test('adds', t => { t.equal(add(1, 2), 3); t.equal(add(1, 2), 3); t.end(); });
test('halves', t => { t.equal(half(4), 2, 'half of four'); t.end(); });
test.skip('later', t => { t.end(); });
test('todo', { todo: true }, t => { t.ok(false, 'not yet'); t.end(); });
test('forgets', t => { t.plan(2); t.ok(true); });
