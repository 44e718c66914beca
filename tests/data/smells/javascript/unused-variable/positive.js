export function total(items) {
  const tax = 3; // expect: unused-variable
  return items.length;
}
