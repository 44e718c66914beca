//! Reads a part that has no picture of its own; sentences keep their code spans.

use serde_json::{Value, json};

use crate::report::parts::{Body, Part, PartId};

use super::change;
use super::limits::take_fitting;

/// Entries and bytes of one list, and of one table.
const ENTRIES: usize = 100;
const BYTES: usize = 150_000;
const ROWS: usize = 300;

/// The body of a part under the name of what it is, and how many entries are left out.
pub(super) fn read(id: PartId, part: &Part<'_>) -> Value {
    let mut room = BYTES;
    match &part.body {
        Body::List(items) if id == PartId::Next => json!({ "steps": items }),
        Body::List(items) => {
            let shown = take_fitting(&mut items.iter().take(ENTRIES), &mut room);
            json!({ "left": part.len() - shown.len(), "items": shown })
        }
        Body::Table(table) => {
            let shown = take_fitting(&mut table.rows.iter().take(ROWS), &mut room);
            let left = part.len() - shown.len();
            json!({ "left": left, "table": { "columns": table.columns, "rows": shown } })
        }
        Body::Facts(facts) => json!({ "facts": facts }),
        Body::Patch(text) => json!({ "change": change::read_whole(text) }),
        Body::Output(text) => json!({ "output": text }),
        Body::Chart(_) | Body::Answers(_) | Body::Todo(_) | Body::Drawing | Body::Empty => {
            json!({})
        }
    }
}
