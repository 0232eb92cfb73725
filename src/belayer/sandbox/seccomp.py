"""Which system calls a confined program is refused, as a filter for the kernel. Pure: it makes bytes, it loads nothing.

A deny list: it takes away what is of use only to break out. What can be seen and written is for other walls to say.
"""

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from belayer.vocabulary.errors import NoSandbox

_X86_64, _AARCH64 = "x86_64", "aarch64"
_ARCHITECTURES = {_X86_64: 0xC000003E, _AARCH64: 0xC00000B7}

# Numbers on x86_64 and aarch64; None where it has no such call. From 424 on they are the same everywhere.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, None),
    "lookup_dcookie": (212, 18),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "shmget": (29, 194),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vhangup": (153, 58),
}
# Programs that find these missing do without them; a plain refusal makes some of them give up.
_MISSING = (
    *("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret"),
    *(
        "open_tree",
        "open_tree_attr",
        "move_mount",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
    ),
    *("setxattrat", "removexattrat"),
)
_REFUSED = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
    *("pidfd_getfd", "mount", "umount2", "pivot_root", "chroot", "setns", "bpf", "perf_event_open"),
    *("userfaultfd", "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module"),
    *("finit_module", "delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl"),
    *("ioperm", "syslog", "lookup_dcookie", "name_to_handle_at", "open_by_handle_at", "vhangup"),
    *("fanotify_init", "migrate_pages", "move_pages"),
)
# Without namespaces of its own: what reaches other programs or files by other ways than opening a path.
_SHARED = ("shmget", "msgget", "semget", "mq_open")
_BY_PATH = (
    *("chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes", "futimesat"),
    *("setxattr", "lsetxattr", "removexattr", "lremovexattr"),
)
_OF_ANOTHER = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
_OF_SOME = ("setpriority", "ioprio_set")  # (which, who, …)

_NEW_NAMESPACES = 0x7E020080  # user, mount, pid, network, ipc, uts, cgroup, time
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX: type into the terminal of whoever watches
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_X32_BIT = 0x40000000

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


@dataclass(frozen=True, slots=True)
class _Op:
    """One instruction of the kernel's filter machine."""

    code: int
    value: int
    yes: int = 0
    no: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


def filter_for(*, alone: bool, machine: str | None = None) -> bytes:
    """The filter for a program in namespaces of its own (`alone`), or for one that shares the host's."""
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise NoSandbox(
            f"There is no system call filter for {machine}, so programs cannot be confined here.",
            "Run Belayer on x86_64 or aarch64, or see docs/sandbox.md for running unconfined.",
        )
    rules = [*_everywhere(machine), *(_in_own_namespaces(machine) if alone else _among_others(machine))]
    ops = [*_entrance(machine), *(op for rule in rules for op in rule), _Op(_RETURN, _ALLOW)]
    return b"".join(op.packed() for op in ops)


def _entrance(machine: str) -> list[_Op]:
    """Calls made in another architecture's way have other numbers, so nothing below would hold for them."""
    ops = [
        _Op(_LOAD, _ARCHITECTURE),
        _Op(_JUMP_EQUAL, _ARCHITECTURES[machine], yes=1),
        _Op(_RETURN, _KILL),
        _Op(_LOAD, _NUMBER),
    ]
    if machine == _X86_64:
        ops += [_Op(_JUMP_AT_LEAST, _X32_BIT, no=1), _refusal(errno.ENOSYS)]
    return ops


def _everywhere(machine: str) -> list[list[_Op]]:
    return [
        *_always(machine, _MISSING, errno.ENOSYS),
        *_always(machine, _REFUSED, errno.EPERM),
        *_if_bits(machine, "clone", 0, _NEW_NAMESPACES),
        *_if_bits(machine, "unshare", 0, _NEW_NAMESPACES),
        *_if_one_of(machine, "ioctl", 1, _TERMINAL_INPUT),
    ]


def _in_own_namespaces(machine: str) -> list[list[_Op]]:
    """The network namespace is empty but for its own loopback; other families (vsock, packet) may not know of it."""
    return _unless_one_of(machine, "socket", 0, (_UNIX, _INET, _INET6, _NETLINK), errno.EAFNOSUPPORT)


def _among_others(machine: str) -> list[list[_Op]]:
    """No new socket at all: a UNIX one reaches every service of the host that listens at a path."""
    return [
        *_always(machine, ("socket",), errno.EACCES),
        *_always(machine, (*_SHARED, *_BY_PATH), errno.EPERM),
        *(rule for name in _OF_ANOTHER for rule in _unless_one_of(machine, name, 0, (0,), errno.EPERM)),
        *(rule for name in _OF_SOME for rule in _unless_one_of(machine, name, 1, (0,), errno.EPERM)),
        *_unless_null(machine, "utimensat", 1),  # without a path: a file that is open
    ]


def _always(machine: str, names: Sequence[str], number: int) -> list[list[_Op]]:
    return [rule for name in names for rule in _on(machine, name, [_refusal(number)])]


def _if_bits(machine: str, name: str, argument: int, bits: int) -> list[list[_Op]]:
    body = [_low(argument), _Op(_JUMP_ANY_BIT, bits, no=1), _refusal(errno.EPERM), _Op(_RETURN, _ALLOW)]
    return _on(machine, name, body)


def _if_one_of(machine: str, name: str, argument: int, values: Sequence[int]) -> list[list[_Op]]:
    found = [_Op(_JUMP_EQUAL, value, yes=len(values) - at) for at, value in enumerate(values)]
    return _on(machine, name, [_low(argument), *found, _Op(_RETURN, _ALLOW), _refusal(errno.EPERM)])


def _unless_one_of(
    machine: str, name: str, argument: int, values: Sequence[int], number: int
) -> list[list[_Op]]:
    found = [_Op(_JUMP_EQUAL, value, yes=len(values) - at) for at, value in enumerate(values)]
    return _on(machine, name, [_low(argument), *found, _refusal(number), _Op(_RETURN, _ALLOW)])


def _unless_null(machine: str, name: str, argument: int) -> list[list[_Op]]:
    """A pointer is null if both of its halves are."""
    low = [_low(argument), _Op(_JUMP_EQUAL, 0, no=2)]
    high = [_Op(_LOAD, _FIRST_ARGUMENT + 8 * argument + 4), _Op(_JUMP_EQUAL, 0, yes=1)]
    return _on(machine, name, [*low, *high, _refusal(errno.EPERM), _Op(_RETURN, _ALLOW)])


def _on(machine: str, name: str, body: list[_Op]) -> list[list[_Op]]:
    """The body for calls of this name; the number must be loaded, and stays so for the next rule."""
    number = _NUMBERS[name][0 if machine == _X86_64 else 1]
    return [] if number is None else [[_Op(_JUMP_EQUAL, number, no=len(body)), *body]]


def _low(argument: int) -> _Op:
    """The half of an argument that the kernel looks at where it takes an int; both machines are little-endian."""
    return _Op(_LOAD, _FIRST_ARGUMENT + 8 * argument)


def _refusal(number: int) -> _Op:
    return _Op(_RETURN, _ERRNO | number)
