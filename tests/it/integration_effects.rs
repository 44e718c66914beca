//! `regreen integration` where the sides of a boundary use files, `SQLite`, settings of the environment, routes and
//! command lines: tests put these up in temporary folders, and nothing else is touched.

use std::fs;

use super::integration::{session_in, state_of};
use super::support::{Ran, TestRepo};

const STORE: &str = r#"import csv
import os
import sqlite3


class Store:
    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.execute("CREATE TABLE IF NOT EXISTS orders (sku TEXT, count INTEGER)")

    def add(self, sku: str, count: int) -> int:
        self.connection.execute("INSERT INTO orders VALUES (?, ?)", (sku, count))
        self.connection.commit()
        return self.total()

    def total(self) -> int:
        return self.connection.execute("SELECT sum(count) FROM orders").fetchone()[0]


def read_orders(path):
    with open(path, newline="") as file:
        return [(row["sku"], int(row["count"])) for row in csv.DictReader(file)]


def write_lines(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def currency() -> str:
    return os.environ.get("SHOP_CURRENCY", "EUR")
"#;

const REPORT: &str = r#"import argparse
import json

from shop.store import Store, currency, read_orders, write_lines


def total_count(path) -> int:
    return sum(count for _, count in read_orders(path))


def label(count: int) -> str:
    return f"{count} in {currency()}"


def book(store: Store, sku: str, count: int) -> int:
    return store.add(sku, count)


def write_report(target_path, count: int) -> None:
    write_lines(target_path, [label(count)])


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="report", description="Reports orders.")
    parser.add_argument("path", help="a table of orders")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args(argv)
    count = total_count(options.path)
    print(json.dumps({"count": count}) if options.format == "json" else label(count))
    return 0
"#;

/// What each of the projects has.
const PACKAGE: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    ("tests/__init__.py", ""),
    ("tests/test_nothing.py", "def test_nothing():\n    assert True\n"),
    (".gitignore", "__pycache__/\n"),
];

fn repo_of(files: &[(&str, &str)]) -> TestRepo {
    TestRepo::new(&[PACKAGE, files].concat())
}

