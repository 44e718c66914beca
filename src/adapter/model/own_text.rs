//! Finds what a question of a client wants besides an answer to its own text, in every protocol.

use serde_json::Value;

use crate::adapter::host::http::text_at;

/// Fields of a question by which the provider goes on with what it has stored, answers later, fetches
/// something, or asks further models (the last two in `OpenRouter`).
const BEYOND: &[&str] = &[
    "previous_response_id",
    "conversation",
    "prompt",
    "background",
    "container",
    "mcp_servers",
    "web_search_options",
    "cachedContent",
    "cached_content",
    "plugins",
    "models",
];

/// Types of tools that the client runs, and beginnings of such; providers run all others.
const TOOLS: &[&str] = &["function", "custom", "local_shell", "apply_patch", "namespace"];
const TOOL_FAMILIES: &[&str] = &["bash_", "text_editor_", "memory_", "computer_"];

/// Fields of Gemini's tools that the client runs.
const DECLARATIONS: &[&str] = &["functionDeclarations", "function_declarations"];

/// Values that hold what tools get and say, or describe that, but nothing that the provider acts on.
const DATA: &[&str] = &[
    "tools",
    "args",
    "response",
    "arguments",
    "metadata",
    "text",
    "response_format",
    "output_config",
    "responseSchema",
    "responseJsonSchema",
];

/// Types of parts that hold a picture.
const PICTURES: &[&str] = &["image", "image_url", "input_image", "computer_screenshot"];

/// Types of parts whose length does not bound their tokens: pages, sound, moving pictures.
const MEDIA: &[&str] = &[
    "document",
    "file",
    "input_file",
    "input_audio",
    "audio",
    "video",
    "video_url",
    "input_video",
];

/// Fields of Gemini's parts that hold a file.
const INLINE: &[&str] = &["/inlineData", "/inline_data"];

/// The name of what a question wants besides an answer to its own text: a tool that the provider runs,
/// something that it has stored or fetches, a later answer, or further models.
/// `has_typeless_tools` says whether its protocol has tools of the client without a type.
pub fn beyond(question: &Value, has_typeless_tools: bool) -> Option<String> {
    let is_set = |value: &Value| !value.is_null() && *value != Value::Bool(false);
    let field = BEYOND.iter().find(|name| question.get(**name).is_some_and(is_set));
    let field = field.map(|name| (*name).to_owned());
    // OpenRouter searches the web for a model of this name.
    let online = text_at(question, "/model").ends_with(":online").then(|| "model".to_owned());
    field
        .or(online)
        .or_else(|| foreign_tool(question.get("tools")?, has_typeless_tools))
        .or_else(|| foreign_part(question))
}

/// The name of a tool, or one of a list, that the provider would run. Anthropic describes tools of the
/// client without a type, Gemini names all of its tools by fields.
fn foreign_tool(tool: &Value, has_typeless: bool) -> Option<String> {
    if let Value::Array(list) = tool {
        return list.iter().find_map(|tool| foreign_tool(tool, has_typeless));
    }
    let fields = tool.as_object()?;
    match text_at(tool, "/type") {
        "" if has_typeless => None,
        "" => fields.keys().find(|name| !DECLARATIONS.contains(&name.as_str())).cloned(),
        kind if TOOLS.contains(&kind) => foreign_tool(fields.get("tools")?, has_typeless),
        kind if TOOL_FAMILIES.iter().any(|start| kind.starts_with(start)) => None,
        kind => Some(kind.to_owned()),
    }
}

/// The name of a part of a question whose text is not in it: a file or an earlier answer that the
/// provider has stored, something at an address, or what is no text and no picture.
fn foreign_part(value: &Value) -> Option<String> {
    let fields = match value {
        Value::Array(list) => return list.iter().find_map(foreign_part),
        Value::Object(fields) => fields,
        _ => return None,
    };
    let kind = text_at(value, "/type");
    if kind == "item_reference" || kind == "url" {
        return Some(kind.to_owned());
    }
    let elsewhere = |name: &str, part: &Value| match name {
        "file_id" | "file_url" => part.is_string(),
        "fileData" | "file_data" => part.is_object(),
        "image_url" => {
            let address = part.as_str().unwrap_or_else(|| text_at(part, "/url"));
            !address.starts_with("data:")
        }
        _ => false,
    };
    let named = fields.iter().find(|(name, part)| elsewhere(name, part));
    named
        .map(|(name, _)| name.clone())
        .or_else(|| parts_of(value).find_map(foreign_part))
        .or_else(|| unmeasured(value))
}

