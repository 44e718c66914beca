//! Calls between the files of small repositories, one per language and rule.

use super::*;

/// The files of a repository, each with its text.
type Files = &'static [(&'static str, &'static str)];

/// The crossing calls of a file: `caller -> file:callee(arguments) line`.
fn calls(files: Files, file: &str) -> Vec<String> {
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let texts = files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
    let found = CallIndex::from_files(&texts).calls_of(&path(file));
    let show = |one: CrossingCall| {
        let arguments = one.arguments.join(", ");
        format!("{} -> {}:{}({arguments}) {}", one.caller, one.target, one.callee, one.line)
    };
    found.into_iter().map(show).collect()
}

#[test]
fn functions_of_imported_modules_are_called_in_python() {
    let files: Files = &[
        ("shop/__init__.py", "from .cart import Cart\nfrom .tax import *\n"),
        ("shop/cart.py", "class Cart:\n    def total(self):\n        return 0\n"),
        ("shop/tax.py", "def rate(country):\n    return 1\n"),
        ("shop/a.py", "from .tax import rate as r\nx = r('DE')\n"),
        (
            "shop/b.py",
            "from . import tax\ndef f():\n    return tax.rate(\n        'DE',\n        2)\n",
        ),
        ("shop/c.py", "import shop.tax\nimport shop.tax as t\nshop.tax.rate(1)\nt.rate(2)\n"),
        (
            "d.py",
            "from shop import Cart, rate\nimport shop\nrate(1)\nCart().total()\nshop.Cart()\n",
        ),
        (
            "e.py",
            "from shop.tax import rate\ndef f(rate):\n    return rate(1)\ndef g():\n    def rate(): pass\n    rate()\n",
        ),
        ("f.py", "import json, tax\njson.dumps(rate(1))\ntax.rate(1)\n"),
        (
            "tests/test_tax.py",
            "from shop.tax import rate\ndef test_rate():\n    assert rate('FR') == 1\n",
        ),
    ];
    let table: &[(&str, &[&str])] = &[
        ("shop/a.py", &[" -> shop/tax.py:rate('DE') 2"]),
        ("shop/b.py", &["f -> shop/tax.py:rate('DE', 2) 3"]),
        ("shop/c.py", &[" -> shop/tax.py:rate(1) 3", " -> shop/tax.py:rate(2) 4"]),
        (
            "d.py",
            &[
                " -> shop/tax.py:rate(1) 3",
                " -> shop/cart.py:Cart.total() 4",
                " -> shop/cart.py:Cart() 4",
                " -> shop/cart.py:Cart() 5",
            ],
        ),
        ("e.py", &[]),
        ("f.py", &[]),
        ("tests/test_tax.py", &["test_rate -> shop/tax.py:rate('FR') 3"]),
    ];
    for (file, expected) in table {
        assert_eq!(calls(files, file), *expected, "{file}");
    }
}

