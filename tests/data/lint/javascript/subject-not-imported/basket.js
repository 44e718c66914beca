export const size = (basket) => basket.length;
