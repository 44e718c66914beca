const test = require('ava').default ?? require('ava');
test('adds', t => t.pass());
