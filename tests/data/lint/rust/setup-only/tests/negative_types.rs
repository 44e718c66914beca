fn is_send<T: Send>() {}

#[test]
fn the_client_is_send() {
    is_send::<String>();
}

#[test]
fn the_first_one_wins() {
    tokio::select! {
        _ = ready() => {}
        _ = never() => panic!("the second one"),
    }
}
