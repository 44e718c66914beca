let count = 0; // expect: shared-mutable-state
test('a', () => { count += 1; expect(count).toBe(1); });
test('b', () => { expect(count).toBeLessThan(3); });
