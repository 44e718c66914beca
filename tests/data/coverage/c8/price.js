export function parsePrice(text) {
  if (!text) {
    throw new TypeError("empty price");
  }
  return Number(text.replace("$", ""));
}

export function discount(price, percent) {
  return percent >= 50 ? price / 2 : (price * (100 - percent)) / 100;
}
