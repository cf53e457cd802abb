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
            // A file that is on every system, and that no write changes.
            Probe::ReadFile => std::fs::File::open("/dev/null").map(drop),
            Probe::WriteFile => std::fs::File::options().write(true).open("/dev/null").map(drop),
            Probe::Connect => match net::TcpStream::connect(("127.0.0.1", 9)) {
                // It got as far as the other side.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
                result => result.map(drop),
            },
            Probe::UnixSocket => std::os::unix::net::UnixStream::pair().map(drop),
            Probe::Exec => Command::new("/bin/true").spawn().map(drop),
            Probe::Signal => {
                // Where even asking for it is refused, the number is none.
                let parent = i32::try_from(std::os::unix::process::parent_id()).ok();
                let parent = parent.and_then(rustix::process::Pid::from_raw);
                Ok(rustix::process::test_kill_process(parent.ok_or(io::ErrorKind::PermissionDenied)?)?)
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
