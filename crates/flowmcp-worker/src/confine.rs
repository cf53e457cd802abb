//! What a worker gives up before it runs anything, layer by layer, and which layers the kernel really enforces.

use std::fmt;

/// One layer of confinement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What it is, for people.
    pub name: String,
    /// Whether it holds.
    pub state: LayerState,
}

/// Whether a layer of confinement holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerState {
    /// The kernel enforces it.
    Enforced,
    /// The kernel enforces an older, smaller form of it; the text says what.
    Partly(String),
    /// It does not hold; the text says why.
    Missing(String),
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            LayerState::Enforced => write!(f, "{}: enforced", self.name),
            LayerState::Partly(note) => write!(f, "{}: in part ({note})", self.name),
            LayerState::Missing(note) => write!(f, "{}: missing ({note})", self.name),
        }
    }
}

/// Which layers a worker takes on. All of them, but for showing what one does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layers {
    /// Every layer, as for handlers.
    All,
    /// Of the three that refuse system calls, Landlock alone.
    Landlock,
    /// The resource limits alone.
    Limits,
    /// The system call filter alone.
    Seccomp,
}

impl Layers {
    /// Every choice, all layers together first.
    pub const EACH: [Layers; 4] = [Layers::All, Layers::Landlock, Layers::Limits, Layers::Seccomp];

    /// The word for it in texts and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Layers::All => "all layers",
            Layers::Landlock => "Landlock",
            Layers::Limits => "resource limits",
            Layers::Seccomp => "seccomp",
        }
    }
}

