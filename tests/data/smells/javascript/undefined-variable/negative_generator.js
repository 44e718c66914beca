export const walk = function* walkAll(list) {
  for (const item of list) yield walkAll.name + item;
};
