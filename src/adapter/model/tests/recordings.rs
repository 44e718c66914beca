//! Tests of recordings and their replay.

use crate::adapter::host::files;
use crate::adapter::model::{Cassette, Recording, Replaying};
use crate::domain::budget::Usage;
use crate::domain::provider::Protocol;
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{Model, ModelError};

use super::{CANARY, LONG, bodies, model, question, reply, serve};

#[tokio::test]
async fn a_recording_replays_answers_and_errors_and_names_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let (good, ..) = bodies("chat");
    let ways = vec![reply(429, "slow"), reply(200, good.to_string())];
    let (address, _requests) = serve(ways).await;
    let inner = Box::new(model(Protocol::Chat, &address));
    let redactor = Redactor::new([&SecretKey::new(CANARY)]);
    let recording = Recording::new(inner, Cassette::new(folder.path()), redactor);
    let first = recording.ask(&question(LONG)).await.unwrap_err();
    // What was received is in the record of the exchange, not in the recording.
    let first = ModelError { raw: Box::default(), ..first };
    let mut keyed = question(LONG);
    keyed.prompt = format!("a source with {CANARY}");
    let second = recording.ask(&keyed).await.unwrap();
    let replaying = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(replaying.model(), "m/1 x");
    // A limit in dollars must stop a replay where it stopped the recording.
    let next = Usage::new(1_000, 0);
    assert_eq!((recording.price(next), replaying.price(next)), (Some(1_000), Some(1_000)));
    assert_eq!(replaying.ask(&question(LONG)).await.unwrap_err(), first);
    keyed.prompt = "a source with [redacted]".into();
    assert_eq!(replaying.ask(&keyed).await.unwrap().text, second.text);
    let ended = replaying.ask(&keyed).await.unwrap_err();
    assert!(ended.to_string().contains("the recording has ended"), "{ended}");
    let again = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    let mut other = question(LONG);
    other.prompt = "the question\nand more".into();
    let differs = again.ask(&other).await.unwrap_err();
    assert!(differs.to_string().contains("1 lines were asked, 2 are"), "{differs}");
    // A recording that must not contain sources stores a digest instead of each prompt.
    let path = folder.path().join("0002.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let digest = "sha256:0cb0ffd4c7a3b1f8b6a1d7e5b4d4b0b1";
    files::write(&path, text.replace("a source with [redacted]", digest).as_bytes()).unwrap();
    let short = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(short.ask(&question(LONG)).await.unwrap_err(), first);
    let differs = short.ask(&keyed).await.unwrap_err().to_string();
    let (_, is) = differs.split_once("is `").unwrap();
    let is = is.split('`').next().unwrap();
    files::write(&path, text.replace("a source with [redacted]", is).as_bytes()).unwrap();
    let short = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(short.ask(&question(LONG)).await.unwrap_err(), first);
    assert_eq!(short.ask(&keyed).await.unwrap().text, second.text);
    let empty = tempfile::tempdir().unwrap();
    let nothing = Replaying::open("p", &Cassette::new(empty.path())).unwrap();
    assert!(nothing.ask(&other).await.is_err());
}
