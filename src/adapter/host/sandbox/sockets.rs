//! Leaves a process no way to the network but TCP connections, which Landlock sees: no UDP, no other
//! protocol, no data in the first packet (seccomp).

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::{AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EACCES, IPPROTO_TCP, MSG_FASTOPEN};
use libc::{SOCK_STREAM, SYS_io_uring_setup, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_socket};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp};
use seccompiler::{SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter};

/// The bits of a socket's type without its flags.
const TYPE: i32 = 0xf;

/// The bit that marks calls of the x32 interface.
const ILP32_BIT: i64 = 0x4000_0000;

/// Numbers of the x32 interface, and the calls that they stand for (`syscall_64.tbl` of Linux).
const ILP32_CALLS: [(i64, i64); 5] = [
    (41, SYS_socket),
    (44, SYS_sendto),
    (518, SYS_sendmsg),
    (538, SYS_sendmmsg),
    (425, SYS_io_uring_setup),
];

/// Whether this kernel filters system calls, on a processor that the filter knows.
pub(super) fn is_supported() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Seccomp:")) && TargetArch::try_from(ARCH).is_ok()
}

/// Restricts this thread and everything that it starts, for good. The error is for people.
pub(super) fn restrict() -> Result<(), String> {
    let filter = filter().map_err(|error| format!("the filter of sockets is wrong: {error}"))?;
    apply_filter(&filter).map_err(|error| format!("seccomp refuses: {error}"))
}

fn filter() -> Result<BpfProgram, BackendError> {
    let mut sockets =
        vec![rule(&[(0, Ne, AF_INET), (0, Ne, AF_INET6), (0, Ne, AF_UNIX), (0, Ne, AF_NETLINK)])?];
    for family in [AF_INET, AF_INET6] {
        for other in (0..=TYPE).filter(|kind| *kind != SOCK_STREAM) {
            sockets.push(rule(&[(0, Eq, family), (1, masked(TYPE), other)])?);
        }
        sockets.push(rule(&[(0, Eq, family), (2, Ne, 0), (2, Ne, IPPROTO_TCP)])?);
    }
    let fast_open = |argument| Ok(vec![rule(&[(argument, masked(MSG_FASTOPEN), MSG_FASTOPEN)])?]);
    let mut denied = BTreeMap::from([
        (SYS_socket, sockets),
        (SYS_sendto, fast_open(3)?),
        (SYS_sendmsg, fast_open(2)?),
        (SYS_sendmmsg, fast_open(3)?),
        // It opens sockets and sends without these calls.
        (SYS_io_uring_setup, Vec::new()),
    ]);
    if ARCH == "x86_64" {
        // Some kernels know the calls of the x32 interface too, under other numbers.
        for (number, call) in ILP32_CALLS {
            let rules = denied.get(&call).cloned().unwrap_or_default();
            denied.insert(ILP32_BIT | number, rules);
        }
    }
    let deny = SeccompAction::Errno(EACCES.unsigned_abs());
    SeccompFilter::new(denied, SeccompAction::Allow, deny, TargetArch::try_from(ARCH)?)?.try_into()
}

fn masked(bits: i32) -> SeccompCmpOp {
    MaskedEq(bits.unsigned_abs().into())
}

/// Holds where each argument compares with its value.
fn rule(conditions: &[(u8, SeccompCmpOp, i32)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, compare, value)| {
        let value = value.unsigned_abs().into();
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}
