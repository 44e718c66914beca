export const price = (count) => count * 2;
