//! Packages and calls that lead out of a program.

/// Databases, by package.
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

/// Services behind a network, by package.
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

/// Parts of calls that write or read a database.
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

/// Calls to a network, by their beginning.
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

/// Calls whose answer changes from run to run.
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

/// Whether one of the packages is a database.
pub fn has_database(packages: &std::collections::BTreeSet<String>) -> bool {
    packages.iter().any(|name| DATABASES.contains(&name.as_str()))
}

/// Whether one of the packages reaches a network.
pub fn has_service(packages: &std::collections::BTreeSet<String>) -> bool {
    packages.iter().any(|name| SERVICES.contains(&name.as_str()))
}

/// Whether a call writes or reads a database.
pub fn is_query(call: &str) -> bool {
    QUERIES.iter().any(|name| {
        call.rsplit('.').next() == Some(name) || call.ends_with(name) && name.contains('.')
    })
}

/// Whether a call goes to a network; a bare `fetch` needs no package.
pub fn is_request(call: &str, imported: bool) -> bool {
    call == "fetch" || imported && REQUESTS.iter().any(|name| call.starts_with(name))
}

/// Whether a call answers differently from run to run.
pub fn is_unsteady(call: &str) -> bool {
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
            assert_eq!(is_unsteady(call), unsteady, "{call}");
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
