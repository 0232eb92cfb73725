"""The filter, run by a machine of our own: what it refuses, on both architectures, whatever else stands in a call."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.sandbox.seccomp import _NUMBERS, filter_for
from belayer.vocabulary.errors import NoSandbox

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINES = list(ARCHITECTURES)
machines = pytest.mark.parametrize("machine", MACHINES)
NUMBER_OF = {
    machine: {name: found for name, numbers in _NUMBERS.items() if (found := numbers[at]) is not None}
    for at, machine in enumerate(MACHINES)
}


def verdict(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0) -> int:
    """What the kernel would make of a call."""
    call = struct.pack("<iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    ops = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, held = 0, 0
    while True:
        code, yes, no, value = ops[at]
        at += 1
        match code:
            case 0x20:
                held = struct.unpack_from("<I", call, value)[0]
            case 0x15:
                at += yes if held == value else no
            case 0x35:
                at += yes if held >= value else no
            case 0x45:
                at += yes if held & value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(code)


class Kernel:
    def __init__(self, machine: str, *, alone: bool) -> None:
        self.machine = machine
        self.program = filter_for(alone=alone, machine=machine)

    def answer(self, name: str, *arguments: int) -> int | None:
        """The error that a call meets; None if it is let through."""
        found = verdict(self.program, NUMBER_OF[self.machine][name], arguments, ARCHITECTURES[self.machine])
        assert found == ALLOW or found & 0xFFFF0000 == ERRNO
        return None if found == ALLOW else found & 0xFFFF


@machines
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "name",
    ["ptrace", "mount", "umount2", "bpf", "keyctl", "setns", "perf_event_open", "userfaultfd", "init_module"],
)
def test_what_is_only_of_use_to_break_out_is_refused(machine: str, alone: bool, name: str) -> None:
    assert Kernel(machine, alone=alone).answer(name, 1, 2, 3) == errno.EPERM


@machines
@pytest.mark.parametrize("name", ["clone3", "io_uring_setup", "fsopen", "open_tree", "move_mount"])
def test_new_calls_look_as_if_the_kernel_had_none(machine: str, name: str) -> None:
    assert Kernel(machine, alone=True).answer(name) == errno.ENOSYS


@machines
def test_processes_and_threads_can_be_made_but_no_namespaces(machine: str) -> None:
    kernel = Kernel(machine, alone=True)
    thread, child = 0x3D0F00, 17
    assert kernel.answer("clone", thread) is None
    assert kernel.answer("clone", child) is None
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert kernel.answer("clone", child | namespace) == errno.EPERM
        assert kernel.answer("unshare", namespace) == errno.EPERM
    assert kernel.answer("unshare", 0x400) is None


@machines
@given(high=st.integers(0, 2**32 - 1))
def test_typing_into_a_terminal_is_refused_whatever_the_upper_half_says(machine: str, high: int) -> None:
    kernel = Kernel(machine, alone=True)
    assert kernel.answer("ioctl", 0, high << 32 | 0x5412) == errno.EPERM
    assert kernel.answer("ioctl", 0, high << 32 | 0x5401) is None


@machines
def test_alone_there_are_sockets_of_the_own_loopback_and_no_others(machine: str) -> None:
    kernel = Kernel(machine, alone=True)
    assert [kernel.answer("socket", family) for family in (1, 2, 10, 16)] == [None] * 4
    for family in (17, 38, 40, 31, 44):  # packet, alg, vsock, bluetooth, xdp
        assert kernel.answer("socket", family) == errno.EAFNOSUPPORT


@machines
@given(family=st.integers(0, 100))
def test_among_others_there_are_no_sockets(machine: str, family: int) -> None:
    assert Kernel(machine, alone=False).answer("socket", family) == errno.EACCES


@machines
@given(pid=st.integers(1, 2**22))
def test_among_others_only_its_own_limits_can_be_set(machine: str, pid: int) -> None:
    kernel = Kernel(machine, alone=False)
    assert kernel.answer("prlimit64", 0) is None
    assert kernel.answer("prlimit64", pid) == errno.EPERM
    assert kernel.answer("setpriority", 0, pid) == errno.EPERM


@machines
@given(high=st.integers(0, 2**16), low=st.integers(0, 2**32 - 1))
def test_among_others_dates_are_set_only_of_open_files(machine: str, high: int, low: int) -> None:
    path = high << 32 | low
    expected = None if path == 0 else errno.EPERM
    assert Kernel(machine, alone=False).answer("utimensat", 3, path) == expected


@machines
def test_a_call_in_another_architectures_way_is_the_end(machine: str) -> None:
    kernel = Kernel(machine, alone=True)
    for foreign in (0x40000003, *(set(ARCHITECTURES.values()) - {ARCHITECTURES[machine]})):
        assert verdict(kernel.program, 1, (), foreign) == KILL


def test_the_other_way_to_number_calls_is_refused() -> None:
    kernel = Kernel("x86_64", alone=True)
    assert verdict(kernel.program, 0x40000001, (), ARCHITECTURES["x86_64"]) == ERRNO | errno.ENOSYS


@machines
@given(number=st.integers(0, 500))
def test_everything_else_is_let_through(machine: str, number: int) -> None:
    if number not in NUMBER_OF[machine].values():
        kernel = Kernel(machine, alone=False)
        assert verdict(kernel.program, number, (), ARCHITECTURES[machine]) == ALLOW


def test_a_machine_without_a_filter_is_told_so() -> None:
    with pytest.raises(NoSandbox, match="riscv64"):
        filter_for(alone=True, machine="riscv64")
