const none = require('./none');

test('never', () => none());
