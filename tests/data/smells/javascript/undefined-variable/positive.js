export function total(items) {
  return items.length + shiping; // expect: undefined-variable
}
