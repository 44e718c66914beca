const total = (items) => items.reduce((sum, item) => sum + item.price - item.count, 0);

const first = (items) => items[0].price;

module.exports = { total, first };