/// The number of pictures in a question.
pub fn pictures(value: &Value) -> usize {
    let is_inline = INLINE.iter().any(|field| value.pointer(field).is_some());
    let is_one = is_inline || PICTURES.contains(&text_at(value, "/type"));
    usize::from(is_one) + parts_of(value).map(pictures).sum::<usize>()
}

/// The type of a part that holds pages or sound, which may be many tokens in few bytes.
fn unmeasured(part: &Value) -> Option<String> {
    let inline = INLINE.iter().find_map(|field| part.pointer(field));
    let is_picture = |file: &Value| {
        let kinds = ["/mimeType", "/mime_type"].map(|field| text_at(file, field));
        kinds.iter().any(|kind| kind.starts_with("image/"))
    };
    let is_text = matches!(text_at(part, "/source/type"), "text" | "content");
    let kind = text_at(part, "/type");
    if inline.is_some_and(|file| !is_picture(file)) {
        Some("inlineData".to_owned())
    } else {
        (MEDIA.contains(&kind) && !is_text).then(|| kind.to_owned())
    }
}

/// The parts of a value that the provider reads as parts of the question.
fn parts_of(value: &Value) -> impl Iterator<Item = &Value> {
    let is_part = |(name, part): &(&String, &Value)| {
        // The input of a tool is an object, that of a question is text or a list.
        !(DATA.contains(&name.as_str()) || (*name == "input" && part.is_object()))
    };
    let fields = value.as_object().into_iter().flatten().filter(is_part).map(|(_, part)| part);
    value.as_array().into_iter().flatten().chain(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ANTHROPIC: &str = "messages";
    const CHAT: &str = "chat";
    const GEMINI: &str = "generateContent";
    const RESPONSES: &str = "responses";

    #[test]
    fn a_question_may_want_an_answer_to_its_own_text_and_nothing_else() {
        let user = |part: Value| json!({ "messages": [{ "role": "user", "content": [part] }] });
        let input = |part: Value| json!({ "input": [{ "role": "user", "content": [part] }] });
        let tools = |tool: Value| json!({ "tools": [tool] });
        let parts = |part: Value| json!({ "contents": [{ "parts": [part] }] });
        let table = [
            (RESPONSES, json!({ "input": "x", "background": false, "store": false }), None),
            (RESPONSES, json!({ "input": "x", "background": true }), Some("background")),
            (RESPONSES, json!({ "previous_response_id": "r" }), Some("previous_response_id")),
            (RESPONSES, json!({ "previous_response_id": null }), None),
            (RESPONSES, json!({ "prompt": { "id": "p" } }), Some("prompt")),
            (
                RESPONSES,
                tools(
                    json!({ "type": "function", "name": "f", "parameters": { "properties": { "file_id": "x" } } }),
                ),
                None,
            ),
            (RESPONSES, tools(json!({ "type": "custom", "name": "apply_patch" })), None),
            (RESPONSES, tools(json!({ "type": "web_search" })), Some("web_search")),
            (RESPONSES, tools(json!({ "type": "mcp", "server_url": "https://evil" })), Some("mcp")),
            (RESPONSES, input(json!({ "type": "input_text", "text": "file_id" })), None),
            (
                RESPONSES,
                input(json!({ "type": "input_file", "file_url": "https://evil" })),
                Some("file_url"),
            ),
            (
                RESPONSES,
                input(json!({ "type": "input_image", "image_url": "https://evil" })),
                Some("image_url"),
            ),
            (
                RESPONSES,
                input(json!({ "type": "input_image", "image_url": "data:image/png;base64,AA" })),
                None,
            ),
            (
                RESPONSES,
                json!({ "input": [{ "type": "item_reference", "id": "i" }] }),
                Some("item_reference"),
            ),
            (
                RESPONSES,
                tools(json!({ "type": "shell", "environment": { "type": "container_auto" } })),
                Some("shell"),
            ),
            (
                RESPONSES,
                tools(json!({ "type": "namespace", "tools": [{ "type": "web_search" }] })),
                Some("web_search"),
            ),
            (CHAT, tools(json!({ "type": "function", "function": { "name": "f" } })), None),
            (CHAT, json!({ "web_search_options": {} }), Some("web_search_options")),
            (CHAT, json!({ "model": "m", "models": ["dearer"] }), Some("models")),
            (CHAT, json!({ "model": "m:online" }), Some("model")),
            (
                CHAT,
                user(json!({ "type": "image_url", "image_url": { "url": "https://evil" } })),
                Some("image_url"),
            ),
            (
                ANTHROPIC,
                tools(json!({ "name": "Edit", "input_schema": { "properties": {} } })),
                None,
            ),
            (ANTHROPIC, tools(json!({ "type": "bash_20250124", "name": "bash" })), None),
            (
                ANTHROPIC,
                tools(json!({ "type": "web_fetch_20250910", "name": "web_fetch" })),
                Some("web_fetch_20250910"),
            ),
            (ANTHROPIC, json!({ "mcp_servers": [{ "url": "https://evil" }] }), Some("mcp_servers")),
            (
                ANTHROPIC,
                user(
                    json!({ "type": "document", "source": { "type": "url", "url": "https://evil" } }),
                ),
                Some("url"),
            ),
            (
                ANTHROPIC,
                user(json!({ "type": "document", "source": { "type": "file", "file_id": "f" } })),
                Some("file_id"),
            ),
            (
                ANTHROPIC,
                user(
                    json!({ "type": "tool_use", "name": "f", "input": { "type": "url", "file_id": "x" } }),
                ),
                None,
            ),
            (
                ANTHROPIC,
                user(json!({ "type": "document", "source": { "type": "base64", "data": "AA" } })),
                Some("document"),
            ),
            (
                ANTHROPIC,
                user(json!({ "type": "document", "source": { "type": "text", "data": "AA" } })),
                None,
            ),
            (
                RESPONSES,
                input(json!({ "type": "input_file", "file_data": "AA" })),
                Some("input_file"),
            ),
            (CHAT, user(json!({ "type": "input_audio" })), Some("input_audio")),
            (
                GEMINI,
                parts(json!({ "inlineData": { "mimeType": "application/pdf", "data": "AA" } })),
                Some("inlineData"),
            ),
            (
                GEMINI,
                parts(json!({ "inlineData": { "mimeType": "image/png", "data": "AA" } })),
                None,
            ),
            (GEMINI, tools(json!({ "functionDeclarations": [] })), None),
            (GEMINI, tools(json!({ "urlContext": {} })), Some("urlContext")),
            (GEMINI, json!({ "tools": { "name": "x", "urlContext": {} } }), Some("name")),
            (GEMINI, json!({ "cachedContent": "cachedContents/x" }), Some("cachedContent")),
            (GEMINI, parts(json!({ "fileData": { "fileUri": "https://evil" } })), Some("fileData")),
            (
                GEMINI,
                parts(json!({ "functionCall": { "name": "f", "args": { "file_id": "x" } } })),
                None,
            ),
        ];
        for (path, question, expected) in table {
            let found = beyond(&question, path == ANTHROPIC);
            assert_eq!(found.as_deref(), expected, "{path} {question}");
        }
    }

    #[test]
    fn pictures_are_counted_wherever_the_provider_looks_at_them() {
        let picture = json!({ "type": "image", "source": { "type": "base64", "data": "AA" } });
        let result = json!({ "type": "tool_result", "content": [picture, picture] });
        let address =
            json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } });
        let seen = json!({ "inlineData": { "mimeType": "image/png", "data": "AA" } });
        let table = [
            (json!({ "messages": [{ "content": "image" }] }), 0),
            (json!({ "messages": [{ "content": [result] }, { "content": [picture] }] }), 3),
            (json!({ "messages": [{ "content": [address] }] }), 1),
            (json!({ "input": [{ "output": [{ "type": "input_image" }] }] }), 1),
            (
                json!({ "contents": [{ "parts": [seen, { "functionResponse": { "parts": [seen] } }] }] }),
                2,
            ),
            (json!({ "tools": [{ "type": "image" }] }), 0),
            (json!({ "content": [{ "type": "tool_use", "input": { "type": "image" } }] }), 0),
        ];
        for (question, expected) in table {
            assert_eq!(pictures(&question), expected, "{question}");
        }
    }
}
