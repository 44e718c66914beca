//! Names that every program of a language knows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

fn lines(text: &'static str) -> BTreeSet<&'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Modules of Python's standard library, and what comes with every installation
/// (`sys.stdlib_module_names`).
pub static PYTHON_MODULES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| lines(include_str!("lists/python-stdlib.txt")));

/// Modules of Node (`module.builtinModules`).
pub static NODE_MODULES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| lines(include_str!("lists/node-builtins.txt")));

/// Modules whose name differs from the package that brings them.
pub const PYTHON_ALIASES: &[(&str, &str)] = &[
    ("yaml", "pyyaml"),
    ("PIL", "pillow"),
    ("cv2", "opencv_python"),
    ("sklearn", "scikit_learn"),
    ("skimage", "scikit_image"),
    ("bs4", "beautifulsoup4"),
    ("dateutil", "python_dateutil"),
    ("dotenv", "python_dotenv"),
    ("jwt", "pyjwt"),
    ("attr", "attrs"),
    ("serial", "pyserial"),
    ("git", "gitpython"),
    ("docx", "python_docx"),
    ("pptx", "python_pptx"),
    ("magic", "python_magic"),
    ("jose", "python_jose"),
    ("slugify", "python_slugify"),
    ("multipart", "python_multipart"),
    ("Crypto", "pycryptodome"),
    ("OpenSSL", "pyopenssl"),
    ("MySQLdb", "mysqlclient"),
    ("psycopg2", "psycopg2_binary"),
    ("rest_framework", "djangorestframework"),
    ("corsheaders", "django_cors_headers"),
    ("ldap", "python_ldap"),
    ("zmq", "pyzmq"),
    ("fitz", "pymupdf"),
    ("usb", "pyusb"),
    ("Levenshtein", "python_levenshtein"),
    ("telegram", "python_telegram_bot"),
    ("discord", "discord_py"),
    ("socks", "pysocks"),
    ("win32api", "pywin32"),
    ("win32con", "pywin32"),
    ("pythoncom", "pywin32"),
    ("pywintypes", "pywin32"),
    ("markdown", "markdown"),
    ("_pytest", "pytest"),
    ("py", "pytest"),
    ("iniconfig", "pytest"),
    ("pluggy", "pytest"),
    ("werkzeug", "flask"),
    ("jinja2", "flask"),
    ("click", "flask"),
    ("markupsafe", "jinja2"),
    ("starlette", "fastapi"),
    ("pydantic", "fastapi"),
    ("urllib3", "requests"),
    ("dns", "dnspython"),
    ("grpc", "grpcio"),
    ("ruamel", "ruamel.yaml"),
    ("unidiff", "unidiff"),
];
