test('a', () => {}); // expect: empty-test
