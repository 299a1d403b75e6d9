"""What each way of holding keeps a command from, on the real system."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from support.holders import run_held

from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import Holder
from lsp_agent.sandbox.places import find

BUBBLEWRAP = pytest.param(bubblewrap.working, marks=pytest.mark.bubblewrap, id="bubblewrap")
LANDLOCK = pytest.param(landlock.working, marks=pytest.mark.landlock, id="landlock")
SECRET = "the secret"


class Desk:
    """A workspace and a home beside it."""

    def __init__(self, base: Path, holder: Holder) -> None:
        self.holder = holder
        self.work, self.home = base / "work", base / "home"
        self.key = self.home / ".ssh" / "key"
        for folder in (self.work / "sub", self.work / ".git", self.key.parent):
            folder.mkdir(parents=True)
        self.key.write_text(SECRET)
        (self.home / "notes").write_text("as it was\n")
        (self.work / ".git" / "config").write_text("as it was\n")

    def run(self, command: str, *, network: bool = False) -> "subprocess.CompletedProcess[str]":
        hold = find([str(self.work)], home=str(self.home), runtime="", network=network)
        return run_held(self.holder, hold, self.work / "sub", command)

    def python(self, code: str, *, network: bool = False) -> "subprocess.CompletedProcess[str]":
        # The one that the virtual environment was made of, which lies in no folder for others.
        program = os.path.realpath(sys.executable)
        return self.run(shlex.join([program, "-ISc", code]), network=network)

    def outside(self) -> list[tuple[str, int, int, bytes]]:
        """Names, modes, times and contents of what no command may change."""
        paths = sorted([*self.home.rglob("*"), self.home, *(self.work / ".git").rglob("*")])
        return [
            (str(path), path.stat().st_mode, path.stat().st_mtime_ns,
             path.read_bytes() if path.is_file() else b"")
            for path in paths
        ]  # fmt: skip


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    return Desk(Path(os.path.realpath(tmp_path)), request.param())


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {home}/new",
        "echo x >> {home}/notes",
        "truncate -s 0 {home}/notes",
        "rm {home}/notes",
        "mv {home}/notes .",
        "mkdir {home}/new",
        "ln -s x {home}/new",
        "ln {home}/notes linked; echo x >> linked",
        "ln ../.git/config linked; echo x >> linked",
        "mv ../.git away; echo x > away/config",
        "mv ../.git/config .",
        "chmod 777 {home}/notes",
        "chmod 777 {home}",
        "touch {home}/notes",
        "touch -h -d yesterday {home}/notes",
        "ln -s {home}/notes link; chmod 777 link; touch link",
        "exec 3<{home}/notes; chmod 777 /proc/self/fd/3; chmod 777 /dev/fd/3",
        "cd {home}; chmod 777 notes ./notes ../home/notes",
        "chmod 777 ../.git/config; touch ../.git/config ../.git/new",
        "mkfifo {home}/pipe; mknod {home}/null c 1 3",
        "mount -t tmpfs none {home}; mount --bind . {home}",
    ],
)
def test_nothing_outside_is_changed(desk: Desk, command: str) -> None:
    before = desk.outside()
    desk.run(command.format(home=desk.home))
    assert desk.outside() == before


@pytest.mark.bubblewrap
@pytest.mark.other_user
def test_under_bubblewrap_a_command_has_no_user_namespace_of_its_own() -> None:
    """It would be root there, with another root folder, in which what holds the workspace's files
    is mounted no more: ``.git`` can be renamed. Only another user can try: root makes none."""
    with tempfile.TemporaryDirectory(prefix="la-") as made:
        folder = os.path.realpath(made)
        shutil.chown(folder, 65534, 65534)
        words = bubblewrap.working().words(find([folder], home=folder, runtime=""), folder)

        def tries(*held: str) -> int:
            command = [*held, "unshare", "--map-root-user", "--mount", "true"]
            return subprocess.run(command, user=65534, cwd=folder, check=False).returncode

        assert tries() == 0
        assert tries(*words) != 0
        assert subprocess.run([*words, "true"], user=65534, cwd=folder, check=False).returncode == 0


def test_what_a_command_does_in_the_workspace_works(desk: Desk) -> None:
    done = desk.run(
        "echo one > a && chmod 755 a && touch -d @1000 a && cp -p a b && sed -i s/one/two/ b"
        " && mkdir d && mv b d/c && ln d/c e && ln -s e f && cat f && ls -l --time-style=+%s a"
        " && echo $$ > $TMPDIR/x && rm -r d && (cd .. && git --version >/dev/null)"
        " && mkdir g && chmod 700 g && (cd g && touch ./h && chmod 600 h)"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "two"
    assert done.stdout.splitlines()[1].startswith("-rwxr-xr-x")
    assert " 1000 a" in done.stdout


def test_modes_and_times_by_descriptors_are_changed_inside_alone(desk: Desk) -> None:
    before = desk.outside()
    own = desk.work / "sub" / "own"
    own.touch()
    done = desk.python(f"""
