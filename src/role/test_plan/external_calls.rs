//! Recognises databases, network services and non-deterministic calls by package or call name.

/// Packages that access databases.
const DATABASES: &[&str] = &[
    "sqlite3",
    "sqlalchemy",
    "psycopg2",
    "psycopg",
    "pymongo",
    "pymysql",
    "django",
    "peewee",
    "pg",
    "mysql",
    "mysql2",
    "knex",
    "sequelize",
    "typeorm",
    "mongoose",
    "@prisma/client",
    "better-sqlite3",
    "diesel",
    "sqlx",
    "rusqlite",
    "database/sql",
    "gorm.io/gorm",
    "java.sql",
    "jakarta.persistence",
    "javax.persistence",
];

/// Packages that access network services.
const SERVICES: &[&str] = &[
    "requests",
    "httpx",
    "aiohttp",
    "urllib",
    "urllib3",
    "boto3",
    "axios",
    "node-fetch",
    "got",
    "undici",
    "superagent",
    "reqwest",
    "ureq",
    "hyper",
    "net/http",
    "java.net",
    "okhttp3",
];

/// Names of calls that write to or read from a database.
const QUERIES: &[&str] = &[
    "execute",
    "query",
    "commit",
    "rollback",
    "save",
    "insert",
    "update_one",
    "delete",
    "find_one",
    "create",
    "session.add",
    "Exec",
    "QueryRow",
];

/// Prefixes of calls that access a network.
const REQUESTS: &[&str] = &[
    "requests.",
    "httpx.",
    "aiohttp.",
    "urllib.",
    "axios",
    "fetch",
    "got",
    "undici.",
    "reqwest",
    "http.Get",
    "http.Post",
    "client.get",
    "client.post",
    "session.get",
    "session.post",
    "urlopen",
];

/// Prefixes of calls with a different result in each run.
const UNSTEADY: &[&str] = &[
    "time.time",
    "time.sleep",
    "datetime.now",
    "datetime.utcnow",
    "datetime.datetime.now",
    "date.today",
    "random.",
    "uuid.uuid4",
    "Date.now",
    "Math.random",
    "new Date",
    "crypto.randomUUID",
    "time.Now",
    "rand.",
    "Instant::now",
    "SystemTime::now",
    "System.currentTimeMillis",
];

/// Whether any of the packages accesses a database.
pub fn has_database(packages: &std::collections::BTreeSet<String>) -> bool {
    packages.iter().any(|name| DATABASES.contains(&name.as_str()))
}

/// Whether any of the packages accesses a network service.
pub fn has_service(packages: &std::collections::BTreeSet<String>) -> bool {
    packages.iter().any(|name| SERVICES.contains(&name.as_str()))
}

/// Whether a call writes to or reads from a database.
pub fn is_query(call: &str) -> bool {
    QUERIES.iter().any(|name| {
        call.rsplit('.').next() == Some(name) || call.ends_with(name) && name.contains('.')
    })
}

/// Whether a call accesses a network; a bare `fetch` needs no package.
pub fn is_request(call: &str, imported: bool) -> bool {
    call == "fetch" || imported && REQUESTS.iter().any(|name| call.starts_with(name))
}

/// Whether a call has a different result in each run.
pub fn is_non_deterministic(call: &str) -> bool {
    UNSTEADY.iter().any(|name| call.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_lead_out_are_known() {
        let table = [
            ("cursor.execute", true, false, false),
            ("requests.get", false, true, false),
            ("fetch", false, true, false),
            ("time.time", false, false, true),
            ("self.prices.get", false, false, false),
            ("executed", false, false, false),
        ];
        for (call, query, request, unsteady) in table {
            assert_eq!(is_query(call), query, "{call}");
            assert_eq!(is_request(call, true), request, "{call}");
            assert_eq!(is_non_deterministic(call), unsteady, "{call}");
        }
        assert!(is_request("fetch", false));
        assert!(!is_request("requests.get", false));
    }

    #[test]
    fn packages_of_databases_and_services_are_known() {
        let table = [
            ("sqlite3", true, false),
            ("database/sql", true, false),
            ("requests", false, true),
            ("net/http", false, true),
            ("json", false, false),
        ];
        for (name, database, service) in table {
            let packages = [name.to_owned()].into();
            assert_eq!(has_database(&packages), database, "{name}");
            assert_eq!(has_service(&packages), service, "{name}");
        }
    }
}
