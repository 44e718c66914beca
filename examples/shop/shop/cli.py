"""The command line."""

import argparse
import sys

from shop import money, storage


def parser():
    parser = argparse.ArgumentParser(prog="shop")
    parser.add_argument("--data", required=True)
    verbs = parser.add_subparsers(dest="verb", required=True)
    add = verbs.add_parser("add")
    add.add_argument("code")
    add.add_argument("name")
    add.add_argument("price")
    verbs.add_parser("list")
    show = verbs.add_parser("show")
    show.add_argument("code")
    stock = verbs.add_parser("stock")
    stock.add_argument("code")
    stock.add_argument("quantity", type=int)
    remove = verbs.add_parser("remove")
    remove.add_argument("code")
    return parser


def main(arguments):
    options = parser().parse_args(arguments)
    try:
        data = storage.load(options.data)
        text = run(options, data)
    except (ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    storage.save(options.data, data)
    if text:
        print(text)
    return 0


def run(options, data):
    known = {product["code"]: product for product in data["products"]}
    if options.verb == "add":
        if options.code in known:
            raise ValueError(f"known already: {options.code}")
        price = money.parse(options.price)
        data["products"].append({"code": options.code, "name": options.name, "price": price})
        return f"added {options.code}"
    if options.verb == "list":
        rows = sorted(known.values(), key=lambda product: product["code"])
        return "\n".join(f"{row['code']:8} {money.show(row['price']):>8} {row['name']}" for row in rows)
    product = known.get(options.code)
    if product is None:
        raise ValueError(f"unknown: {options.code}")
    if options.verb == "show":
        stock = data["stock"].get(options.code, 0)
        return f"{product['name']}: {money.show(product['price'])}, {stock} on stock"
    if options.verb == "stock":
        data["stock"][options.code] = data["stock"].get(options.code, 0) + options.quantity
        return f"{data['stock'][options.code]} on stock"
    data["products"].remove(product)
    return f"removed {options.code}"
