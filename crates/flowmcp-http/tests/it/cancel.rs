//! Dropping the future ends the upstream request.

use std::{sync::Arc, time::Instant};

use flowmcp_plugin::Transport;
use tokio::{io::AsyncReadExt, net::TcpListener, sync::oneshot, time::timeout};

use crate::server::{PATIENT, get, read_request, transport};

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (arrived, arrival) = oneshot::channel();
    let closed = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        arrived.send(()).unwrap();
        stream.read(&mut [0; 16]).await
    });
    let transport = Arc::new(transport());
    let sender = Arc::clone(&transport);
    let call = tokio::spawn(async move { sender.send(get(url), Instant::now() + PATIENT).await });
    arrival.await.unwrap();
    call.abort();
    let end = timeout(PATIENT, closed).await.expect("the server must see the end of the connection").unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}
