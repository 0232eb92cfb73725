"""Ways out of the sandbox, each tried on every real rung: nothing gets out, and every limit that is met is named."""

import asyncio
import os
import platform
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from belayer.vocabulary.errors import NoSandbox
from tests.sandbox.boxes import MEGABYTE, PYTHON, RUNGS, Box, furnished, lasting

pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"the attacks are written for {PYTHON}")

CALL = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.fixture(scope="module", params=RUNGS)
def rung(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    yield from lasting(request.param, tmp_path_factory.mktemp("box"))


@pytest.fixture
def box(rung: Box, tmp_path: Path) -> Box:
    return furnished(rung.sandbox, rung.home, tmp_path)


# Files


@pytest.mark.parametrize(
    "place", ["{outside}/new", "/usr/new", "/etc/new", "/new", "/var/new", "{home}/new", "/root/new"]
)
async def test_nothing_is_written_outside_of_the_workspace(box: Box, place: str) -> None:
    target = Path(place.format(outside=box.outside, home=box.home))
    await box.sh(f"mkdir -p {target.parent}; echo x >{target}")
    assert not is_there(target)


def is_there(path: Path) -> bool:
    with suppress(PermissionError):
        return path.exists()
    return False


def is_empty(path: Path) -> bool:
    with suppress(PermissionError):
        return path.is_dir() and not any(path.iterdir())
    return False


async def test_a_file_outside_is_neither_changed_nor_removed_nor_moved(box: Box) -> None:
    secret = box.outside / "secret"
    before = secret.stat()
    for attack in (
        f"echo x >{secret}",
        f"truncate -s 0 {secret}",
        f"rm -f {secret}",
        f"mv {secret} stolen",
        f"ln {secret} stolen",
        f"mv {box.outside} stolen",
        f"chmod 777 {secret}",
        f"chmod 777 {box.outside}",
        f"touch -d 2001-01-01 {secret}",
        f"setfattr -n user.x -v y {secret}",
    ):
        await box.sh(attack)
    after = secret.stat()
    assert secret.read_text() == "the secret"
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (before.st_mode, before.st_mtime_ns, 1)
    assert stat.S_IMODE(box.outside.stat().st_mode) == 0o755
    assert list(box.folder.iterdir()) == []


@pytest.mark.parametrize(
    "place",
    [
        "{outside}/secret",
        "/etc/shadow",
        "{home}/sandbox",
        "/root",
        "/home",
        "/var/log",
        "/run",
        "/sys",
        "/boot",
    ],
)
async def test_nothing_of_the_host_is_read_but_its_programs(box: Box, place: str) -> None:
    target = Path(place.format(outside=box.outside, home=box.home))
    if is_empty(target):
        pytest.skip("there is nothing to see")
    ran = await box.sh(f"cat {target} 2>/dev/null; find {target} -mindepth 1 2>/dev/null | head")
    assert ran.out == ""


async def test_a_secret_is_not_found_by_any_name(box: Box) -> None:
    secret = box.outside / "secret"
    ways = [
        f"../outside/{secret.name}",
        f"/proc/self/root{secret}",
        f"/proc/1/root{secret}",
        f"/proc/{os.getpid()}/root{secret}",
        f"/proc/{os.getpid()}/cwd/{secret}",
        f"/proc/self/cwd/../outside/{secret.name}",
        "/dev/stdin/../../outside/secret",
    ]
    for way in ways:
        assert "the secret" not in (await box.sh(f"cat {way}")).out


async def test_links_in_the_workspace_lead_nowhere_outside(box: Box) -> None:
    (box.folder / "file").symlink_to(box.outside / "secret")
    (box.folder / "folder").symlink_to(box.outside)
    ran = await box.sh("cat file folder/secret; echo x >file; echo x >folder/new; ls folder/")
    assert ran.out == ""
    assert (box.outside / "secret").read_text() == "the secret"
    assert not (box.outside / "new").exists()


async def test_a_link_made_by_one_program_does_not_fool_the_next_ones_walls(box: Box) -> None:
    for name in (".git", ".claude", ".belayer"):
        await box.sh(f"ln -s {box.outside} {name}")
    ran = await box.sh("cat .git/secret .claude/secret .belayer/secret; ls .git/")
    assert "secret" not in ran.out


async def test_a_folder_that_becomes_a_link_while_programs_start_gives_nothing_away(box: Box) -> None:
    """One program swaps `.git` between a folder and a link, as fast as it can, while others are started."""
    code = (
        "import os, sys\nos.mkdir('real')\n"
        "while True:\n"
        "  os.rename('real', '.git'); os.rename('.git', 'real')\n"
        f"  os.symlink({str(box.outside)!r}, '.git'); os.unlink('.git')\n"
    )
    swapping = await box.sandbox.start(box.program(PYTHON, "-c", code))
    try:
        for _ in range(15):
            with suppress(Exception):
                ran = await box.sh("cat .git/secret; ls .git/")
                assert "secret" not in ran.out
    finally:
        await swapping.stop(0)


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", ".claude", ".codex", ".belayer"])
async def test_what_other_programs_trust_in_a_workspace_is_read_only(box: Box, name: str) -> None:
    place = box.folder / name
    (place / "hooks").mkdir(parents=True)
    (place / "config").write_text("[core]")
    ran = await box.sh(
        f"cat {name}/config; echo evil >>{name}/config; echo evil >{name}/hooks/pre-commit; rm -rf {name};"
        f" mv {name} other; mv {name}/config x; rmdir {name}/hooks; mkdir {name}/new;"
        f" ln {name}/config sub; touch evil; mv evil {name}/hooks/evil; mknod {name}/hooks/node p"
    )
    assert ran.out == "[core]"
    assert (place / "config").read_text() == "[core]"
    assert sorted(path.name for path in place.rglob("*")) == ["config", "hooks"]


async def test_a_file_called_git_is_read_only_too(box: Box) -> None:
    (box.folder / ".git").write_text("gitdir: elsewhere")
    await box.sh("echo gitdir: /evil >.git; rm .git; mv .git other")
    assert (box.folder / ".git").read_text() == "gitdir: elsewhere"


async def test_more_than_can_be_kept_read_only_is_refused_rather_than_left_open(box: Box) -> None:
    folders = [box.folder / str(number) for number in range(8)]
    for folder in folders:
        (folder / ".git").mkdir(parents=True)
    with suppress(NoSandbox):
        await box.sh("for f in */.git; do echo evil >$f/config; done", writable=tuple(folders))
    assert not list(box.folder.glob("*/.git/*"))


async def test_the_rest_of_a_repository_is_still_writable(box: Box) -> None:
    (box.folder / ".git").mkdir()
    (box.folder / "src").mkdir()
    (box.folder / "top").write_text("old")
    ran = await box.sh("echo new >top; echo new >src/new; mkdir src/deep; ls")
    assert ran.out == "src\ntop"
    assert (box.folder / "top").read_text() == "new\n"
    assert (box.folder / "src/new").read_text() == "new\n"


async def test_belayers_home_is_out_of_reach_even_within_the_workspace(box: Box) -> None:
    work = box.home.parent
    (work / "work").mkdir(exist_ok=True)
    (box.home / "belayer.db").write_text("the log")
    ran = await box.sh(
        "cat home/belayer.db; find home -type f; echo x >home/belayer.db; echo x >home/new; rm -rf home;"
        " echo y >work/fine; ls work",
        folder=work,
    )
    assert "the log" not in ran.out
    assert "belayer.db" not in ran.out or box.name == "landlock"  # which says that it does not hide names
    assert ran.out.endswith("fine")
    assert (box.home / "belayer.db").read_text() == "the log"
    assert not (box.home / "new").exists()


async def test_no_descriptor_of_the_host_is_left_open(box: Box) -> None:
    (box.folder / ".git").mkdir()
    with (box.outside / "secret").open() as held, socket.create_server(("127.0.0.1", 0)) as server:
        os.set_inheritable(held.fileno(), True)
        server.set_inheritable(True)
        ran = await box.python(
            "import os\nfor fd in range(3, 2000):\n  try: print(fd, os.fstat(fd))\n  except OSError: pass"
        )
    assert ran.out == ""


async def test_devices_cannot_be_made_nor_disks_opened(box: Box) -> None:
    ran = await box.python(
        "import os, stat\n"
        "for mode, dev in ((stat.S_IFBLK, os.makedev(8, 0)), (stat.S_IFCHR, os.makedev(1, 1))):\n"
        "  try:\n    os.mknod('node', mode | 0o666, dev); print('made')\n    open('node', 'rb'); print('opened')\n"
        "  except OSError: pass\n  try: os.unlink('node')\n  except OSError: pass\n"
        "for name in ('mem', 'kmem', 'kmsg', 'port', 'sda', 'vda', 'loop0', 'fuse', 'kvm', 'net/tun', 'vsock'):\n"
        "  try: open('/dev/' + name, 'rb'); print('opened', name)\n  except OSError: pass"
    )
    assert "opened" not in ran.out


async def test_the_kernels_own_settings_cannot_be_written(box: Box) -> None:
    """Opened for writing, never written: as root a hole here would change this machine."""
    ran = await box.python(
        "import os\n"
        "tops = ('/proc/sys/kernel', '/proc/sys/vm', '/proc/sys/fs', '/proc/sys/net', '/sys/kernel')\n"
        "files = [os.path.join(top, name) for root in tops for top, _, names in os.walk(root) for name in names]\n"
        "files += ['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/proc/1/oom_score_adj', '/proc/mtrr']\n"
        "for file in files:\n"
        "  try: os.close(os.open(file, os.O_WRONLY)); print('writable', file)\n  except OSError: pass"
    )
    assert ran.out == ""


# Processes


async def test_no_other_process_is_to_be_seen(box: Box) -> None:
    victim = await asyncio.create_subprocess_exec(
        "/bin/sleep", "3600.1234567", env={"A_TOKEN": "of-the-host"}
    )
    try:
        ran = await box.sh(
            f"cat /proc/{victim.pid}/environ /proc/{victim.pid}/cmdline /proc/{os.getpid()}/environ;"
            f" ls /proc/{victim.pid}/fd /proc/{os.getpid()}/cwd/;"
            " for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; tr '\\0' '\\n' <$p/environ; done; ps auxe"
        )
        assert "3600.1234567" not in ran.out
        assert "of-the-host" not in ran.out
        assert "PYTEST_CURRENT_TEST" not in ran.out
    finally:
        victim.kill()
        await victim.wait()


async def test_no_other_process_can_be_signalled_or_limited(box: Box) -> None:
    victim = await asyncio.create_subprocess_exec("/bin/sleep", "3600")
    try:
        for pid in (victim.pid, os.getpid(), os.getppid()):
            await box.python(
                "import os, resource, signal, sys\npid = int(sys.argv[1])\n"
                "for act in (lambda: os.kill(pid, 9) if pid != 1 else 0, lambda: os.killpg(pid, 9),\n"
                "            lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9),\n"
                "            lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),\n"
                "            lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),\n"
                "            lambda: os.sched_setaffinity(pid, {0})):\n"
                "  try: act()\n  except OSError: pass",
                str(victim.pid if pid != victim.pid else pid),
            )
        assert victim.returncode is None
        assert (
            Path(f"/proc/{victim.pid}/limits").read_text().split("Max cpu time")[1].split()[0] == "unlimited"
        )
        assert os.getpriority(os.PRIO_PROCESS, victim.pid) == os.getpriority(os.PRIO_PROCESS, 0)
        assert os.sched_getaffinity(victim.pid) == os.sched_getaffinity(0)
    finally:
        victim.kill()
        await victim.wait()


async def test_signals_to_everybody_reach_only_its_own(box: Box) -> None:
    victim = await asyncio.create_subprocess_exec("/bin/sleep", "3600")
    try:
        await box.sh("kill -9 -1")
        assert victim.returncode is None
        assert Path(f"/proc/{victim.pid}").exists()
    finally:
        victim.kill()
        await victim.wait()


PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206


async def test_no_process_can_be_traced_or_read(box: Box) -> None:
    victim = await asyncio.create_subprocess_exec("/bin/sleep", "3600")
    try:
        ran = await box.python(
            CALL + f"for pid in ({victim.pid}, os.getppid()):\n"
            f"  for how in ({PTRACE_ATTACH}, {PTRACE_SEIZE}):\n"
            "    if libc.ptrace(how, pid, 0, 0) == 0: print('traced', pid)\n"
            "  buffer = ctypes.create_string_buffer(64)\n"
            "  vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)\n"
            "  if libc.process_vm_readv(pid, vector, 1, vector, 1, 0) >= 0: print('read', pid)\n"
            "  try: open(f'/proc/{pid}/mem', 'rb').read(1); print('mem', pid)\n"
            "  except OSError: pass\n"
        )
        assert ran.out == ""
    finally:
        victim.kill()
        await victim.wait()


async def test_a_daemon_does_not_outlive_its_program(box: Box) -> None:
    ran = await box.python(
        "import os, sys, time\nread, write = os.pipe()\n"
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n"
        "    os.close(0); os.close(1); os.close(2); os.write(write, b'x')\n"
        "    while True:\n      open('heart', 'a').write('x'); time.sleep(0.005)\n  os._exit(0)\n"
        "os.read(read, 1); print('done')"
    )
    assert ran.out == "done"
    beats = (box.folder / "heart").stat().st_size if (box.folder / "heart").exists() else 0
    await asyncio.sleep(0.1)
    assert ((box.folder / "heart").stat().st_size if (box.folder / "heart").exists() else 0) == beats


# Privileges and the kernel


async def test_there_are_no_privileges_and_none_to_be_had(box: Box) -> None:
    ran = await box.python("print(open('/proc/self/status').read())")
    facts = {name: value.strip() for name, _, value in (line.partition(":") for line in ran.out.split("\n"))}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")
    assert {int(facts[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {0}


async def test_a_setuid_program_gives_nothing(box: Box) -> None:
    ran = await box.sh(
        "cp /usr/bin/id own; chmod u+s own; ./own -u; su -c 'echo became' root </dev/null; mount 2>/dev/null | head -0;"
        " passwd -S root; newgrp root </dev/null; cat /etc/shadow"
    )
    assert "became" not in ran.out
    assert "root:" not in ran.out


FORBIDDEN = {
    "a user namespace": "libc.unshare(0x10000000)",
    "a mount namespace": "libc.unshare(0x20000)",
    "a network namespace": "libc.unshare(0x40000000)",
    "mount": "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "umount": "libc.umount2(b'/proc', 2)",
    "pivot_root": "libc.syscall(155, b'.', b'.')",
    "chroot": "libc.chroot(b'.')",
    "setns": "libc.setns(os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
    "bpf": "libc.syscall(321, 5, ctypes.create_string_buffer(128), 128)",
    "keyctl": "libc.syscall(250, 0, -3, 1)",
    "add_key": "libc.syscall(248, b'user', b'x', b'y', 1, -3)",
    "io_uring": "libc.syscall(425, 8, ctypes.create_string_buffer(120))",
    "perf": "libc.syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "userfaultfd": "libc.syscall(323, 0)",
    "kexec": "libc.syscall(246, 0, 0, 0, 0)",
    "module": "libc.syscall(175, 0, 0, b'')",
    "clone3": "libc.syscall(435, ctypes.create_string_buffer(88), 88)",
    "open_by_handle": "libc.syscall(304, -100, ctypes.create_string_buffer(128), 0)",
    "typing into the terminal": "libc.ioctl(0, 0x5412, b'x')",
    "raw socket": "libc.socket(2, 3, 255)",
    "packet socket": "libc.socket(17, 3, 768)",
    "vsock": "libc.socket(40, 1, 0)",
    "crypto socket": "libc.socket(38, 5, 0)",
    "x32": "libc.syscall(0x40000000 + 39)",
    "reboot": "libc.syscall(169, 0xfee1dead, 672274793, 0, 0)",
    "clock": "libc.settimeofday(ctypes.create_string_buffer(16), None)",
    "hostname": "libc.sethostname(b'x', 1)",
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
@pytest.mark.parametrize("call", FORBIDDEN.values(), ids=FORBIDDEN.keys())
async def test_calls_to_break_out_with_are_refused(box: Box, call: str) -> None:
    ran = await box.python(f"{CALL}found = {call}\nprint(found, ctypes.get_errno())")
    found, number = (int(word) for word in ran.out.split())
    assert (found, number in (1, 2, 13, 38, 93, 97)) == (-1, True), os.strerror(number)


async def test_threads_and_children_work_all_the_same(box: Box) -> None:
    ran = await box.python(
        "import threading, subprocess\nt = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
        "print(subprocess.run(['/bin/echo', 'child'], capture_output=True, text=True).stdout, end='')"
    )
    assert ran.out == "thread\nchild"


# Network


async def test_nothing_that_listens_on_the_host_is_reached(box: Box) -> None:
    met: list[object] = []
    server = await asyncio.start_server(lambda reader, writer: met.append(writer.close()), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.setblocking(False)
    path = box.outside / "socket"
    unix = await asyncio.start_unix_server(lambda reader, writer: met.append(writer.close()), path)
    within = await asyncio.start_unix_server(
        lambda r, w: met.append(w.close()), f"\0belayer-test-{os.getpid()}"
    )
    ran = await box.python(
        "import socket, sys\n"
        "def attempt(act):\n  try: act(); print('reached', act)\n  except OSError: pass\n"
        f"attempt(lambda: socket.create_connection(('127.0.0.1', {port}), 2))\n"
        f"attempt(lambda: socket.create_connection((socket.gethostname(), {port}), 2))\n"
        f"attempt(lambda: socket.socket(socket.AF_UNIX).connect({str(path)!r}))\n"
        f"attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0belayer-test-{os.getpid()}'))\n"
        "for host in ('169.254.169.254', '1.1.1.1', '10.0.0.1', '8.8.8.8', '::1'):\n"
        f"  attempt(lambda: socket.create_connection((host, 80 if host != '::1' else {port}), 2))\n"
        "attempt(lambda: socket.getaddrinfo('example.org', 80))\n"
        f"attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53)))\n"
        "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', "
        f"('127.0.0.1', {udp.getsockname()[1]}))\nexcept OSError: pass\n"
    )
    assert ran.out == ""
    assert ran.code == 0, ran.err
    assert met == []
    with pytest.raises(BlockingIOError):
        udp.recv(1)
    udp.close()
    for one in (server, unix, within):
        one.close()


async def test_two_at_once_see_nothing_of_each_other(box: Box) -> None:
    """Neither processes nor files nor temporary files nor shared memory nor sockets by name."""
    other = box.folder.parent / "other"
    other.mkdir()
    code = (
        "import os, socket, sys, tempfile, time\n"
        "mine = tempfile.mkstemp(prefix='held-')[1]; open(mine, 'w').write('held by one')\n"
        "kept = []\n"
        "for family, name in ((socket.AF_UNIX, '\\0held'), (socket.AF_INET, ('127.0.0.1', 45454))):\n"
        "  try:\n    s = socket.socket(family); s.bind(name); s.listen(); kept.append(s)\n  except OSError: pass\n"
        "try: open('/dev/shm/held', 'w').write('held by one')\nexcept OSError: pass\n"
        "open('file', 'w').write('held by one'); print(mine, flush=True); time.sleep(3600)\n"
    )
    one = await box.sandbox.start(box.program(PYTHON, "-c", code, "marker-of-one"))
    try:
        place = (await anext(aiter(one))).text
        ran = await box.python(
            "import os, socket, sys\n"
            "for path in (sys.argv[1], sys.argv[2] + '/file', '/dev/shm/held'):\n"
            "  try: print(open(path).read())\n  except OSError: pass\n"
            "for family, name in ((socket.AF_UNIX, '\\0held'), (socket.AF_INET, ('127.0.0.1', 45454))):\n"
            "  try: socket.socket(family).connect(name); print('reached')\n  except OSError: pass\n"
            "for pid in range(1, 100000):\n"
            "  try: print(open(f'/proc/{pid}/cmdline').read()) if 'marker-of-' + 'one' in "
            "open(f'/proc/{pid}/cmdline').read() else 0\n  except OSError: pass\n",
            place,
            str(box.folder),
            folder=other,
        )
        assert ran.out == ""
    finally:
        await one.stop(0)


# Limits


# Bombs with an end, at 512 processes: one that gets out shall fail a test, not the machine.
async def test_a_fork_bomb_is_held_at_its_limit(box: Box) -> None:
    bomb = (
        "bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) | bomb $(($1 - 1)) & fi; wait; sleep 60; }; bomb 8"
    )
    # Without a cgroup the kernel refuses unseen; what is left of the bomb may then sleep until its time is over.
    assert await box.breach("/bin/sh", "-c", bomb, wall_seconds=8) in ("pids", "wall")


async def test_a_program_that_starts_too_many_others_ends_at_its_limit(box: Box) -> None:
    many = "i=0; while [ $i -lt 512 ]; do sleep 60 & i=$((i + 1)); done; wait"
    assert await box.breach("/bin/sh", "-c", many) == "pids"


async def test_a_fork_bomb_that_hides_in_sessions_ends_at_its_limit(box: Box) -> None:
    code = (
        "import os, time\nfor _ in range(9):\n  try:\n    if os.fork() == 0: os.setsid()\n  except OSError: pass\n"
        "time.sleep(60)"
    )
    assert await box.breach(PYTHON, "-c", code) in ("pids", "cpu")


async def test_a_memory_bomb_in_one_process_ends_at_its_limit(box: Box) -> None:
    assert (
        await box.breach(PYTHON, "-c", "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))")
        == "memory"
    )


async def test_a_memory_bomb_in_many_processes_ends_at_its_limit(box: Box) -> None:
    code = (
        "import os, time\nfor _ in range(20):\n"
        "  if os.fork() == 0:\n    held = bytearray(b'x') * (30 << 20)\n    time.sleep(60); os._exit(0)\ntime.sleep(60)"
    )
    assert await box.breach(PYTHON, "-c", code) == "memory"


async def test_shared_memory_counts(box: Box) -> None:
    code = (
        "import mmap, os, time\nheld = []\n"
        "for _ in range(40):\n  m = mmap.mmap(-1, 10 << 20); m.write(b'x' * (10 << 20)); held.append(m)\ntime.sleep(60)"
    )
    assert await box.breach(PYTHON, "-c", code) == "memory"


@pytest.mark.parametrize("number", ["SIGXCPU", "SIGTERM"])
async def test_a_spinning_program_ends_at_its_limit_whatever_it_ignores(box: Box, number: str) -> None:
    code = f"import signal; signal.signal(signal.{number}, signal.SIG_IGN)\nwhile True: pass"
    assert await box.breach(PYTHON, "-c", code, cpu_seconds=1) == "cpu"


async def test_many_that_spin_for_a_short_time_each_end_at_their_limit(box: Box) -> None:
    code = (
        "import os, time\nwhile True:\n  if os.fork() == 0:\n"
        "    while time.process_time() < 0.1: pass\n    os._exit(0)\n  os.wait()"
    )
    assert await box.breach(PYTHON, "-c", code, cpu_seconds=1) == "cpu"


async def test_a_program_that_does_not_end_is_ended(box: Box) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    assert await box.breach(PYTHON, "-c", code, wall_seconds=0.5) == "wall"
    assert await box.breach("/bin/sleep", "3600", wall_seconds=0.3) == "wall"


async def test_too_many_open_files_are_named(box: Box) -> None:
    assert await box.breach(PYTHON, "-c", "held = [open('/dev/null') for _ in range(200)]") == "files"


DISK = {
    "one file": "dd if=/dev/zero of=big bs=1M count=100",
    "many files": "for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=f$i bs=1M count=9 2>/dev/null; done; sleep 60",
    "temporary files": 'dd if=/dev/zero of="$TMPDIR/big" bs=1M count=150',
    "many small files": "i=0; while :; do i=$((i+1)); mkdir d$i; head -c 500000 /dev/zero >d$i/f; done",
    "a file without a name": "exec 3>big; rm big; dd if=/dev/zero bs=1M count=15 >&3; exec 4>b; rm b;"
    " dd if=/dev/zero bs=1M count=15 >&4; sleep 60",
}


@pytest.mark.parametrize("command", DISK.values(), ids=DISK.keys())
async def test_a_filled_disk_ends_at_its_limit(box: Box, command: str) -> None:
    assert await box.breach("/bin/sh", "-c", command) == "disk"


FLOODS = {
    "100 MB": "head -c 100000000 /dev/zero | tr '\\0' '\\n'",
    "one line without an end": "tr '\\0' x </dev/zero",
    "errors": "yes >&2",
}


@pytest.mark.parametrize("command", FLOODS.values(), ids=FLOODS.keys())
async def test_a_flood_of_output_ends_at_its_limit(box: Box, command: str) -> None:
    assert await box.breach("/bin/sh", "-c", command) == "output"


async def test_the_whole_of_100_mb_comes_through_where_it_may(box: Box) -> None:
    process = await box.sandbox.start(
        box.program(
            "/bin/sh",
            "-c",
            "head -c 100000000 /dev/zero | tr '\\0' x",
            limits=type(box.limits)(output_bytes=200 * MEGABYTE),
        )
    )
    total = longest = 0
    async for line in process:
        total += len(line.text)
        longest = max(longest, len(line.text))
    assert (await process.wait()).exit_code == 0
    assert (total, longest) == (100_000_000, 65_536)


async def test_a_daemon_that_keeps_the_pipe_open_holds_nobody_up(box: Box) -> None:
    ran = await box.sh("(trap '' TERM HUP; sleep 3600) & echo done")
    assert (ran.out, ran.code) == ("done", 0)
