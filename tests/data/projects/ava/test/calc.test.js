const test = require('ava').default ?? require('ava');
const { add, half } = require('../calc.js');
test('adds', t => t.is(add(1, 2), 3));
test('halves', t => t.is(half(4), 2));
test.skip('later', t => t.pass());
test.todo('some day');
test.failing('known', t => t.fail());
test('throws', t => { throw new TypeError('bad') });
test('none', t => {});
