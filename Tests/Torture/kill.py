#!/usr/bin/env python3
"""Stops `otask` with SIGKILL in the middle of syncs, again and again, while files are being edited, and checks after each
time that nothing was lost, doubled or brought back: kill.py PATH-TO-OTASK [--runs N] [--tasks N] [--seed N] [--way WAY]...

The ways: `embedded` (two devices that share the embedded server's directory), `http` (the same over `otask serve`) and
`server` (there, the server process is what is stopped). What a device wrote is found again by its words: each edit puts in a
mark like `m123`, and a mark that nobody took out must be on both devices at the end of the round, or in a conflict.
"""

import argparse, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

MARK = re.compile(r"\bm\d+\b")


class Finding(Exception):
    pass


class World:
    def __init__(self, otask, way, tasks, rng, root):
        self.otask, self.way, self.rng, self.root = otask, way, rng, root
        self.state = os.path.join(root, "state")
        self.environment = dict(os.environ, XDG_STATE_HOME=self.state, NO_COLOR="1")
        self.server = None
        self.marks = 0
        self.next_name = 0
        self.removed = set()  # marks that went with a file that was removed
        self.away = set()
        self.kills = self.hits = 0
        self.durations = []
        self.data = os.path.join(root, "server")
        self.port = 0
        if way == "embedded":
            server = self.data
        else:
            server = self.start_server()
        self.devices = []
        for name in ("a", "b"):
            path = os.path.join(root, name)
            self.run("init", path, "--demo", "--server", server, "--quiet", cwd=root)
            self.run("config", "set", "device", name, cwd=path)
            self.devices.append(path)
        for number in range(tasks):
            self.write_new(self.devices[0], f"tasks/{number // 100:02}/task-{number:04}.md")
        self.settle()

    # -- processes

    def start_server(self):
        command = [self.otask, "serve", "--data", self.data, "--port", str(self.port), "--json"]
        self.server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, text=True)
        text = ""
        while True:
            line = self.server.stdout.readline()
            if not line:
                raise Finding("the server ended at once")
            text += line
            try:
                facts = json.loads(text)
                break
            except json.JSONDecodeError:
                continue
        self.port = int(facts["url"].rsplit(":", 1)[1].strip("/"))
        return facts["url"]

    def stop_server(self, how):
        if self.server:
            self.server.send_signal(how)
            self.server.wait()
            self.server.stdout.close()
            self.server = None

    def begin(self, *words, cwd):
        return subprocess.Popen(
            [self.otask, *words], cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *words, cwd, allowed=(0,)):
        process = self.begin(*words, cwd=cwd)
        out, err = process.communicate(timeout=300)
        if process.returncode not in allowed:
            raise Finding(f"otask {' '.join(words)} in {cwd} ended with {process.returncode}:\n{out}\n{err}")
        return out

    def sync(self, device):
        """One sync to its end; deletions are let through. Its report."""
        report = json.loads(self.run("sync", "--json", cwd=device, allowed=(0, 2, 3)))
        if report["guarded"]:
            words = ("sync", "--json", "--allow-deletions", str(report["guarded"]["count"]))
            report = json.loads(self.run(*words, cwd=device, allowed=(0, 2, 3)))
        return report

    # -- what people do

    def mark(self):
        self.marks += 1
        return f"m{self.marks}"

    def files(self, device):
        found = []
        for folder, folders, names in os.walk(os.path.join(device, "tasks")):
            found += [os.path.join(folder, name) for name in names if name.endswith(".md") and not name.startswith(".")]
        return sorted(found)

    def write_new(self, device, path):
        path = os.path.join(device, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"# Task {self.mark()}\n\nfirst line\n\n{self.mark()}\n\nlast line\n")

    def name(self, prefix):
        self.next_name += 1
        return f"{prefix}-{self.next_name}"

    def edit(self, device, rng):
        """One thing that a person does to one file."""
        path = rng.choice(self.files(device))
        kind = rng.choice(["append"] * 4 + ["insert"] * 3 + ["done", "rename", "move", "copy", "new", "save", "remove"])
        try:
            with open(path) as file:
                text = file.read()
            if kind == "append":
                with open(path, "a") as file:
                    file.write(f"\n{self.mark()} on {os.path.basename(device)}\n")
            elif kind == "insert":
                new = text.replace("first line\n", f"first line\n\n{self.mark()}\n", 1)
                with open(path, "w") as file:
                    file.write(new)
            elif kind == "save":  # as editors do: a new file in its place
                new = text.replace("last line", f"last line\n\n{self.mark()}", 1)
                with open(path + ".saving~", "w") as file:
                    file.write(new)
                os.rename(path + ".saving~", path)
            elif kind == "done" and text.startswith("---\nid:") and "\ndone:" not in text:
                # Where otask would put it, so that the files are equal to the byte.
                with open(path, "w") as file:
                    file.write(re.sub(r"(?m)^(id: .*)$", r"\1\ndone: true", text, count=1))
            elif kind == "rename":
                os.rename(path, os.path.join(os.path.dirname(path), self.name("renamed") + ".md"))
            elif kind == "move":
                folder = os.path.join(device, "tasks", self.name("folder"))
                os.makedirs(folder)
                os.rename(path, os.path.join(folder, os.path.basename(path)))
            elif kind == "copy":
                shutil.copyfile(path, os.path.join(os.path.dirname(path), self.name("copy") + ".md"))
            elif kind == "new":
                self.write_new(device, f"tasks/{self.name('new')}.md")
            elif kind == "remove":
                # What it holds goes with it, unless somebody else edits it meanwhile.
                self.removed |= set(MARK.findall(text))
                os.unlink(path)
        except FileNotFoundError:
            pass  # otask moved it meanwhile

    # -- rounds

    def round(self):
        rng = self.rng
        for device in self.devices:
            for _ in range(rng.randint(5, 40)):
                self.edit(device, rng)
        device = rng.choice(self.devices)
        stop = threading.Event()
        editors = [
            threading.Thread(target=self.keep_editing, args=(each, random.Random(rng.random()), stop))
            for each in self.devices
        ]
        for editor in editors:
            editor.start()
        usual = sorted(self.durations)[len(self.durations) // 2] if self.durations else 0.5
        started = time.monotonic()
        process = self.begin("sync", cwd=device)
        other = self.begin("sync", cwd=self.devices[1 - self.devices.index(device)]) if rng.random() < 0.5 else None
        wait_until(started + rng.uniform(0, usual * 1.1))
        self.kills += 1
        if self.way == "server":
            self.hits += process.poll() is None
            self.stop_server(signal.SIGKILL)
            time.sleep(rng.uniform(0, 0.2))
            self.start_server()
        elif process.poll() is None:
            process.kill()
            self.hits += 1
        process.communicate()
        if other:
            other.communicate()
        stop.set()
        for editor in editors:
            editor.join()
        self.settle()

    def keep_editing(self, device, rng, stop):
        while not stop.is_set():
            self.edit(device, rng)
            stop.wait(rng.uniform(0.005, 0.05))

    def settle(self):
        """Both sync until there is nothing to do; then everything must be as it should."""
        for turn in range(8):
            reports = []
            for device in self.devices:
                started = time.monotonic()
                reports.append(self.sync(device))
                if turn == 0:
                    self.durations = (self.durations + [time.monotonic() - started])[-21:]
            for device, report in zip(self.devices, reports):
                for conflict in report["conflicts"]:
                    self.run("resolve", conflict["id"], "--mine", cwd=device)
            quiet = all(
                sum(report["sent"].values()) + sum(report["received"].values()) == 0 and not report["conflicts"]
                for report in reports)
            if quiet:
                break
        else:
            raise Finding("the devices never come to rest")
        self.check(reports)

    def check(self, reports):
        trees = []
        for device in self.devices:
            tree = {}
            for path in self.files(device):
                with open(path, "rb") as file:
                    tree[os.path.relpath(path, device)] = file.read()
            trees.append(tree)
        for path in sorted(set(trees[0]) | set(trees[1])):
            if trees[0].get(path) != trees[1].get(path):
                raise Finding(f"{path} differs:\n{trees[0].get(path)}\n{trees[1].get(path)}")
        lists = [json.loads(self.run("list", "--open", "--done", "--json", cwd=device)) for device in self.devices]
        ids = [{task["path"]: task["id"] for task in each["tasks"]} for each in lists]
        if ids[0] != ids[1]:
            raise Finding("the ids differ: " + str(set(ids[0].items()) ^ set(ids[1].items())))
        if len(set(ids[0].values())) != len(ids[0]) or len(ids[0]) != len(trees[0]):
            raise Finding("a task is there twice, or a file is none")
        status = [json.loads(self.run("status", "--json", cwd=device)) for device in self.devices]
        for each in status:
            for key in ("waiting", "conflicts", "refused", "problems"):
                if each[key]:
                    raise Finding(f"status still has {key}: {each[key]}")
        seen = {mark for text in trees[0].values() for mark in MARK.findall(text.decode())}
        missing = {f"m{number}" for number in range(1, self.marks + 1)} - seen - self.removed
        # An editor that saves what it read before a pull takes the pulled text away, as does an answer to a conflict.
        self.away = missing & self.recorded(missing)
        if missing - self.away:
            raise Finding(f"lost: {sorted(missing - self.away)}")

    def recorded(self, marks):
        """Those that the history of either device has."""
        found = set()
        for device in self.devices if marks else []:
            history = os.path.join(device, ".otask", "history")
            for repository in os.listdir(history):
                log = subprocess.run(
                    ["git", "-C", os.path.join(history, repository), "log", "-p", "--format=", "--text"],
                    capture_output=True, text=True, check=True).stdout
                found |= set(MARK.findall(log))
        return found


def wait_until(moment):
    while (left := moment - time.monotonic()) > 0:
        time.sleep(min(left, 0.002))


def play(otask, way, runs, tasks, seed):
    rng = random.Random(seed)
    root = tempfile.mkdtemp(prefix=f"otask-kill-{way}-")
    world = None
    try:
        world = World(otask, way, tasks, rng, root)
        for number in range(runs):
            world.round()
            if sys.stderr.isatty():
                print(f"\r{way}: {number + 1} of {runs}", end="", file=sys.stderr)
        print(
            f"{way}: {world.kills} kills, {world.hits} of them in a sync; {world.marks} sentences, {len(world.removed)} removed, "
            f"{len(world.away)} in the history alone; {len(world.files(world.devices[0]))} tasks; nothing lost, nothing twice")
        shutil.rmtree(root)
        return True
    except (Finding, subprocess.TimeoutExpired) as finding:
        print(f"{way}: FOUND after {world.kills if world else 0} kills (seed {seed}; kept in {root}):\n{finding}")
        return False
    finally:
        if world:
            world.stop_server(signal.SIGTERM)


parser = argparse.ArgumentParser(description="Stops otask in the middle of syncs, and checks what is left.")
parser.add_argument("otask")
parser.add_argument("--runs", type=int, default=100)
parser.add_argument("--tasks", type=int, default=2000)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--way", action="append", choices=["embedded", "http", "server"])
options = parser.parse_args()
print(f"seed {options.seed}")
good = [
    play(os.path.abspath(options.otask), way, options.runs, options.tasks, options.seed)
    for way in options.way or ["embedded", "http", "server"]
]
sys.exit(0 if all(good) else 1)