#[test]
fn methods_are_called_where_the_class_of_the_object_is_known() {
    let files: Files = &[
        (
            "store.py",
            "class Repository:\n    def save(self, x):\n        pass\n    def get(self, x):\n        pass\n    @classmethod\n    def open_at(cls):\n        return cls()\n",
        ),
        (
            "logs.py",
            "class Log:\n    def rotate(self):\n        pass\n    def get(self):\n        pass\n",
        ),
        (
            "other.py",
            "class Other:\n    def save(self):\n        pass\n    def rotate(self):\n        pass\n",
        ),
        (
            "a.py",
            "from store import Repository\nclass Service:\n    def __init__(self, repo: 'Repository | None' = None):\n        self.repo = repo or Repository()\n        self.other = Repository()\n    def run(self):\n        self.other.save(1)\n        self.other.missing()\n        self.run()\n",
        ),
        (
            "b.py",
            "from store import Repository as R\nfrom typing import Optional\ndef f(repo: Optional[R], log):\n    repo.save(repo.get(1))\n    with R() as inner:\n        inner.save(2)\n    R.open_at()\n",
        ),
        (
            "c.py",
            "from store import Repository\nimport logs\ndef f(repo, log, conn):\n    repo.save(1)\n    log.get()\n    [].rotate()\n    make()[0].rotate()\n    print(str(1).save())\n",
        ),
        (
            "d.py",
            "from store import Repository\nfrom other import Other\nimport json\ndef f(repo, log: int):\n    repo.save(1)\n    log.rotate()\n    json.rotate()\n    missing.rotate()\n",
        ),
        (
            "e.py",
            "from store import Repository\nclass Cached(Repository):\n    def save(self, x):\n        super().save(x)\n        self.get(x)\n        self.save(x)\nclass Local(Cached):\n    def load(self):\n        return self.get(1)\n",
        ),
    ];
    let table: &[(&str, &[&str])] = &[
        (
            "a.py",
            &[
                "Service.__init__ -> store.py:Repository() 4",
                "Service.__init__ -> store.py:Repository() 5",
                "Service.run -> store.py:Repository.save(1) 7",
            ],
        ),
        (
            "b.py",
            &[
                "f -> store.py:Repository.save(repo.get(1)) 4",
                "f -> store.py:Repository.get(1) 4",
                "f -> store.py:Repository() 5",
                "f -> store.py:Repository.save(2) 6",
                "f -> store.py:Repository.open_at() 7",
            ],
        ),
        ("c.py", &["f -> store.py:Repository.save(1) 4", "f -> logs.py:Log.rotate() 7"]),
        ("d.py", &[]),
        (
            "e.py",
            &[
                "Cached.save -> store.py:Repository.save(x) 4",
                "Cached.save -> store.py:Repository.get(x) 5",
                "Local.load -> store.py:Repository.get(1) 9",
            ],
        ),
    ];
    for (file, expected) in table {
        assert_eq!(calls(files, file), *expected, "{file}");
    }
}

#[test]
fn modules_of_scripts_are_followed_to_the_declaring_file() {
    let files: Files = &[
        (
            "lib/index.js",
            "module.exports = { ...require('./tax'), Cart: require('./cart'), round: require('./money').round };\nexports.late = require('./money').late;\n",
        ),
        (
            "lib/tax.js",
            "function rate(country) { return 1; }\nmodule.exports = { rate, total(x) { return x; } };\n",
        ),
        (
            "lib/cart.js",
            "class Cart {\n  constructor(x) {}\n  total() {}\n}\nmodule.exports = Cart;\n",
        ),
        (
            "lib/money.js",
            "exports.round = (x) => x;\nexports.late = function (x) {\n  return x;\n};\nfunction hidden() {}\n",
        ),
        ("lib/price.js", "module.exports = function (x) {\n  return x;\n};\n"),
        (
            "a.js",
            "const { rate: r, Cart, round } = require('./lib');\nconst price = require('./lib/price');\nfunction f() {\n  r('DE');\n  const cart = new Cart(1);\n  cart.total();\n  round(2);\n  price(3);\n}\n",
        ),
        (
            "b.js",
            "const shop = require('./lib');\nshop.late(1);\nshop.hidden();\nrequire('./lib/money').round(2);\nshop.total(3);\nconst f = (shop) => shop.late(4);\n",
        ),
        (
            "esm/index.ts",
            "export * from './tax';\nexport { Cart as Basket } from './cart';\nexport * as money from './money';\n",
        ),
        (
            "esm/tax.ts",
            "export const rate = (country: string) => 1;\nexport default function main() {}\nexport * from './index';\n",
        ),
        (
            "esm/cart.ts",
            "export class Base { audit(x: number) {} }\nexport class Cart extends Base {\n  total() { return this.audit(1); }\n}\n",
        ),
        ("esm/money.ts", "export function round(x: number) { return x; }\n"),
        (
            "esm/use.ts",
            "import run, { rate } from './tax';\nimport * as all from './index';\nimport { Basket } from './index';\nimport type { Cart } from './cart';\nexport class Service {\n  constructor(private readonly cart: Cart, other?: Cart) {\n    this.late = other;\n    rate('DE');\n  }\n  late;\n  go() {\n    this.cart.total();\n    this.late.audit(2);\n    run();\n    all.money.round(\n      3,\n    );\n  }\n}\nclass Own extends Basket {\n  constructor() { super(1); }\n  total() { return super.total() + this.audit(4); }\n}\n",
        ),
        (
            "esm/use.test.ts",
            "import { Cart } from './cart';\ndescribe('cart', () => {\n  let cart;\n  beforeEach(() => { cart = new Cart(); });\n  it('adds', () => { expect(cart.total()).toBe(1); });\n});\n",
        ),
        (
            "esm/own.ts",
            "import { rate } from 'tax';\nfunction round(x) {}\nround(1);\nrate(2);\nconsole.audit(1);\n",
        ),
    ];
    let table: &[(&str, &[&str])] = &[
        (
            "a.js",
            &[
                "f -> lib/tax.js:rate('DE') 4",
                "f -> lib/cart.js:Cart(1) 5",
                "f -> lib/cart.js:Cart.total() 6",
                "f -> lib/money.js:round(2) 7",
                "f -> lib/price.js:default(3) 8",
            ],
        ),
        (
            "b.js",
            &[
                " -> lib/money.js:late(1) 2",
                " -> lib/money.js:round(2) 4",
                " -> lib/tax.js:total(3) 5",
            ],
        ),
        (
            "esm/use.ts",
            &[
                "Service.constructor -> esm/tax.ts:rate('DE') 8",
                "Service.go -> esm/cart.ts:Cart.total() 12",
                "Service.go -> esm/cart.ts:Base.audit(2) 13",
                "Service.go -> esm/tax.ts:main() 14",
                "Service.go -> esm/money.ts:round(3) 15",
                "Own.constructor -> esm/cart.ts:Cart(1) 21",
                "Own.total -> esm/cart.ts:Cart.total() 22",
                "Own.total -> esm/cart.ts:Base.audit(4) 22",
            ],
        ),
        ("esm/use.test.ts", &[" -> esm/cart.ts:Cart() 4", " -> esm/cart.ts:Cart.total() 5"]),
        ("esm/cart.ts", &[]),
        ("esm/own.ts", &[]),
    ];
    for (file, expected) in table {
        assert_eq!(calls(files, file), *expected, "{file}");
    }
}

