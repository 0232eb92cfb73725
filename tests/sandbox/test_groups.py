"""Where control groups might be made, read from what different machines say of themselves."""

from pathlib import Path

from belayer.sandbox.groups import Group, Groups, Place, places
from belayer.sandbox.sandbox import Limits

V1 = "9:memory:/jobs/7\n8:pids:/\n7:cpu,cpuacct:/\n0::/\n"
V1_MOUNTS = (
    "30 29 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "31 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 29 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "33 29 0:29 / /proc rw - proc proc rw\n"
)
V2 = "0::/user.slice/user-1000.slice/session-3.scope\n"
V2_MOUNTS = "30 29 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"


def test_groups_are_made_below_our_own() -> None:
    (place,) = places(V1, V1_MOUNTS)
    both = Path("/sys/fs/cgroup/cpu,cpuacct")
    assert place.version == 1
    assert place.folders == {
        "memory": Path("/sys/fs/cgroup/memory/jobs/7"),
        "pids": Path("/sys/fs/cgroup/pids"),
        "cpuacct": both,
        "cpu": both,
    }
    assert len(place.all()) == 3


def test_with_version_two_there_is_one_folder_and_the_one_above_it() -> None:
    own, above = places(V2, V2_MOUNTS)
    assert own == Place(2, {"": Path("/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope")})
    assert above == Place(2, {"": Path("/sys/fs/cgroup/user.slice/user-1000.slice")})


def test_above_the_top_there_is_nothing() -> None:
    assert places("0::/\n", V2_MOUNTS) == [Place(2, {"": Path("/sys/fs/cgroup")})]


def test_without_a_controller_that_is_needed_there_is_no_place() -> None:
    assert places(V1.replace("pids", "misc"), V1_MOUNTS) == []
    assert places("", "") == []


def test_a_limit_that_cannot_be_written_is_not_passed_over(tmp_path: Path) -> None:
    group = Group(Place(2, {"": tmp_path / "group"}))
    group.make()
    try:
        group.limit(Limits(), besides=0)
    except FileNotFoundError:
        return
    raise AssertionError("a folder without limits was taken for a group")


def test_version_two_is_read_as_the_kernel_writes_it(tmp_path: Path) -> None:
    for name, text in {
        "pids.max": "max",
        "memory.max": "max",
        "pids.current": "3\n",
        "pids.events": "max 2\n",
        "memory.current": "1000\n",
        "memory.peak": "2000\n",
        "memory.events": "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
        "cgroup.procs": "11\n12\n",
    }.items():
        (tmp_path / name).write_text(text)
    group = Group(Place(2, {"": tmp_path}))
    group.limit(Limits(memory_bytes=4096, processes=7), besides=2)
    assert ((tmp_path / "memory.max").read_text(), (tmp_path / "pids.max").read_text()) == ("4096", "9")
    read = group.read()
    assert (read.cpu_seconds, read.memory_bytes, read.peak_bytes, read.processes) == (1.5, 1000, 2000, 3)
    assert read.starved
    assert read.crowded
    assert group.processes() == [11, 12]


def test_groups_that_were_made_are_gone_when_they_are_closed() -> None:
    groups = Groups.open("belayer-test-of-groups")
    if groups is None:
        return  # they cannot be had here, which is an answer too
    group = groups.new()
    group.limit(Limits(), besides=0)
    folders = groups.folders()
    groups.close()
    assert not any(folder.exists() for folder in folders)