/// Names of the layers that are missing, joined for a text; none when all hold.
pub fn missing(layers: &[Layer]) -> Option<String> {
    if layers.is_empty() {
        return Some("every layer of confinement".to_owned());
    }
    let names: Vec<&str> = layers
        .iter()
        .filter(|layer| matches!(layer.state, LayerState::Missing(_)))
        .map(|layer| layer.name.as_str())
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn layer(name: &str, result: Result<(), impl fmt::Display>) -> Layer {
    let state = match result {
        Ok(()) => LayerState::Enforced,
        Err(error) => LayerState::Missing(error.to_string()),
    };
    Layer { name: name.to_owned(), state }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn confine(_memory_bytes: usize, _layers: Layers) -> Vec<Layer> {
    vec![layer("confinement", Err("only Linux workers are confined"))]
}

#[cfg(target_os = "linux")]
pub(crate) use linux::confine;

#[cfg(target_os = "linux")]
mod linux {
    use std::{collections::BTreeMap, io};

    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
    use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::{Layer, LayerState, Layers, layer};

    /// What a worker needs beside the script's own memory: its code, the frames, the host language's heap.
    const OWN_MEMORY: u64 = 256 << 20;
    /// Address space that allocators reserve without using it, beside some for each heap of scripts.
    const RESERVED: u64 = 4 << 30;
    /// Most heaps of scripts: one that schemas share, one for each schema that keeps its context, and one for compiling.
    const HEAPS: u64 = 8;
    /// The Landlock rights that are asked for: files, TCP, and signals and abstract sockets to outside.
    const LANDLOCK: ABI = ABI::V6;

    /// Gives up everything but reading standard input, writing standard output, memory and time.
    pub(crate) fn confine(memory_bytes: usize, wanted: Layers) -> Vec<Layer> {
        let takes = |one| wanted == Layers::All || wanted == one;
        let mut layers = vec![
            layer(
                "death with the host",
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL)),
            ),
            layer(
                "no core dumps, no ptrace",
                rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable),
            ),
            layer("no new privileges", rustix::thread::set_no_new_privs(true)),
        ];
        if takes(Layers::Landlock) {
            layers.push(landlock());
        }
        // After Landlock, which needs a descriptor; before seccomp, which forbids setting them.
        if takes(Layers::Limits) {
            layers.push(layer("resource limits", limit_resources(memory_bytes)));
        }
        if takes(Layers::Seccomp) {
            layers.push(layer("seccomp", seccomp()));
        }
        layers
    }

    fn limit_resources(memory_bytes: usize) -> io::Result<()> {
        let memory = u64::try_from(memory_bytes).unwrap_or(u64::MAX).saturating_add(OWN_MEMORY);
        for (resource, most) in [
            (Resource::Data, memory),
            (Resource::As, memory.saturating_mul(HEAPS).saturating_add(RESERVED)),
            (Resource::Core, 0),
            (Resource::Nofile, 3),
            (Resource::Fsize, 0),
            (Resource::Memlock, 0),
        ] {
            // The hard limit may already be lower; raising it is not allowed.
            let most = rustix::process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
            rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        Ok(())
    }

    fn landlock() -> Layer {
        let name = "Landlock (no files, no network)".to_owned();
        let restricted = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(LANDLOCK)))
            .and_then(|rules| rules.scope(Scope::from_all(LANDLOCK)))
            .and_then(Ruleset::create)
            .and_then(landlock::RulesetCreated::restrict_self);
        let state = match restricted {
            Ok(status) => match status.ruleset {
                RulesetStatus::FullyEnforced => LayerState::Enforced,
                RulesetStatus::PartiallyEnforced => LayerState::Partly("an older kernel".to_owned()),
                RulesetStatus::NotEnforced => LayerState::Missing("the kernel does not offer it".to_owned()),
            },
            Err(error) => LayerState::Missing(error.to_string()),
        };
        Layer { name, state }
    }

    /// Two filters: what no worker ever does kills it, what is not on the list of what it needs fails with EPERM. The
    /// kernel takes the stricter answer of the two.
    fn seccomp() -> Result<(), String> {
        let arch: TargetArch =
            std::env::consts::ARCH.try_into().map_err(|_| "unknown architecture".to_owned())?;
        let text = |error: seccompiler::BackendError| error.to_string();
        let mut kills: BpfProgram = SeccompFilter::new(
            fatal().into_iter().collect(),
            SeccompAction::Allow,
            SeccompAction::KillProcess,
            arch,
        )
        .map_err(text)?
        .try_into()
        .map_err(text)?;
        kills.shrink_to_fit();
        let allows: BpfProgram = SeccompFilter::new(
            allowed().map_err(text)?,
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            SeccompAction::Allow,
            arch,
        )
        .map_err(text)?
        .try_into()
        .map_err(text)?;
        seccompiler::apply_filter(&kills).map_err(|error| error.to_string())?;
        seccompiler::apply_filter(&allows).map_err(|error| error.to_string())
    }

    /// System calls that only an attack makes.
    fn fatal() -> BTreeMap<i64, Vec<SeccompRule>> {
        let mut calls = vec![
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_mount,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_io_uring_setup,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_getfd,
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_kexec_load,
        ];
        #[cfg(target_arch = "x86_64")]
        calls.extend([libc::SYS_open, libc::SYS_creat, libc::SYS_fork, libc::SYS_vfork]);
        calls.into_iter().map(|call| (call, Vec::new())).collect()
    }

    /// System calls that a worker makes.
    fn allowed() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
        let argument =
            |index, operation, value| SeccompCondition::new(index, SeccompCmpArgLen::Dword, operation, value);
        let only = |conditions: Vec<SeccompCondition>| SeccompRule::new(conditions);
        // Descriptors that the host leaked by accident are out of reach, since only the two pipes can be used.
        let input = |index| only(vec![argument(index, SeccompCmpOp::Eq, 0)?]);
        let output = |index, to| only(vec![argument(index, SeccompCmpOp::Eq, to)?]);
        let not_executable = |index| {
            let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
            only(vec![argument(index, SeccompCmpOp::MaskedEq(executable), 0)?])
        };
        let mut calls: BTreeMap<i64, Vec<SeccompRule>> = [
            libc::SYS_brk,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_madvise,
            libc::SYS_futex,
            libc::SYS_clock_gettime,
            libc::SYS_getrandom,
            libc::SYS_rt_sigreturn,
            libc::SYS_rt_sigprocmask,
            libc::SYS_sigaltstack,
            libc::SYS_restart_syscall,
            libc::SYS_sched_yield,
            libc::SYS_getpid,
            libc::SYS_gettid,
            libc::SYS_exit,
            libc::SYS_exit_group,
        ]
        .into_iter()
        .map(|call| (call, Vec::new()))
        .collect();
        // A crash has to end the process: without these `abort` and the handler of faults spin until the time limit.
        let own = u64::from(std::process::id());
        let fault =
            |signal: i32| only(vec![argument(0, SeccompCmpOp::Eq, u64::from(signal.unsigned_abs()))?]);
        let faults = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS];
        calls.insert(libc::SYS_rt_sigaction, faults.into_iter().map(fault).collect::<Result<_, _>>()?);
        let abort = u64::from(libc::SIGABRT.unsigned_abs());
        let to_itself = vec![argument(0, SeccompCmpOp::Eq, own)?, argument(2, SeccompCmpOp::Eq, abort)?];
        calls.insert(libc::SYS_tgkill, vec![only(to_itself)?]);
        calls.insert(libc::SYS_read, vec![input(0)?]);
        calls.insert(libc::SYS_write, vec![output(0, 1)?, output(0, 2)?]);
        calls.insert(libc::SYS_mmap, vec![not_executable(2)?]);
        calls.insert(libc::SYS_mprotect, vec![not_executable(2)?]);
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_layers_are_named() {
        let layers = [
            layer("a", Ok::<(), String>(())),
            layer("b", Err("old kernel")),
            Layer { name: "c".to_owned(), state: LayerState::Partly("x".to_owned()) },
        ];
        assert_eq!(missing(&layers).as_deref(), Some("b"));
        assert_eq!(missing(&layers[..1]), None);
        assert_eq!(layers[1].to_string(), "b: missing (old kernel)");
    }
}
