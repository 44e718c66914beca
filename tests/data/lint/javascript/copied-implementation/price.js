export function discount(price, percent) {
  if (percent > 100) throw new RangeError('more than all');
  return (price * (100 - percent)) / 100;
}

export const pause = (milliseconds, value) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds * 2, value));
