#!/usr/bin/env python3
"""Drives real editors in a terminal while `otask` pulls under them: editors.py PATH-TO-OTASK

Two devices; on one of them a task is open in an editor, on the other the same task is edited and sent. The first pulls, then
saves its buffer. Whatever the editor does (a new file renamed into place, the old one written again, a warning answered with
yes), no sentence of either side may be lost silently: it is in the file on both devices, or a notice or a conflict tells of it
and the history has it; and no task is there twice.
"""

import json, os, pty, re, select, shutil, signal, subprocess, sys, tempfile, time


class Finding(Exception):
    pass


class Terminal:
    """A program in a terminal of 24 by 80."""

    def __init__(self, command, directory, environment):
        self.screen = b""
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, dict(environment, TERM="xterm", LINES="24", COLUMNS="80"))

    def read(self, seconds):
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            return False
        self.screen += data
        return bool(data)

    def wait(self, what, condition):
        """Reads on until the condition holds."""
        until = time.monotonic() + 20
        while not condition():
            self.read(0.05)
            if time.monotonic() > until:
                raise Finding(f"waited in vain for {what}; the screen:\n{self.screen[-1500:].decode(errors='replace')}")

    def see(self, text):
        self.wait(f"“{text}” on the screen", lambda: re.search(text.encode(), self.screen))

    def type(self, keys):
        self.screen = b""
        os.write(self.descriptor, keys.encode())

    def end(self):
        """Waits until the program has ended."""
        def ended():
            try:
                return os.waitpid(self.process, os.WNOHANG)[0] != 0
            except ChildProcessError:
                return True
        self.wait("the editor's end", ended)
        os.close(self.descriptor)


