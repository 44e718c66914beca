test('a', () => { expect(2 + 2).toBe(4); }); // expect: subject-not-imported