#[test]
fn packages_of_go_are_called_from_other_packages() {
    let files: Files = &[
        (
            "store/repo.go",
            "package store\n\ntype Repo struct{}\n\nfunc NewRepo(size int) *Repo { return open(size) }\n",
        ),
        (
            "store/save.go",
            "package store\n\ntype ID int\n\nfunc (r *Repo) Save(x int) { NewRepo(1) }\n\nfunc open(size int) *Repo { return nil }\n",
        ),
        (
            "cart/cart.go",
            "package cart\n\nimport (\n\t\"fmt\"\n\tst \"example.com/m/store\"\n)\n\ntype Cart struct {\n\trepo *st.Repo\n}\n\nfunc (c *Cart) Total(fmt2 int) {\n\tc.repo.Save(1)\n\tr := st.NewRepo(2)\n\tr.Save(int(st.ID(3)))\n\tfmt.Println(4)\n\tc.other()\n}\n",
        ),
        (
            "cart/other.go",
            "package cart\n\nimport \"example.com/m/store\"\n\nfunc (c *Cart) other() {\n\tc.repo.Save(5)\n\tvar x store.Repo\n\tx.Save(6)\n\tstore := 7\n\tstore.NewRepo(8)\n}\n",
        ),
        (
            "cart/cart_test.go",
            "package cart_test\n\nimport \"example.com/m/cart\"\n\nfunc TestTotal(t *testing.T) {\n\tc := cart.Cart{}\n\tc.Total(9)\n}\n",
        ),
    ];
    let table: &[(&str, &[&str])] = &[
        ("store/save.go", &[]),
        (
            "cart/cart.go",
            &[
                "Cart.Total -> store/save.go:Repo.Save(1) 13",
                "Cart.Total -> store/repo.go:NewRepo(2) 14",
                "Cart.Total -> store/save.go:Repo.Save(int(st.ID(3))) 15",
            ],
        ),
        (
            "cart/other.go",
            &[
                "Cart.other -> store/save.go:Repo.Save(5) 6",
                "Cart.other -> store/save.go:Repo.Save(6) 8",
            ],
        ),
        ("cart/cart_test.go", &["TestTotal -> cart/cart.go:Cart.Total(9) 7"]),
    ];
    for (file, expected) in table {
        assert_eq!(calls(files, file), *expected, "{file}");
    }
}

