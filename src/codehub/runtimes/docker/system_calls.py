"""What a container may ask of the kernel: a filter of system calls, as the engine takes it.

Ours and not the engine's own, which is as old as the engine: that of Debian 12 leaves rings (`io_uring`) open, and
sockets of every family. A list of what is allowed, by names that the engine turns into the numbers of 64- and 32-bit
programs; what the kernel is yet to learn is barred until it is written here. Left out is what needs a privilege that
nobody there has, so that a mistake in the kernel's own check is no way out, and what the local runtime bars
(`runtimes/local/system_calls.py`). A job may read every file, and with that could open files outside by their number:
that call is left out too.

32-bit programs of x86 have no sockets: most of them ask for one by `socketcall`, whose arguments no filter sees."""

import errno
import json
from functools import cache
from typing import Any

from codehub.runtimes import socket_families

FILES = """
access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
fadvise64_64 arm_fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64
fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init inotify_init1
inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioctl lchown
lchown32 lgetxattr link linkat listxattr listxattrat llistxattr _llseek lremovexattr lseek lsetxattr lstat lstat64
mkdir mkdirat mknod mknodat name_to_handle_at newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2
pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr removexattrat rename renameat renameat2
rmdir sendfile sendfile64 setxattr setxattrat splice stat stat64 statfs statfs64 statx symlink symlinkat sync
sync_file_range sync_file_range2 arm_sync_file_range syncfs tee truncate truncate64 umask unlink unlinkat utime
utimensat utimensat_time64 utimes vmsplice write writev
"""
MEMORY = """
brk cachestat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap mmap2
mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect process_madvise
process_mrelease remap_file_pages
"""
PROCESSES = """
arch_prctl capget capset execve execveat exit exit_group fork get_robust_list get_thread_area getcpu getegid getegid32
geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid getpgrp getpid getppid getpriority getresgid
getresgid32 getresuid getresuid32 getrlimit getrusage getsid gettid getuid getuid32 ioprio_get ioprio_set modify_ldt
nice pidfd_open prctl prlimit64 rseq sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
sched_getparam sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr
sched_setparam sched_setscheduler sched_yield set_robust_list set_thread_area set_tid_address set_tls setfsgid
setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setpgid setpriority setregid setregid32 setresgid
setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit setsid setuid setuid32 ugetrlimit vfork wait4 waitid
waitpid
"""
DEBUGGERS = "ptrace process_vm_readv process_vm_writev"
"""The kernel lets them at processes of the same user alone, and those are the workspace's own."""
SIGNALS = """
breakpoint kill pause pidfd_send_signal restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sigaction sigaltstack signal
signalfd signalfd4 sigpending sigprocmask sigreturn sigsuspend tgkill tkill
"""
TIME = """
alarm clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64 getitimer
gettimeofday nanosleep setitimer time timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64
timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times
"""
WAITING = """
epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 futex futex_requeue
futex_time64 futex_wait futex_waitv futex_wake _newselect poll ppoll ppoll_time64 pselect6 pselect6_time64 select
"""
MESSAGES = """
accept accept4 bind connect getpeername getsockname getsockopt ipc listen mq_getsetattr mq_notify mq_open
mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd recv
recvfrom recvmmsg recvmmsg_time64 recvmsg semctl semget semop semtimedop semtimedop_time64 send sendmmsg sendmsg
sendto setsockopt shmat shmctl shmdt shmget shutdown socketpair
"""
ITSELF = """
cacheflush getrandom landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp sysinfo uname
"""
"""Facts about the system, and fences that a program puts around itself."""
ALLOWED = frozenset(f"{FILES} {MEMORY} {PROCESSES} {DEBUGGERS} {SIGNALS} {TIME} {WAITING} {MESSAGES} {ITSELF}".split())

UNKNOWN = ("clone3", "socketcall")
"""As on a kernel that does not have them, so that libraries take the older or the newer way. What they are asked for is
behind a pointer, which a filter cannot follow."""
NAMESPACES = 0x7E020000
"""The flags of `clone` that ask for a namespace."""
PERSONALITIES = (0, 0x8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF)
"""Linux, 32-bit, an older version's number, both, addresses that stay where they are (debuggers), and which it is."""
INTEGER = 0xFFFFFFFF
"""What the kernel looks at of an argument that is an `int`: a filter that compared more could be led astray."""
MACHINES = {"SCMP_ARCH_X86_64": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"], "SCMP_ARCH_AARCH64": ["SCMP_ARCH_ARM"]}


@cache
def security_option() -> str:
    """One of the `SecurityOpt` of a create request."""
    return f"seccomp={json.dumps(profile(), separators=(',', ':'))}"


def profile() -> dict[str, Any]:
    allow = {"action": "SCMP_ACT_ALLOW"}
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "archMap": [{"architecture": each, "subArchitectures": others} for each, others in MACHINES.items()],
        "syscalls": [
            {"names": UNKNOWN, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
            {"names": sorted(ALLOWED), **allow},
            {"names": ["clone"], **allow, "args": [_masked(NAMESPACES, 0)]},
            *({"names": ["socket"], **allow, "args": [_masked(INTEGER, each)]} for each in socket_families.ALLOWED),
            *({"names": ["personality"], **allow, "args": [_masked(INTEGER, each)]} for each in PERSONALITIES),
        ],
    }


def _masked(mask: int, value: int) -> dict[str, Any]:
    """True of a first argument that is this value, as far as the mask covers it."""
    return {"index": 0, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
