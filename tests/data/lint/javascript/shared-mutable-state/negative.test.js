let count = 0;
beforeEach(() => { count = 0; });
test('a', () => { count += 1; expect(count).toBe(1); });