/// The text of a new test file, after a session that succeeds.
fn written(repo: &TestRepo, module: &str, file: &str) -> String {
    let before = repo.belongings();
    let ran = repo.regreen(&["integration", module]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(repo.belongings(), before, "the user's files changed");
    let (folder, id) = session_in(repo, "archives");
    assert_eq!(state_of(&folder)["summary"]["result"], "success");
    repo.git(&["show", &format!("regreen/{id}:{file}")])
}

fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn files_databases_settings_and_commands_are_put_up_in_temporary_folders() {
    let repo = repo_of(&[("shop/store.py", STORE), ("shop/report.py", REPORT)]);
    let text = written(&repo, "shop/report.py", "tests/test_report_store.py");
    assert_holds(
        &text,
        &[
            "(monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)\n",
            "(tmp_path / \"count.csv\").write_text(\"sku,count\\nA-1,3\\nB-2,250\\n\")\n    \
             assert total_count(\"count.csv\") == 253\n",
            "assert book(Store(\":memory:\"), ",
            "monkeypatch.delenv(\"SHOP_CURRENCY\", raising=False)\n    \
             assert label(",
            "in EUR\"\n",
            "monkeypatch.setenv(\"SHOP_CURRENCY\", ",
            "assert (tmp_path / \"target.txt\").read_text() == \"",
            "assert main([\"data.csv\", \"--format\", \"json\"]) == 0\n    \
             assert capsys.readouterr().out == ",
        ],
    );
}

#[test]
fn a_project_of_unittest_gets_folders_and_settings_of_the_standard_library() {
    let repo = TestRepo::new(&[
        ("shop/__init__.py", ""),
        ("shop/store.py", STORE),
        ("shop/report.py", REPORT),
        ("tests/__init__.py", ""),
        (
            "tests/test_nothing.py",
            "import unittest\n\n\nclass TestNothing(unittest.TestCase):\n    def test_nothing(self):\n        self.assertTrue(True)\n",
        ),
        (".gitignore", "__pycache__/\n"),
    ]);
    let text = written(&repo, "shop/report.py", "tests/test_report_store.py");
    assert_holds(
        &text,
        &[
            "folder = tempfile.TemporaryDirectory()\n        self.addCleanup(folder.cleanup)\n",
            "pathlib.Path(\"count.csv\").write_text(\"sku,count",
            "settings = unittest.mock.patch.dict(os.environ)\n",
        ],
    );
}

#[test]
fn what_leaves_its_folder_is_refused_with_a_reason_and_nothing_outside_is_touched() {
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("kept.txt");
    fs::write(&kept, "kept").unwrap();
    let place = outside.path().display().to_string();
    let upper = "from shop import lower\n\n\ndef climb():\n    return lower.climb()\n\n\ndef home():\n    return lower.home()\n\n\ndef follow():\n    return lower.follow()\n\n\ndef flood():\n    return lower.flood()\n\n\ndef grow():\n    return lower.grow()\n\n\ndef split():\n    return lower.split()\n\n\ndef attach():\n    return lower.attach()\n\n\ndef fine(path: str):\n    return lower.fine(path)\n";
    let lower = format!(
        "import os
import shutil
import sqlite3

OUTSIDE = {place:?}


def climb():
    shutil.rmtree('../..')


def home():
    with open(os.path.join(os.path.expanduser('~'), 'left.txt'), 'w') as file:
        file.write('x')


def follow():
    getattr(os, 'sym' + 'link')(OUTSIDE, 'out')
    with open('out/kept.txt', 'w') as file:
        file.write('x')


def flood():
    for number in range(100_000):
        with open(str(number), 'w') as file:
            file.write('x')


def grow():
    with open('large', 'w') as file:
        for number in range(4_000):
            file.write('x' * 1_000_000)


def split():
    while True:
        getattr(os, 'fo' + 'rk')()


def attach():
    connection = sqlite3.connect(':memory:')
    connection.execute(f\"ATTACH DATABASE '{{OUTSIDE}}/new.db' AS other\")
    connection.execute('CREATE TABLE other.t (a INTEGER)')


def fine(path):
    with open(path) as file:
        return file.read().upper()
"
    );
    let repo = repo_of(&[("shop/upper.py", upper), ("shop/lower.py", &lower)]);
    let text = written(&repo, "shop/upper.py", "tests/test_upper_lower.py");
    assert!(text.contains("assert fine("), "{text}");
    let names: Vec<_> =
        fs::read_dir(outside.path()).unwrap().map(|one| one.unwrap().path()).collect();
    assert_eq!(names.iter().collect::<Vec<_>>(), [&kept]);
    assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
    let (folder, _) = session_in(&repo, "archives");
    let state = state_of(&folder).to_string();
    for reason in [
        "asks about files outside of its folder",
        "asks about its machine",
        "makes links",
        "changes many files",
        "writes a large file",
        "starts or ends processes",
        "uses a database outside of its folder",
    ] {
        assert!(state.contains(reason), "{reason} in {state}");
    }
}

const PRICES: &str = r#"PRICES = {"A-1": 250, "B-2": 1200}


def price_of(sku: str) -> int:
    if sku not in PRICES:
        raise KeyError(sku)
    return PRICES[sku]


def total(sku: str, count: int) -> int:
    return price_of(sku) * count
"#;

const FLASK: &str = r#"from flask import Blueprint, jsonify, request

from shop import prices

orders = Blueprint("orders", __name__, url_prefix="/orders")


@orders.get("/price/<sku>")
def show_price(sku):
    try:
        return jsonify({"sku": sku, "price": prices.price_of(sku)})
    except KeyError:
        return jsonify({"error": "no such thing"}), 404


@orders.route("/total", methods=["POST"])
def add_up():
    given = request.get_json()
    return {"total": prices.total(given["sku"], given["count"])}, 201
"#;

const FLASK_HOST: &str = r"from flask import Flask

from shop.web import orders


def create_app(settings=None):
    app = Flask(__name__)
    app.register_blueprint(orders)
    return app
";

const FAST_API: &str = r#"from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from shop import prices

app = FastAPI()


class Order(BaseModel):
    sku: str
    count: int = 1


@app.get("/price/{sku}")
def show_price(sku: str):
    try:
        return {"sku": sku, "price": prices.price_of(sku)}
    except KeyError:
        raise HTTPException(404, "no such thing") from None


@app.post("/total", status_code=201)
async def add_up(order: Order):
    return {"total": prices.total(order.sku, order.count)}
"#;

const CLICK: &str = r#"import click

from shop import prices


@click.command()
@click.argument("sku")
@click.option("--count", type=int, default=1)
def quote(sku, count):
    click.echo(f"{count} x {sku}: {prices.total(sku, count)}")
"#;

const STORED_PRICES: &str = r#"import sqlite3


def connect():
    connection = sqlite3.connect("prices.db")
    connection.execute("CREATE TABLE IF NOT EXISTS prices (id INTEGER PRIMARY KEY, sku TEXT, cents INTEGER)")
    return connection


def add(sku: str, cents: int) -> int:
    with connect() as connection:
        return connection.execute("INSERT INTO prices (sku, cents) VALUES (?, ?)", (sku, cents)).lastrowid


def find(id: int):
    with connect() as connection:
        return connection.execute("SELECT sku, cents FROM prices WHERE id = ?", (id,)).fetchone()
"#;

const STORING: &str = r#"from flask import Flask, request

from shop import prices

app = Flask(__name__)


@app.post("/prices")
def add_price():
    given = request.get_json()
    return {"id": prices.add(given["sku"], given["cents"])}, 201


@app.get("/prices/<int:id>")
def show_price(id):
    found = prices.find(id)
    if found is None:
        return {"error": "no such price"}, 404
    return {"sku": found[0], "cents": found[1]}
"#;

/// The new tests of a file that uses a framework, with an environment in which that is installed.
fn written_with(web: &str, others: &[(&str, &str)]) -> String {
    let folder = std::env::var("REGREEN_WEB").expect("the folder of an environment");
    let files = [&[("shop/prices.py", PRICES), ("shop/web.py", web)], others].concat();
    let repo = repo_of(&files);
    let path = format!("{folder}/bin:{}", std::env::var("PATH").unwrap());
    let mut command = repo.command();
    let ran: Ran =
        command.args(["integration", "shop/web.py"]).env("PATH", path).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (_, id) = session_in(&repo, "archives");
    repo.git(&["show", &format!("regreen/{id}:tests/test_web_prices.py")])
}

#[test]
#[ignore = "needs flask"]
fn routes_of_flask_are_asked_by_its_test_client() {
    let text = written_with(FLASK, &[("shop/app.py", FLASK_HOST)]);
    assert_holds(
        &text,
        &[
            "from shop.app import create_app\n",
            "response = create_app().test_client().get(\"/orders/price/A-1\")\n    \
             assert response.status_code == 200\n    \
             assert response.get_json() == {\"price\": 250, \"sku\": \"A-1\"}\n",
            "    assert response.status_code == 404\n",
            "\"/orders/total\", json={\"sku\": \"A-1\", \"count\": 3}\n",
            "    assert response.get_json() == {\"total\": 750}",
        ],
    );
}

#[test]
#[ignore = "needs flask"]
fn what_one_request_stores_is_what_the_next_one_shows() {
    let text = written_with(STORING, &[("shop/prices.py", STORED_PRICES)]);
    assert_holds(
        &text,
        &[
            "client = app.test_client()\n    client.post(\"/prices\", json={",
            "response = client.get(\"/prices/1\")\n    assert response.status_code == 200\n",
            "response = app.test_client().get(\"/prices/3\")\n    assert response.status_code == 404\n",
        ],
    );
}

#[test]
#[ignore = "needs flask and fastapi"]
fn routes_of_fastapi_are_asked_by_its_test_client() {
    let text = written_with(FAST_API, &[]);
    assert_holds(
        &text,
        &[
            "from fastapi.testclient import TestClient\n",
            "response = TestClient(app).get(\"/price/A-1\")\n    assert response.status_code == 200\n",
            "    assert response.json() == {\"detail\": \"no such thing\"}\n",
            "response = TestClient(app).post(\"/total\", json={\"sku\": \"A-1\"})\n    \
             assert response.status_code == 201\n",
        ],
    );
}

const DJANGO: &[(&str, &str)] = &[
    (
        "manage.py",
        "import os\n\nfrom django.core.management import execute_from_command_line\n\nos.environ.setdefault(\"DJANGO_SETTINGS_MODULE\", \"shop.settings\")\n\nif __name__ == \"__main__\":\n    import sys\n\n    execute_from_command_line(sys.argv)\n",
    ),
    ("pytest.ini", "[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n"),
    (
        "shop/settings.py",
        "SECRET_KEY = \"x\"\nROOT_URLCONF = \"shop.urls\"\nINSTALLED_APPS = [\"shop\", \"orders\"]\nDATABASES = {\"default\": {\"ENGINE\": \"django.db.backends.sqlite3\", \"NAME\": \"own.db\"}}\n",
    ),
    (
        "shop/urls.py",
        "from django.urls import include, path\n\nurlpatterns = [path(\"orders/\", include(\"orders.urls\"))]\n",
    ),
    ("orders/__init__.py", ""),
    (
        "orders/models.py",
        "from django.db import models\n\n\nclass Order(models.Model):\n    sku = models.CharField(max_length=20)\n",
    ),
    (
        "orders/urls.py",
        "from django.urls import path\n\nfrom shop import web\n\nurlpatterns = [\n    path(\"price/<str:sku>/\", web.show_price),\n    path(\"total/\", web.add_up),\n    path(\"form/\", web.OrderForm.as_view()),\n    path(\"count/<str:sku>/\", web.count_orders),\n]\n",
    ),
];

const DJANGO_VIEWS: &str = r#"import json

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views import View
from django.views.decorators.http import require_POST

from orders.models import Order
from shop import prices


def show_price(request, sku):
    try:
        return JsonResponse({"sku": sku, "price": prices.price_of(sku)})
    except KeyError:
        return JsonResponse({"error": "no such thing"}, status=404)


@require_POST
def add_up(request):
    given = json.loads(request.body)
    return JsonResponse({"total": prices.total(given["sku"], given["count"])}, status=201)


class OrderForm(View):
    def get(self, request):
        return HttpResponse(f"<p>{prices.price_of('A-1')}</p>")

    def post(self, request):
        price = prices.price_of(request.POST["sku"])
        return redirect(f"/orders/price/{request.POST['sku']}/?price={price}")


def count_orders(request, sku):
    return JsonResponse({"price": prices.price_of(sku), "count": Order.objects.filter(sku=sku).count()})
"#;

#[test]
#[ignore = "needs django"]
fn views_of_django_are_asked_by_its_test_client() {
    let text = written_with(DJANGO_VIEWS, DJANGO);
    assert_holds(
        &text,
        &[
            "from django.test import Client\n",
            "response = Client().get(\"/orders/price/A-1/\")\n    \
             assert response.status_code == 200\n    \
             assert response.json() == {\"sku\": \"A-1\", \"price\": 250}\n",
            "    assert response.status_code == 404\n",
            "\"/orders/total/\", {\"sku\": \"A-1\", \"count\": 3}, content_type=\"application/json\"",
            "    assert response.json() == {\"total\": 750}\n",
            "    assert response.content.decode() == \"<p>250</p>\"\n",
            "response = Client().post(\"/orders/form/\", {\"sku\": \"A-1\"})\n    \
             assert response.status_code == 302\n    \
             assert response.headers[\"Location\"] == \"/orders/price/A-1/?price=250\"\n",
            "@pytest.mark.django_db\ndef test_",
            "    assert response.json() == {\"price\": 250, \"count\": 0}",
        ],
    );
}

#[test]
#[ignore = "needs flask and click"]
fn commands_of_click_are_run_by_its_runner() {
    let text = written_with(CLICK, &[]);
    assert_holds(
        &text,
        &[
            "from click.testing import CliRunner\n",
            "result = CliRunner().invoke(quote, [\"A-1\"])\n    assert result.exit_code == 0\n    \
             assert result.output == \"1 x A-1: 250\\n\"\n",
        ],
    );
}

const EXPRESS: &str = r"const express = require('express');
const prices = require('./prices');

const router = express.Router();

router.get('/price/:sku', (req, res) => {
  try {
    res.json({ sku: req.params.sku, price: prices.priceOf(req.params.sku) });
  } catch (error) {
    res.status(404).json({ error: error.message });
  }
});

router.post('/total', (req, res) => {
  const { sku, count } = req.body;
  res.status(201).json({ total: prices.total(sku, count) });
});

router.get('/stock', (req, res) => {
  prices.priceOf('A-1');
  res.sendFile('/etc/hostname');
});

module.exports = router;
";

const EXPRESS_HOST: &str = r"const express = require('express');
const orders = require('./orders');

const app = express();
app.use(express.json());
app.use('/orders', orders);

module.exports = app;
";

const SCRIPT_PRICES: &str = r"const PRICES = { 'A-1': 250, 'B-2': 1200 };

function priceOf(sku) {
  if (!(sku in PRICES)) throw new Error(`no price of ${sku}`);
  return PRICES[sku];
}

function total(sku, count) {
  return priceOf(sku) * count;
}

module.exports = { priceOf, total };
";

#[test]
#[ignore = "needs express and supertest"]
fn routes_of_express_are_asked_by_supertest() {
    let folder = std::env::var("REGREEN_WEB").expect("the folder of an environment");
    let manifest = r#"{"name": "shop", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let test = "const assert = require('node:assert');\nconst { test } = require('node:test');\nconst { priceOf } = require('../src/prices.js');\n\ntest('a price', () => {\n  assert.equal(priceOf('A-1'), 250);\n});\n";
    let repo = TestRepo::new(&[
        ("package.json", manifest),
        (".gitignore", "node_modules\n"),
        ("src/orders.js", EXPRESS),
        ("src/app.js", EXPRESS_HOST),
        ("src/prices.js", SCRIPT_PRICES),
        ("test/prices.test.js", test),
    ]);
    let modules = std::path::Path::new(&folder).join("node_modules");
    std::os::unix::fs::symlink(modules, repo.root().join("node_modules")).unwrap();
    let text = written(&repo, "src/orders.js", "test/orders-prices.test.js");
    assert_holds(
        &text,
        &[
            "const request = require('supertest');\n",
            "test('should answer 200 when GET /orders/price/A-1 is called', async () => {\n  \
             const response = await request(app).get('/orders/price/A-1');\n  \
             assert.strictEqual(response.status, 200);\n  \
             assert.deepStrictEqual(response.body, { sku: 'A-1', price: 250 });\n",
            "request(app).post('/orders/total').send({ sku: 'A-1', count: 3 });\n  \
             assert.strictEqual(response.status, 201);\n  \
             assert.deepStrictEqual(response.body, { total: 750 });\n",
            "assert.strictEqual(response.status, 404);\n",
        ],
    );
    assert!(!text.contains("stock"), "a handler that opens a file was asked: {text}");
}
