//! A worker that breaks the protocol in the way that its argument says, as one that was taken over might.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

/// A frame with a kind and raw fields.
fn frame(kind: u8, fields: &[u8]) -> Vec<u8> {
    let length = u32::try_from(fields.len() + 1).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), &[kind], fields].concat()
}

fn text(value: &str) -> Vec<u8> {
    [u32::try_from(value.len()).unwrap_or(u32::MAX).to_be_bytes().as_slice(), value.as_bytes()].concat()
}

/// An output whose JSON is `1`.
fn output() -> Vec<u8> {
    frame(2, &[vec![0, 2], text("1"), vec![0], text(""), vec![0; 4]].concat())
}

/// A compile answer, which the host expects first.
fn compiled() -> Vec<u8> {
    frame(1, &text("code"))
}

fn read_frame(input: &mut impl Read) -> io::Result<u8> {
    let mut header = [0; 4];
    input.read_exact(&mut header)?;
    let mut body = vec![0; u32::from_be_bytes(header) as usize];
    input.read_exact(&mut body)?;
    Ok(body.first().copied().unwrap_or_default())
}

fn main() -> ExitCode {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let (mut input, mut output_pipe) = (io::stdin().lock(), io::stdout().lock());
    let mut send = |bytes: &[u8]| output_pipe.write_all(bytes).and_then(|()| output_pipe.flush());
    if mode == "wrong-ready" {
        let sent = send(&output());
        return if sent.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if read_frame(&mut input).is_err() || send(&frame(0, &[0; 4])).is_err() {
        return ExitCode::FAILURE;
    }
    while let Ok(kind) = read_frame(&mut input) {
        let sent = match (kind, mode.as_str()) {
            (4, _) => send(&compiled()),
            (1, _) => Ok(()),
            (_, "garbage") => send(b"\0\0\0\x05hello"),
            (_, "huge-length") => send(&[0xff; 64]),
            (_, "zero-length") => send(&[0; 4]),
            (_, "log-flood") => {
                let line = frame(7, &[vec![1], text("x")].concat());
                (0..100_000).try_for_each(|_| send(&line))
            }
            (_, "long-line") => send(&frame(7, &[vec![1], text(&"x".repeat(100_000))].concat())),
            (_, "fetch-without-grant") => {
                let fields = [
                    1_u64.to_be_bytes().to_vec(),
                    text("GET"),
                    text("https://a.test/"),
                    vec![0; 4],
                    text(""),
                    vec![0; 4],
                ];
                send(&frame(5, &fields.concat()))
            }
            (_, "wait-without-grant") => send(&frame(6, &[0; 9])),
            (_, "another-answer") => send(&compiled()),
            (_, "ready-again") => send(&frame(0, &[0; 4])),
            (_, "two-answers") => send(&[output(), output()].concat()),
            (_, "half-answer") => send(output().get(..6).unwrap_or_default()),
            (_, "trailing") => {
                let mut bytes = output();
                bytes.push(0);
                send(&bytes)
            }
            (_, "exit") => return ExitCode::from(3),
            (_, "log-and-exit") => {
                drop(send(&frame(7, &[vec![1], text("x")].concat())));
                return ExitCode::from(3);
            }
            (_, "log-and-abort") => {
                drop(send(&frame(7, &[vec![1], text("x")].concat())));
                std::process::abort();
            }
            (_, "silent") => Ok(()),
            _ => send(&output()),
        };
        if sent.is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
