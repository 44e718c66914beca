/** TODO: implement the other rule too. */
export function total(items) {
  // TODO: faster
  return items.length;
}