class Pair:
    def __init__(self, otask, root):
        self.otask = otask
        self.environment = dict(os.environ, XDG_STATE_HOME=root + "/state", NO_COLOR="1", HOME=root, LC_ALL="C.UTF-8")
        self.a, self.b = root + "/a", root + "/b"
        for device in (self.a, self.b):
            self.run(root, "init", device, "--demo", "--server", root + "/server", "--quiet")
        for number in range(4):
            with open(f"{self.a}/tasks/other-{number}.md", "w") as file:
                file.write(f"# Other {number}\n")
        self.path = self.a + "/tasks/fence.md"
        with open(self.path, "w") as file:
            file.write("# Paint the fence\n\nfirst line\n\nmiddle line\n\nlast line\n")
        for device in (self.a, self.b, self.a):
            self.run(device, "sync")

    def run(self, directory, *words):
        process = subprocess.run(
            [self.otask, *words], cwd=directory, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if process.returncode not in (0, 2):
            raise Finding(f"otask {' '.join(words)} ended with {process.returncode}:\n{process.stdout}{process.stderr}")
        return process.stdout

    def text(self, device=None):
        with open((device or self.a) + "/tasks/fence.md") as file:
            return file.read()

    def edit_there(self):
        """The other device changes the first line and sends it."""
        path = self.b + "/tasks/fence.md"
        text = self.text(self.b).replace("first line", "first line from there")
        with open(path, "w") as file:
            file.write(text)
        self.run(self.b, "sync")

    def settle(self):
        """Both sync; what a person would be told on the way."""
        told = ""
        for device in (self.a, self.b) * 3:
            report = json.loads(self.run(device, "sync", "--json"))
            told += json.dumps(report["conflicts"])
            status = json.loads(self.run(device, "status", "--json"))
            told += json.dumps(status["notices"]) + json.dumps(status["conflicts"])
            if report["problems"]:
                raise Finding(f"problems: {report['problems']}")
        return told

    def check(self, told, here="written here"):
        names = [sorted(os.listdir(device + "/tasks")) for device in (self.a, self.b)]
        wanted = ["fence.md"] + [f"other-{number}.md" for number in range(4)]
        if any([name for name in each if not name.startswith(".")] != wanted for each in names):
            raise Finding(f"the files are {names}")
        outcome = []
        for words in (here, "first line from there"):
            present = [words in self.text(device) for device in (self.a, self.b)]
            if all(present):
                outcome.append("merged")
            elif "tasks/fence.md" in told and self.recorded(words):
                outcome.append("told")
            else:
                raise Finding(f"“{words}” is lost: {present}; told: {told}\n{self.text()}\n--\n{self.text(self.b)}")
        return ", ".join(sorted(set(outcome)))

    def recorded(self, words):
        history = self.a + "/.otask/history"
        return any(
            words in subprocess.run(
                ["git", "-C", f"{history}/{name}", "log", "-p", "--format="], capture_output=True, text=True).stdout
            for name in os.listdir(history))


# Each opens the file, waits until it is shown, lets something happen, writes a line at its end, saves, and ends.


def vim(*settings):
    def play(pair, meanwhile):
        words = [word for setting in settings for word in ("-c", f"set {setting}")]
        terminal = Terminal(["vim", "-u", "NONE", "-N", *words, pair.path], pair.a, pair.environment)
        terminal.see("last line")
        meanwhile()
        terminal.type("Gowritten here\x1b:w!\r")
        terminal.wait(
            "the save, or a question", lambda: "written here" in pair.text() or b"really want to write" in terminal.screen)
        if "written here" not in pair.text():
            terminal.type("y")
            terminal.wait("the save", lambda: "written here" in pair.text())
        terminal.type(":q!\r")
        terminal.end()
    return play


def nano(pair, meanwhile):
    terminal = Terminal(["nano", "--ignorercfiles", pair.path], pair.a, pair.environment)
    terminal.see("last line")
    meanwhile()
    terminal.type("\x1b/")  # to the end
    terminal.type("written here\n")
    terminal.see("written here")
    terminal.type("\x0f")  # save …
    terminal.see("File Name to Write")
    terminal.type("\r")
    terminal.wait("the save, or a question", lambda: "written here" in pair.text() or b"modified" in terminal.screen or b"changed" in terminal.screen)
    if "written here" not in pair.text():
        terminal.type("y")
        terminal.wait("the save", lambda: "written here" in pair.text())
    terminal.type("\x18")
    terminal.end()


def emacs(pair, meanwhile):
    terminal = Terminal(["emacs", "-nw", "-Q", pair.path], pair.a, pair.environment)
    terminal.see("last line")
    meanwhile()
    terminal.type("\x1b>")
    terminal.type("w")
    terminal.wait("an answer", lambda: b"really edit" in terminal.screen or b"w" in terminal.screen)
    if b"really edit" in terminal.screen:
        terminal.type("y")
        terminal.type("w")
    terminal.type("ritten here\n\x18\x13")
    terminal.wait("the save, or a question", lambda: "written here" in pair.text() or b"Save anyway" in terminal.screen or b"yes or no" in terminal.screen)
    if "written here" not in pair.text():
        terminal.type("yes\r")
        terminal.wait("the save", lambda: "written here" in pair.text())
    terminal.type("\x18\x03")
    terminal.end()


def sed(pair, meanwhile):
    meanwhile()
    subprocess.run(["sed", "-i", "$ a written here", pair.path], check=True)


def tee(pair, meanwhile):
    """A program that has the file open for appending while otask exchanges it."""
    process = subprocess.Popen(["tee", "-a", pair.path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(b"\nopened before\n")
    process.stdin.flush()
    until = time.monotonic() + 10
    while "opened before" not in pair.text() and time.monotonic() < until:
        time.sleep(0.01)
    meanwhile()
    process.stdin.write(b"written here\n")
    process.stdin.close()
    process.wait()
    # What otask had put aside is looked at again by a run a minute later.
    time.sleep(61)


def checkout(pair, meanwhile):
    """A person's own repository around the workspace, and an older version out of it."""
    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=n@n", *words], cwd=pair.a, env=pair.environment, check=True,
            capture_output=True)
    git("init", "-q", ".")
    with open(pair.path, "a") as file:
        file.write("\nwritten here\n")
    git("add", "tasks")
    git("commit", "-qm", "one")
    with open(pair.path) as file:
        text = file.read()
    with open(pair.path, "w") as file:
        file.write(text.replace("middle line", "another middle"))
    meanwhile()
    git("checkout", "-q", "--", "tasks/fence.md")


ways = {
    "vim": vim(), "vim, backupcopy=yes": vim("backupcopy=yes"), "vim, nowritebackup": vim("nowritebackup"),
    "vim, no swap file": vim("noswapfile"), "nano": nano, "emacs": emacs, "sed -i": sed, "tee -a": tee,
    "git checkout": checkout,
}


def play(otask, name, drive, moment):
    root = tempfile.mkdtemp(prefix="otask-editors-")
    try:
        pair = Pair(otask, root)
        words = ["sync"] + (["--background"] if moment == "a background run" else [])

        def meanwhile():
            if moment == "nothing":
                return
            pair.edit_there()
            pair.run(pair.a, *words)

        drive(pair, meanwhile)
        if moment == "nothing":
            pair.edit_there()
        outcome = pair.check(pair.settle())
        print(f"{name:<22}{moment + ' meanwhile':<30}{outcome}")
        shutil.rmtree(root)
        return True
    except Finding as finding:
        print(f"{name:<22}{moment + ' meanwhile':<30}FOUND (kept in {root}): {finding}")
        return False


otask = os.path.abspath(sys.argv[1])
chosen = [name for name in ways if not sys.argv[2:] or any(word in name for word in sys.argv[2:])]
good = [
    play(otask, name, ways[name], moment) for name in chosen for moment in ("nothing", "a pull", "a background run")
]
sys.exit(0 if all(good) else 1)
