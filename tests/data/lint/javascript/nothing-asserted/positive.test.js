test('a', () => { // expect: nothing-asserted
  const items = [2];
  items.push(4);
});
