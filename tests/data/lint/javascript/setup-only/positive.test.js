test('a', () => { // expect: setup-only
  const items = [2];
  items.push(4);
});
