//! Attempts at what confinement forbids, made in a worker that is then thrown away.

use std::{io, net, process::Command};

/// Something that a worker must not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    ReadFile,
    WriteFile,
    Connect,
    UnixSocket,
    Exec,
    Signal,
    Thread,
    Pipe,
    MuchMemory,
}

impl Probe {
    pub(crate) const ALL: [Probe; 9] = [
        Probe::ReadFile,
        Probe::WriteFile,
        Probe::Connect,
        Probe::UnixSocket,
        Probe::Exec,
        Probe::Signal,
        Probe::Thread,
        Probe::Pipe,
        Probe::MuchMemory,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Probe::ReadFile => "read a file",
            Probe::WriteFile => "write a file",
            Probe::Connect => "connect to a network address",
            Probe::UnixSocket => "open a Unix socket",
            Probe::Exec => "start a program",
            Probe::Signal => "signal another process",
            Probe::Thread => "start a thread",
            Probe::Pipe => "open another descriptor",
            Probe::MuchMemory => "take more memory than allowed",
        }
    }

    /// Tries it; the error is the refusal.
    pub(crate) fn attempt(self) -> io::Result<()> {
        match self {
            Probe::ReadFile => std::fs::File::open("/etc/hostname").map(drop),
            Probe::WriteFile => std::fs::File::create("/tmp/flowmcp-worker-probe").map(drop),
            Probe::Connect => net::TcpStream::connect(("127.0.0.1", 9)).map(drop),
            Probe::UnixSocket => std::os::unix::net::UnixStream::pair().map(drop),
            Probe::Exec => Command::new("/bin/true").spawn().map(drop),
            Probe::Signal => {
                let parent = rustix::process::getppid().ok_or(io::ErrorKind::PermissionDenied)?;
                Ok(rustix::process::test_kill_process(parent)?)
            }
            Probe::Thread => std::thread::Builder::new().spawn(|| {}).map(drop),
            Probe::Pipe => Ok(rustix::pipe::pipe().map(drop)?),
            Probe::MuchMemory => {
                let mut much: Vec<u8> = Vec::new();
                much.try_reserve_exact(16 << 30).map_err(|_| io::ErrorKind::OutOfMemory.into())
            }
        }
    }
}