import os
for path in ({str(own)!r}, {str(desk.home / "notes")!r}):
    for change in (
        lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o640),
        lambda: os.utime(os.open(path, os.O_RDONLY), (7, 7)),
        lambda: os.utime(os.path.basename(path), (7, 7),
                         dir_fd=os.open(os.path.dirname(path), os.O_RDONLY)),
        lambda: os.setxattr(path, "user.mark", b"x"),
    ):
        try:
            change()
            print("changed")
        except OSError as error:
            print(error.strerror)
""")
    said = done.stdout.splitlines()
    assert said[:3] == ["changed"] * 3, done
    assert "changed" not in said[4:]
    assert (own.stat().st_mode & 0o777, own.stat().st_mtime) == (0o640, 7)
    assert desk.outside() == before


@pytest.mark.landlock
def test_attributes_of_a_file_system_and_keyrings_are_let_be(tmp_path: Path) -> None:
    """Landlock knows of neither."""
    desk = Desk(tmp_path, landlock.working())
    done = desk.python(f"""
import array, ctypes, fcntl, os
at = os.open({str(desk.work / ".git" / "config")!r}, os.O_RDONLY)
for request in (0x40086602, 0x401c5820, 0x40087602, 0x5000940e):
    try:
        fcntl.ioctl(at, request, array.array("L", [0x80] * 8))
        print("changed")
    except OSError as error:
        print(error.strerror)
libc = ctypes.CDLL(None, use_errno=True)
number = 248 if os.uname().machine == "x86_64" else 217
for call in (number, number + 1, number + 2):
    ctypes.set_errno(0)
    print(libc.syscall(call, 0, 0, 0, 0, 0), os.strerror(ctypes.get_errno()))
""")
    said = done.stdout.splitlines()
    assert said == ["Operation not supported"] * 4 + ["-1 Operation not permitted"] * 3, done


@pytest.mark.parametrize(
    "command",
    ["cat {key}", "ls {key.parent}", "cp {key} .; cat *", "ln -s {key} l; cat l", "cat <{key}"],
)
def test_no_secret_is_seen(desk: Desk, command: str) -> None:
    done = desk.run(command.format(key=desk.key))
    assert SECRET not in done.stdout
    assert desk.key.name not in done.stdout


def test_another_process_is_neither_seen_into_nor_signalled(desk: Desk) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "MARK": SECRET}) as other:
        try:
            done = desk.run(
                f"kill -9 {other.pid}; cd /proc/{other.pid} && cat environ; readlink fd/*"
            )
            assert done.stdout == ""
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
@pytest.mark.parametrize("network", [False, True], ids=["no network", "network"])
def test_no_socket_with_a_path_in_a_folder_for_sockets_is_reached(
    desk: Desk, kind: str, network: bool
) -> None:
    path = f"/tmp/la-{os.getpid()}-{kind}"
    with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as service:
        service.bind(path)
        try:
            if kind == "SOCK_STREAM":
                service.listen()
            done = desk.python(
                "import socket\n"
                f"try: one = socket.socket(socket.AF_UNIX, socket.{kind})\n"
                f"except OSError: one = socket.socketpair(socket.AF_UNIX, socket.{kind})[0]\n"
                f"one.connect({path!r}); print('reached')",
                network=network,
            )
        finally:
            Path(path).unlink()
    assert done.stdout == ""


def test_no_network_is_there_by_any_kind_of_socket(desk: Desk) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service:
        service.bind(("127.0.0.1", 0))
        service.settimeout(0.2)
        desk.python(
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
            f".sendto(b'x', {service.getsockname()!r})"
        )
        with pytest.raises(TimeoutError):
            service.recv(1)


@pytest.mark.parametrize("command", ["sleep 60 & exit 3", "setsid sleep 60 & exit 3"])
def test_what_a_command_has_started_ends_with_it(desk: Desk, command: str) -> None:
    mark = f"{os.getpid()}.{desk.work.parent.name}"
    done = desk.run(command.replace("sleep 60", f"sh -c 'sleep 60; : {mark}'"))
    assert done.returncode == 3
    _ends(mark)


def test_a_command_that_is_told_to_end_leaves_nothing(desk: Desk) -> None:
    hold = find([str(desk.work)], home=str(desk.home), runtime="")
    mark = f"{os.getpid()}-{desk.work.parent.name}"
    words = desk.holder.words(hold, str(desk.work))
    command = [*words, "sh", "-c", f"trap '' TERM; echo begun; sleep 60; : {mark}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.terminate()
        process.wait(30)
    _ends(f"sleep 60; : {mark}")


def test_nothing_of_ours_is_left_behind(desk: Desk) -> None:
    done = desk.run("mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod 0 $TMPDIR/a; echo $TMPDIR")
    folder = Path(done.stdout.strip())
    assert folder == Path("/tmp") or not folder.exists()


@pytest.mark.parametrize("there", [True, False], ids=["there", "not there yet"])
def test_no_settings_of_editors_and_agents_are_written(desk: Desk, there: bool) -> None:
    names = [".helix", ".zed", ".cursor", ".vim"]
    names += [".opencode", ".qwen", ".codex", ".gemini", ".pi"]
    folders = [desk.work / name for name in names] if there else []
    for folder in folders:
        folder.mkdir()
    desk.run(f"cd ..; for f in {' '.join(names)}; do mkdir -p $f; echo x > $f/x; done")
    files = ["opencode.json", ".dir-locals.el", ".dir-locals-2.el", ".nvimrc", ".vimrc"]
    desk.run(f"cd ..; for f in {' '.join(files)}; do echo x > $f; done")
    kept = {desk.work / name for name in (*names, *files)}
    assert [path for path in kept if path.is_file() and path.read_text()] == []
    assert [path for folder in kept if folder.is_dir() for path in folder.iterdir()] == []


@pytest.mark.landlock
def test_caches_are_where_they_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(Path(os.path.realpath(tmp_path)), landlock.working())
    monkeypatch.delenv("RUFF_CACHE_DIR", raising=False)
    monkeypatch.setenv("MYPY_CACHE_DIR", "mine")
    said = 'echo "${RUFF_CACHE_DIR#$TMPDIR}" "$MYPY_CACHE_DIR"; mkdir "$RUFF_CACHE_DIR"'
    assert desk.run(said).stdout == "/.ruff_cache mine\n"
    (desk.work / ".ruff_cache").mkdir()
    assert desk.run(said).stdout == " mine\n"


def test_programs_that_fail_without_their_cache_at_home_have_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOCACHE", raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", "mine")
    said = desk.run('mkdir "$GOCACHE" && echo "${GOCACHE#$TMPDIR}" "$UV_CACHE_DIR"').stdout
    assert said == "/go-build mine\n"


@pytest.mark.landlock
def test_a_pytest_of_its_own_failure_says_nothing_of_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(Path(os.path.realpath(tmp_path)), landlock.working())
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (desk.work / "test_it.py").write_text("def test_it() -> None:\n    assert False\n")
    run = shlex.join([sys.executable, "-m", "pytest", "-q", "--rootdir=.", "test_it.py"])
    # A clone below /tmp has its environment where nothing is read.
    hold = find([str(desk.work), sys.prefix], home=str(desk.home), runtime="", network=False)
    done = run_held(desk.holder, hold, desk.work, run)
    assert "1 failed" in done.stdout
    assert "ermission denied" not in done.stdout + done.stderr


@pytest.mark.landlock
def test_a_call_with_an_address_that_leads_nowhere_fails_as_it_does_elsewhere(
    tmp_path: Path,
) -> None:
    desk = Desk(Path(os.path.realpath(tmp_path)), landlock.working())
    done = desk.python("""