#[test]
fn re_exports_and_rebinding_end_and_long_arguments_are_cut() {
    let files: Files = &[
        ("a.py", "from b import x, y\nfrom b import *\nx()\ny()\nz()\n"),
        ("b.py", "from c import *\nfrom a import x\n"),
        ("c.py", "from d import y\nfrom b import *\n"),
        ("d.py", "from e import y\n"),
        ("e.py", "from f import y\n"),
        ("f.py", "def y():\n    pass\n"),
        (
            "g.py",
            "from f import y\ns = t\nt = s\nt.run_all()\nclass A(B):\n    pass\nclass B(A):\n    def f(self):\n        self.g()\n",
        ),
        (
            "h.py",
            "import f\nf.y('abcdefghijklmnopqrstuvwxyz' 'abcdefghijklmnopqrstuvwxyz' 'abcdefghijklmnopqrstuvwxyz')\n",
        ),
    ];
    assert_eq!(calls(files, "a.py"), [" -> f.py:y() 4"]);
    assert_eq!(calls(files, "g.py"), Vec::<String>::new());
    let cut = "'abcdefghijklmnopqrstuvwxyz' 'abcdefghijklmnopqrstuvwxyz' 'abcdefghijklmnopqrstu";
    assert_eq!(calls(files, "h.py"), [format!(" -> f.py:y({cut}) 2")]);
}

#[test]
fn a_default_value_of_a_parameter_is_a_call_and_hides_no_import() {
    let files: Files = &[
        ("orders.js", "exports.list = () => [];\nexports.make = () => 1;\n"),
        (
            "app.js",
            "const orders = require('./orders');\nfunction start(store = orders.make(), { size } = {}) {\n  return orders.list(size);\n}\nmodule.exports = { start };\n",
        ),
    ];
    let expected = ["start -> orders.js:make() 2", "start -> orders.js:list(size) 3"];
    assert_eq!(calls(files, "app.js"), expected);
}

/// File, text, line and arguments of a call, and the texts without it.
type SeveredRow =
    (&'static str, &'static str, u32, &'static [&'static str], &'static [&'static str]);

#[test]
fn a_severed_call_gives_nothing_or_a_stand_in_and_the_rest_stays() {
    let arguments = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let table: &[SeveredRow] = &[
        (
            "a.py",
            "def f(a):\n    return rate(a, g(1)) + rate(\n        a)\n",
            2,
            &["a", "g(1)"],
            &["def f(a):\n    return None + rate(\n        a)\n"],
        ),
        ("a.py", "x = rate()\n", 2, &[], &[]),
        ("a.py", "x = f(store().put(1).size)\n", 1, &[], &["x = f(None)\n"]),
        (
            "a.ts",
            "const f = async (a: A) => (await new Tax(a).of(1)) ?? tax(1)\n",
            1,
            &["1"],
            &[
                "const f = async (a: A) => ((undefined as any)) ?? tax(1)\n",
                "const f = async (a: A) => (await new Tax(a).of(1)) ?? (undefined as any)\n",
            ],
        ),
        ("a.go", "package a\n\nvar x = rate(1)\n", 3, &["1"], &[]),
    ];
    for (file, text, line, list, expected) in table {
        let language = Language::of(&RepoPath::parse(*file).unwrap()).unwrap();
        let list = arguments(list);
        let severed = sever_calls(language, text, &[(*line, &list)]);
        assert_eq!(severed.without, *expected, "{text}");
        assert_eq!(severed.with_stand_in.len(), expected.len(), "{text}");
    }
}

#[test]
fn a_parameter_holds_what_its_default_value_makes() {
    let files: Files = &[
        ("store.js", "class Store {\n  add(a) { return a; }\n}\nmodule.exports = { Store };\n"),
        (
            "app.js",
            "const { Store } = require('./store');\nfunction make(store = new Store(), other = 1) {\n  other.add(1);\n  return store.add(1);\n}\n",
        ),
        ("store.py", "class Store:\n    def add(self, a):\n        return a\n"),
        (
            "app.py",
            "from store import Store\ndef make(store=Store(), other=None):\n    return store.add(1)\n",
        ),
    ];
    let table: &[(&str, &[&str])] = &[
        ("app.js", &["make -> store.js:Store() 2", "make -> store.js:Store.add(1) 4"]),
        ("app.py", &["make -> store.py:Store() 2", "make -> store.py:Store.add(1) 3"]),
    ];
    for (file, expected) in table {
        assert_eq!(calls(files, file), *expected, "{file}");
    }
}
