#!/usr/bin/env python3
"""How fast and how large `otask` is, beside `git` doing the like with the same files in the same run.

    bench.py OTASK [--status COUNT...] [--sync COUNT...] [--change COUNT...] [--memory COUNT]

What is compared, and how, stands above each table. Everything happens in a temporary directory that is removed again,
on this machine alone; every process that is started here is ended.
"""

import argparse
import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FILES_IN_A_FOLDER = 100
# Entries of the stat cache that were made so soon after the file itself are hashed again, by otask and by git.
CLOCK_DOUBT = 2.1
ROUND_TRIP = 0.05


# MARK: What is measured


class Outcome:
    """One finished command: seconds, the most memory it had in MB, and what it printed."""

    def __init__(self, seconds, megabytes, output):
        self.seconds = seconds
        self.megabytes = megabytes
        self.output = output


def run(*command, at=None, environment=None):
    """Runs a command to its end. It fails the benchmark where the command fails."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=at, env=environment, stdout=output, stderr=output)
        try:
            # wait4 tells of this one child; the kernel counts in what this program had when it started it, some 20 MB.
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            # Interrupted: what still writes into the directory that is about to be removed ends first.
            process.kill()
            process.wait()
            raise
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {process.returncode}:\n{text}")
    return Outcome(seconds, usage.ru_maxrss / 1024, text)


def by_turns(turns, *actions):
    """The median seconds of each action; they take turns, so that what else the machine does meets them alike."""
    times = [[] for _ in actions]
    for _ in range(turns):
        for action, taken in zip(actions, times):
            taken.append(action().seconds)
    return [statistics.median(taken) for taken in times]


def make_files(folder, count):
    """Task files in folders of a hundred, of 100 to 350 bytes, a third of them done."""
    for first in range(0, count, FILES_IN_A_FOLDER):
        area = folder / f"area-{first // 10_000:02}" / f"list-{first // FILES_IN_A_FOLDER:04}"
        area.mkdir(parents=True)
        for number in range(first, min(count, first + FILES_IN_A_FOLDER)):
            done = "true" if number % 3 == 0 else "false"
            notes = "Some more words on what is to be done. " * (number % 7)
            (area / f"task-{number:06}.md").write_text(
                f"---\ndone: {done}\n---\n# Task {number}\n\nNotes of task {number}. {notes}\n"
            )


# MARK: Processes


class Bench:
    def __init__(self, otask, place):
        self.otask_path = otask
        self.place = place
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "XDG_STATE_HOME": str(place / "state"),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(place / "gitconfig"),
        }
        (place / "gitconfig").write_text(
            "[user]\n\tname = Bench\n\temail = bench@localhost\n[init]\n\tdefaultBranch = main\n"
            # What git does in the background now and then would fall into the times of others.
            "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        )

    def otask(self, *words, at=None):
        return run(self.otask_path, *words, at=at, environment=self.environment)

    def git(self, *words, at=None):
        return run("git", *words, at=at, environment=self.environment)

    def folder(self, name):
        """A new, empty directory; its predecessor of this name is removed."""
        path = self.place / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def workspace(self, name, server):
        path = self.folder(name)
        self.otask("init", path, "--demo", "--server", server, "--quiet")
        return path

    def start(self, *command, **options):
        """A server, in a process group of its own, and what ends it with all that it started."""
        process = subprocess.Popen(command, env=self.environment, start_new_session=True, **options)

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            if process.stdout:
                process.stdout.close()

        return process, end

    @contextlib.contextmanager
    def otask_server(self, data):
        """`otask serve`; its port."""
        process, end = self.start(
            self.otask_path, "serve", "--port", "0", "--json", "--data", data, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            text, decoder = "", json.JSONDecoder()
            for line in process.stdout:
                text += line.decode()
                with contextlib.suppress(json.JSONDecodeError):
                    address = decoder.decode(text)["url"]
                    break
            else:
                sys.exit("bench: otask serve did not say where it is")
            yield int(address.rsplit(":", 1)[1])
        finally:
            end()

    @contextlib.contextmanager
    def git_server(self, base):
        """`git daemon` for what lies in `base`; its port."""
        port = free_port()
        _, end = self.start(
            "git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all",
            "--enable=receive-pack", f"--base-path={base}", base, stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(port)
            yield port
        finally:
            end()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        time.sleep(0.01)
    sys.exit(f"bench: nothing listens on port {port}")


class Proxy:
    """A relay on 127.0.0.1 that lets each direction arrive later, and is as wide as the loopback otherwise."""

    def __init__(self, target, round_trip):
        self.target = target
        self.delay = round_trip / 2
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                here, _ = self.listener.accept()
                there = socket.create_connection(("127.0.0.1", self.target))
                for end in (here, there):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.relay(here, there)
                self.relay(there, here)

    def relay(self, source, sink):
        waiting = queue.SimpleQueue()
        threading.Thread(target=self.read, args=(source, waiting), daemon=True).start()
        threading.Thread(target=self.write, args=(sink, waiting), daemon=True).start()

    def read(self, source, waiting):
        while True:
            try:
                data = source.recv(1 << 18)
            except OSError:
                data = b""
            waiting.put((time.monotonic() + self.delay, data))
            if not data:
                return

    def write(self, sink, waiting):
        with contextlib.suppress(OSError):
            while True:
                due, data = waiting.get()
                time.sleep(max(0, due - time.monotonic()))
                if not data:
                    return sink.shutdown(socket.SHUT_WR)
                sink.sendall(data)

    def close(self):
        # Closing alone would leave `accept` waiting.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@contextlib.contextmanager
def far(port, round_trip):
    """The port behind which `port` is this many seconds away, there and back."""
    if round_trip == 0:
        yield port
        return
    proxy = Proxy(port, round_trip)
    try:
        yield proxy.port
    finally:
        proxy.close()


# MARK: Tables


def table(title, *columns):
    print(f"\n{title}\n")
    row(columns)
    sys.stdout.flush()


def row(cells):
    first, *rest = cells
    print(f"  {first:<34}" + "".join(f"{cell:>13}" for cell in rest), flush=True)


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds * 1000:,.0f} ms"


def status(bench, counts):
    table(
        "status: everything in sync, everything committed; medians of runs by turns, files cached",
        "files", "otask status", "git status", "ratio",
    )
    for count in counts:
        work, server = bench.folder("work"), bench.folder("server")
        bench.otask("init", work, "--demo", "--server", server, "--quiet")
        make_files(work / "tasks", count)
        bench.otask("push", "--quiet", at=work)
        repository = bench.folder("repository")
        shutil.copytree(work / "tasks", repository / "tasks")
        time.sleep(CLOCK_DOUBT)
        # Now that the clock's doubt is over, both note what the files look like.
        bench.otask("sync", "--quiet", at=work)
        bench.git("init", "--quiet", at=repository)
        bench.git("add", ".", at=repository)
        bench.git("commit", "--quiet", "--message=files", at=repository)

        ours = lambda: bench.otask("status", at=work)
        theirs = lambda: bench.git("status", at=repository)
        by_turns(2, ours, theirs)
        a, b = by_turns(31 if count <= 20_000 else 15, ours, theirs)
        row([f"{count:,}", milliseconds(a), milliseconds(b), f"{a / b:.2f}"])
        for name in ("work", "server", "repository"):
            bench.folder(name)


def sync(bench, counts):
    for round_trip in (0, ROUND_TRIP):
        away = f"{round_trip * 1000:.0f} ms added to each round trip" if round_trip else "loopback"
        table(
            f"{away}: otask over HTTP beside git over its own protocol, with the same files",
            "", "otask", "requests", "memory", "git", "ratio",
        )
        for count in counts:
            sync_once(bench, count, round_trip)


def sync_once(bench, count, round_trip):
    """Two devices and a server each: what one sends, the other fetches."""
    results = []

    def note(name, ours, theirs):
        requests = json.loads(ours.output)["requests"]
        results.append(
            [f"{name}, {count:,} tasks", milliseconds(ours.seconds), requests, f"{ours.megabytes:.0f} MB",
             milliseconds(theirs.seconds), f"{ours.seconds / theirs.seconds:.2f}"]
        )

    files, bare = bench.folder("files"), bench.folder("bare")
    make_files(files, count)
    bench.git("init", "--quiet", "--bare", bare / "tasks.git")
    with contextlib.ExitStack() as open_:
        ours = open_.enter_context(far(open_.enter_context(bench.otask_server(bench.folder("data"))), round_trip))
        theirs = open_.enter_context(far(open_.enter_context(bench.git_server(bare)), round_trip))
        here, there = (bench.workspace(name, f"http://127.0.0.1:{ours}") for name in ("here", "there"))
        git_here, git_there = bench.folder("git-here"), bench.folder("git-there")
        for repository in (git_here, git_there):
            bench.git("init", "--quiet", at=repository)
            bench.git("remote", "add", "origin", f"git://127.0.0.1:{theirs}/tasks.git", at=repository)
        for folder in (here / "tasks", git_here):
            shutil.copytree(files, folder, dirs_exist_ok=True)
        # `otask push` finds the new files and notes them too.
        committing = bench.git("add", ".", at=git_here).seconds
        committing += bench.git("commit", "--quiet", "--message=files", at=git_here).seconds
        pushing = bench.git("push", "--quiet", "--set-upstream", "origin", "main", at=git_here)
        pushing.seconds += committing
        note("push", bench.otask("push", "--json", at=here), pushing)
        note("pull", bench.otask("pull", "--json", at=there),
             bench.git("pull", "--quiet", "--set-upstream", "origin", "main", at=git_there))
        time.sleep(CLOCK_DOUBT)
        bench.otask("sync", "--quiet", at=there)
        turns = [bench.otask("sync", "--json", at=there) for _ in range(5)]
        git_turns = [bench.git("pull", "--quiet", at=git_there) for _ in range(5)]
        middle = lambda outcomes: sorted(outcomes, key=lambda outcome: outcome.seconds)[len(outcomes) // 2]
        note("nothing to do", middle(turns), middle(git_turns))
    for cells in results:
        row(cells)


def one_change(bench, counts):
    table(
        "a sync of one edited file, its history included, beside git add and commit; medians of five",
        "files", "otask sync", "git", "ratio",
    )
    for count in counts:
        for is_flat in (False, True):
            work, server = bench.folder("work"), bench.folder("server")
            bench.otask("init", work, "--demo", "--server", server, "--quiet")
            if is_flat:
                for number in range(count):
                    (work / "tasks" / f"task-{number:06}.md").write_text(f"# Task {number}\n\nNotes of task {number}.\n")
            else:
                make_files(work / "tasks", count)
            bench.otask("sync", "--quiet", at=work)
            repository = bench.folder("repository")
            shutil.copytree(work / "tasks", repository / "tasks")
            time.sleep(CLOCK_DOUBT)
            bench.otask("sync", "--quiet", at=work)
            bench.git("init", "--quiet", at=repository)
            bench.git("add", ".", at=repository)
            bench.git("commit", "--quiet", "--message=files", at=repository)
            first = min((work / "tasks").rglob("*.md")).relative_to(work)
            ours, theirs = [], []
            for _ in range(5):
                for folder in (work, repository):
                    with open(folder / first, "a") as file:
                        file.write("One more line.\n")
                ours.append(bench.otask("sync", "--quiet", at=work).seconds)
                theirs.append(
                    bench.git("add", ".", at=repository).seconds
                    + bench.git("commit", "--quiet", "--message=x", at=repository).seconds)
            a, b = statistics.median(ours), statistics.median(theirs)
            row([f"{count:,}, {'one folder' if is_flat else 'in folders'}", milliseconds(a), milliseconds(b), f"{a / b:.2f}"])
            for name in ("work", "server", "repository"):
                bench.folder(name)


def memory(bench, count):
    table(
        f"memory at {count:,} tasks, the embedded server in the same process: the most that a command had",
        "otask", "memory", "time",
    )
    server = bench.folder("server")
    here, there = bench.workspace("here", server), bench.workspace("there", server)
    make_files(here / "tasks", count)

    def measure(name, *words, at=here):
        outcome = bench.otask(*words, at=at)
        row([name, f"{outcome.megabytes:.0f} MB", milliseconds(outcome.seconds)])
        return outcome

    measure("status, nothing sent yet", "status")
    measure("push --dry-run", "push", "--dry-run")
    measure("push, the first", "push")
    measure("sync, after it", "sync")
    measure("pull, the first", "pull", at=there)
    measure("sync, nothing to do", "sync")
    measure("sync --dry-run", "sync", "--dry-run")
    measure("status", "status")
    measure("list", "list")
    measure("list --search", "list", "--search", "Task 77")
    measure("show", "show", "tasks/area-00/list-0000/task-000077.md")
    measure("changes", "changes")
    measure("new", "new", "Buy milk")
    measure("done", "done", "tasks/area-00/list-0000/task-000076.md")
    measure("done --all", "done", "--all")
    measure("sync, every task changed elsewhere", "sync", at=there)
    measure("delete", "delete", "tasks/area-00/list-0000/task-000077.md")
    shutil.rmtree(there / "tasks" / "area-00")
    (there / "tasks" / "area-00").mkdir()
    measure("status, files missing", "status", at=there)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("otask", type=Path)
    parser.add_argument("--status", type=int, nargs="*", default=[], metavar="COUNT")
    parser.add_argument("--sync", type=int, nargs="*", default=[], metavar="COUNT")
    parser.add_argument("--change", type=int, nargs="*", default=[], metavar="COUNT")
    parser.add_argument("--memory", type=int, metavar="COUNT")
    arguments = parser.parse_args()
    # So that what is under way is ended and removed here too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended"))
    with tempfile.TemporaryDirectory(prefix="otask-bench.") as place:
        bench = Bench(str(arguments.otask.resolve()), Path(place))
        if arguments.status:
            status(bench, arguments.status)
        if arguments.sync:
            sync(bench, arguments.sync)
        if arguments.change:
            one_change(bench, arguments.change)
        if arguments.memory:
            memory(bench, arguments.memory)


if __name__ == "__main__":
    main()