import ctypes, errno, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
page = mmap.mmap(-1, 8192)
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
libc.munmap(ctypes.c_void_p(start + 4096), 4096)
words = lambda *all: [ctypes.c_ulong(word) for word in all]
for address in (1, 2**63, 2**64 - 1):
    assert libc.chmod(*words(address, 0o600)) == -1, address
    assert ctypes.get_errno() in (errno.EFAULT, errno.EIO), ctypes.get_errno()
open("own", "w")
for address in (1, 2**63, start + 4096 - 8):
    assert libc.utimensat(-100, b"own", *words(address, 0)) == -1, address
    assert ctypes.get_errno() in (errno.EFAULT, errno.EIO), ctypes.get_errno()
os.chmod("own", 0o600)
print("done", flush=True)
os._exit(0)
""")
    assert done.stdout == "done\n", done


@pytest.mark.landlock
def test_what_a_killed_starter_has_left_is_taken_away_later(tmp_path: Path) -> None:
    desk = Desk(Path(os.path.realpath(tmp_path)), landlock.working())
    hold = find([str(desk.work)], home=str(desk.home), runtime="")
    words = desk.holder.words(hold, str(desk.work))
    left: list[Path] = []
    for _ in range(2):
        with subprocess.Popen(
            [*words, "sh", "-c", "mkdir $TMPDIR/a; echo $TMPDIR; cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            left.append(Path(process.stdout.readline().decode().strip()))
            process.kill()
    old, new = left
    os.utime(old, (1000, 1000))
    landlock.working()
    assert (old.exists(), new.exists()) == (False, True)
    os.utime(new, (1000, 1000))
    with subprocess.Popen(
        [*words, "sh", "-c", "echo $TMPDIR; cat"], stdin=-1, stdout=-1
    ) as process:
        assert process.stdout is not None
        used = Path(process.stdout.readline().decode().strip())
        os.utime(used, (1000, 1000))
        landlock.working()
        assert (new.exists(), used.exists()) == (False, True)
        process.communicate()


def _ends(mark: str) -> None:
    """Soon no process has it in its words."""
    end = time.monotonic() + 20
    while any(mark.encode() in line for line in _command_lines()):
        assert time.monotonic() < end
        time.sleep(0.01)


def _command_lines() -> list[bytes]:
    found: list[bytes] = []
    for entry in Path("/proc").iterdir():
        try:
            found.append((entry / "cmdline").read_bytes() if entry.name.isdigit() else b"")
        except OSError:
            continue
    return found
