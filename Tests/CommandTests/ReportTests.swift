import Model
import Testing

@testable import Sync
@testable import otask

private let now = Instant(seconds: 1_796_036_400)
private let paths = PathDisplay(root: "/w", directory: "/w")

private func id(_ digit: Int) -> ItemID { ItemID("0000000\(digit)-0000-4000-8000-000000000000")! }

private func report(_ change: (inout StatusReport) -> Void = { _ in }) -> StatusReport {
    var report = StatusReport(
        workspace: "/w", account: AccountInfo(userID: id(9), email: "demo@example.com", isAnonymous: false),
        connection: .online, syncing: nil, lastError: nil, lastPull: now + -180, lastPush: now + -240, nextTry: nil,
        counts: TaskCounts(tasks: 5, open: 3, done: 2), waiting: [], conflicts: [], refused: [], problems: [],
        notFollowed: [], notices: [])
    change(&report)
    return report
}

private let busy = report {
    $0.waiting = [
        WaitingItem(id: nil, path: "tasks/new.md", change: .new, fields: [.title, .notes], state: .waiting),
        WaitingItem(
            id: id(1), path: "tasks/fence.md", change: .edited, fields: [.property("tags"), .title], state: .waiting),
        WaitingItem(
            id: id(2), path: "tasks/b.md", change: .moved, fields: [.path], state: .waiting, from: "tasks/a.md"),
        WaitingItem(id: id(3), path: "tasks/gone.md", change: .deleted, fields: [], state: .guarded),
        WaitingItem(
            id: id(4), path: "tasks/slow.md", change: .edited, fields: [.notes], state: .later, reason: "time-out"),
    ]
    $0.nextTry = now + 25
    $0.conflicts = [ConflictItem(id: id(5), path: "tasks/both.md", fields: [.title])]
    $0.refused = [
        RefusedItem(
            id: id(6), path: "tasks/long.md", fields: [.title], code: "23514",
            message: "title is too long\u{1B}[31m", since: now + -3_600)
    ]
    $0.problems = [ProblemItem(id: nil, path: "tasks/bad.md", problem: "the front matter isn't closed", line: 3)]
    $0.notices = [
        Notice(time: now + -60, path: "tasks/back.md", text: "came back", undo: "otask delete tasks/back.md")
    ]
}

@Suite struct `status` {
    @Test func `is two lines when all is well`() {
        #expect(
            StatusText.render(report(), paths: paths, now: now, style: .plain) == """
                Up to date as of 3 minutes ago.
                3 open tasks, 2 done.

                """)
    }

    @Test func `groups what waits, each with what to type next`() {
        #expect(
            StatusText.render(busy, paths: paths, now: now, style: .plain) == """
                Last synced 3 minutes ago.
                5 changes wait to be sent; 3 open tasks, 2 done.

                Conflicts:
                  ("otask diff TASK --server" shows both sides; "otask resolve TASK --mine", "--theirs" or "--edit" ends it)
                        both changed:  tasks/both.md (title)

                Refused by the server:
                  (change the file and sync again, or "otask changes retry TASK", or "otask changes dismiss TASK")
                        tasks/long.md (title): title is too long\\u{1b}[31m [23514], 1 hour ago

                Problems:
                  (these files wait until they are mended; everything else goes on)
                        tasks/bad.md:3: the front matter isn't closed

                Held by the deletion guard:
                  ("otask sync --allow-deletions N" lets them through; "otask changes discard TASK" puts them back)
                        deleted:  tasks/gone.md

                To be tried again later:
                  ("otask sync" tries at once; by itself in 25 seconds)
                        edited:   tasks/slow.md (notes): time-out

                Changes to be sent:
                  ("otask sync" sends them; "otask changes discard TASK" takes one back)
                        new:      tasks/new.md
                        edited:   tasks/fence.md (title, tags)
                        moved:    tasks/a.md -> tasks/b.md

                Notices:
                        tasks/back.md: came back (1 minute ago)
                          undo: otask delete tasks/back.md

                """)
    }

    @Test(
        arguments: [
            ("Last pushed 4 minutes ago, never synced yet (\"otask sync\" does).", report { $0.lastPull = nil }),
            (
                "Never synced yet (\"otask sync\" does).",
                report {
                    $0.lastPull = nil
                    $0.lastPush = nil
                }
            ),
            (
                "Syncing since 20 seconds ago (otask sync).",
                report { $0.syncing = (now + -20, "otask sync") }
            ),
            (
                "Offline is simulated; showing saved data of 3 minutes ago (\"otask offline off\" ends it).",
                report { $0.connection = .offline }
            ),
            ("Signed out; showing saved data of 3 minutes ago.", report { $0.connection = .signedOut }),
            (
                "The server can't be reached; never synced yet.",
                report {
                    $0.connection = .unreachable; $0.lastPull = nil
                }
            ),
        ] as [(String, StatusReport)])
    func `begins with where syncing stands`(_ line: String, _ report: StatusReport) {
        let text = StatusText.render(report, paths: paths, now: now, style: .plain)
        #expect(text.split(separator: "\n").first.map(String.init) == line)
    }

    @Test func `says what the last run failed of`() {
        let text = StatusText.render(
            report { $0.lastError = ("the disk is full", now + -60) }, paths: paths, now: now, style: .plain)
        #expect(text.contains("\nThe last run failed 1 minute ago: the disk is full\n"))
    }

    @Test func `--short is two letters and a path`() {
        #expect(
            StatusText.short(busy, paths: paths) == """
                CC tasks/both.md
                RR tasks/long.md
                !! tasks/bad.md
                Nw tasks/new.md
                Ew tasks/fence.md
                Mw tasks/a.md -> tasks/b.md
                Dg tasks/gone.md
                El tasks/slow.md

                """)
    }

    @Test func `--json has the keys that scripts rely on`() throws {
        let json = ReportJSON.status(busy)
        #expect(
            json.object.map { Set($0.keys) } == [
                "format", "workspace", "account", "connection", "syncing", "last_error", "last_pull", "last_push",
                "counts",
                "waiting", "conflicts", "refused", "problems", "notices",
            ])
        #expect(json["last_pull"] == "2026-11-30T10:57:00Z")
        #expect(json["counts"] == ["tasks": 5, "open": 3, "done": 2, "photos": 0])
        #expect(json["account"] == ["user_id": .string(id(9).text), "email": "demo@example.com", "anonymous": false])
        #expect(
            json["waiting"]?.array?[1] == [
                "kind": "task", "id": .string(id(1).text), "path": "tasks/fence.md", "change": "edited",
                "fields": ["title", "properties.tags"], "state": "waiting", "from": nil, "reason": nil,
            ])
        #expect(json["conflicts"]?.array?[0]["fields"] == ["title"])
        #expect(json["refused"]?.array?[0]["code"] == "23514")
        #expect(json["problems"]?.array?[0]["line"] == 3)
        #expect(
            json["notices"]?.array?[0] == [
                "time": "2026-11-30T10:59:00Z", "path": "tasks/back.md", "text": "came back",
                "undo": "otask delete tasks/back.md",
            ])
        #expect(ReportJSON.status(report())["syncing"] == .null)
    }
}

@Suite struct `A run` {
    private func run(_ change: (inout RunReport) -> Void) -> RunReport {
        var report = RunReport(verb: .sync)
        report.requests = 2
        change(&report)
        return report
    }

    @Test func `is one quiet line when all is well`() {
        #expect(RunText.summary(run { _ in }) == "up to date · 2 requests")
        #expect(RunText.summary(run { $0.verb = .pull }) == "nothing new on the server · 2 requests")
        #expect(RunText.summary(run { $0.verb = .push }) == "nothing to send · 2 requests")
        #expect(RunText.summary(run { $0.conflicts = busy.conflicts }) == "nothing sent or received · 2 requests")
        let moved = run {
            $0.sent.tasks = 3
            $0.received.tasks = 1
            $0.received.deleted = 2
        }
        #expect(RunText.summary(moved) == "sent 3 tasks, received 1 task and 2 deletions · 2 requests")
        #expect(RunText.attention(moved, paths: paths, now: now, style: .plain) == "")
    }

    @Test func `is exact when something is wrong`() {
        let report = run {
            $0.conflicts = busy.conflicts
            $0.refused = busy.refused
            $0.problems = busy.problems
            $0.guarded = GuardedDeletions(count: 12, onServer: 12, here: 0, wentBackInTime: 0)
        }
        #expect(
            RunText.attention(report, paths: paths, now: now, style: .plain) == """
                conflict: tasks/both.md (title)
                  ("otask diff TASK --server" shows both sides, "otask resolve TASK --mine" or "--theirs" ends it)
                refused: tasks/long.md (title): title is too long\\u{1b}[31m [23514]
                  (change the file and sync again, or "otask changes dismiss TASK")
                problem: tasks/bad.md:3: the front matter isn't closed
                held by the deletion guard: 12 tasks would disappear on the server
                  "otask sync --allow-deletions 12" lets them through; "otask changes discard TASK" puts them back

                """)
    }

    @Test func `prints its plan with action, direction, path and fields`() {
        let report = run {
            $0.plan = [
                PlanLine(action: .send, path: "tasks/a.md", fields: [.title]),
                PlanLine(action: .writeNew, path: "tasks/b.md", fields: []),
                PlanLine(action: .move, path: "tasks/c.md", fields: [], to: "tasks/d.md"),
            ]
        }
        #expect(
            RunText.plan(report, paths: paths, style: .plain) == """
                send edit      here -> server tasks/a.md (title)
                write new      server -> here tasks/b.md
                move           here           tasks/c.md -> tasks/d.md

                """)
        let plan = ReportJSON.run(report, isPlan: true)["plan"]?.array
        #expect(plan?[0] == ["action": "send", "kind": "task", "path": "tasks/a.md", "fields": ["title"], "to": nil])
    }

    @Test(
        arguments: [
            (RunFailure.Kind.failed, 1), (.diskFull, 1), (.readOnly, 1), (.unreachable, 4), (.offline, 4),
            (.signedOut, 5),
            (.otherAccount, 5), (.schema, 6),
        ] as [(RunFailure.Kind, Int32)])
    func `ends with the code of what kept it from finishing`(_ kind: RunFailure.Kind, _ code: Int32) {
        #expect(RunText.exitCode(run { $0.failure = RunFailure(kind, "x") }).number == code)
    }

    @Test func `ends with 2 where a person is needed, and 3 at the deletion guard`() {
        #expect(RunText.exitCode(run { _ in }).number == 0)
        #expect(RunText.exitCode(run { $0.conflicts = busy.conflicts }).number == 2)
        #expect(RunText.exitCode(run { $0.refused = busy.refused }).number == 2)
        #expect(RunText.exitCode(run { $0.problems = busy.problems }).number == 2)
        let guarded = run {
            $0.problems = busy.problems
            $0.guarded = GuardedDeletions(count: 3, onServer: 0, here: 3, wentBackInTime: 0)
        }
        #expect(RunText.exitCode(guarded).number == 3)
    }

    @Test func `--json counts what went both ways and over the wire`() {
        let json = ReportJSON.run(
            run {
                $0.sent.tasks = 1
                $0.bytesUp = 300
                $0.seconds = 0.0425
                $0.conflicts = busy.conflicts
            }, isPlan: false)
        #expect(
            json.object.map { Set($0.keys) } == [
                "format", "ok", "error", "sent", "received", "conflicts", "refused", "problems", "requests", "bytes_up",
                "bytes_down", "seconds", "guarded",
            ])
        #expect(json["ok"] == false)
        #expect(json["sent"] == ["tasks": 1, "photos": 0, "profiles": 0, "deleted": 0])
        #expect(json["seconds"] == .number("0.043"))
        #expect(json["bytes_up"] == 300)
    }
}

@Suite struct `Both sides of a conflict` {
    @Test func `are shown field by field, notes by lines`() {
        let sides = [
            FieldSides(field: .title, base: "a", mine: "b\u{1B}", theirs: "c"),
            FieldSides(field: .notes, base: "x", mine: "one\ntwo\nthree", theirs: "one\n2\nthree"),
            FieldSides(field: .property("tags"), base: nil, mine: ["home"], theirs: nil),
        ]
        #expect(
            SidesText.render(sides, style: .plain) == """
                title
                  server: c
                  here:   b\\u{1b}

                notes
                  --- server
                  +++ here
                    one
                  - 2
                  + two
                    three

                tags
                  server: (none)
                  here:   home

                """)
    }

    @Test func `leave out lines far from a difference`() {
        let lines = (1...20).map { Text("line \($0)") }
        let text = SidesText.render(
            [
                FieldSides(
                    field: .notes, base: nil,
                    mine: .string(Text((lines + ["more"]).map(\.string).joined(separator: "\n"))),
                    theirs: .string(Text(lines.map(\.string).joined(separator: "\n"))))
            ], style: .plain)
        #expect(text.contains("  ...\n    line 18\n    line 19\n    line 20\n  + more\n"))
        #expect(!text.contains("line 17"))
    }
}

@Suite struct `A list` {
    private let tasks = [
        TaskSummary(
            id: id(1), path: "tasks/fence.md", title: "Paint the fence", done: false, photos: 0, waiting: true,
            updated: now + -60, notes: "Ask NINA", properties: [:]),
        TaskSummary(
            id: id(2), path: "tasks/日本.md", title: "日本\u{07}", done: true, photos: 2, waiting: false,
            updated: now + -30 * 86_400, notes: "", properties: [:]),
        TaskSummary(
            id: id(3), path: "tasks/milk.md", title: "Buy milk", done: false, photos: 0, waiting: false,
            updated: now + -10, notes: "", properties: [:]),
    ]

    @Test func `marks what hasn't reached the server, in columns`() {
        #expect(
            ListText.rows(tasks, paths: paths, now: now, width: nil, style: .plain) == """
                * [ ] Paint the fence  tasks/fence.md  1 minute ago
                  [x] 日本\\u{7}        tasks/日本.md   on 2026-10-31  2 photos
                  [ ] Buy milk         tasks/milk.md   10 seconds ago

                """)
        #expect(
            ListText.header(tasks, asOf: now + -180, now: now)
                == "3 tasks from the files here, last synced 3 minutes ago; * marks 1 whose change hasn't reached the server"
        )
        #expect(ListText.header([], asOf: nil, now: now) == "0 tasks from the files here, never synced")
    }

    @Test(
        arguments: [
            ([], ["milk", "fence"]), (["--open"], ["milk", "fence"]), (["--done"], ["日本"]),
            (["--recent"], ["milk", "fence"]),
            (["--open", "--done"], ["milk", "fence", "日本"]), (["--search", "nina"], ["fence"]),
            (["--search", "MILK", "--done"], []),
            (["--search", ""], ["milk", "fence", "日本"]),
        ] as [([String], [String])])
    func `shows the tasks that its options choose, newest change first`(_ options: [String], _ names: [String]) throws {
        let arguments = try Command.root.parse(["list"] + options).arguments
        let chosen = ListFilter(arguments, now: now).apply(to: tasks)
        #expect(chosen.map { String($0.path.lastComponent.string.dropLast(3)) } == names)
    }

    @Test func `--json has what scripts rely on`() {
        #expect(
            ReportJSON.list([tasks[2]], asOf: now) == [
                "format": 1, "source": "files", "as_of": "2026-11-30T11:00:00Z",
                "tasks": [
                    [
                        "id": .string(id(3).text), "path": "tasks/milk.md", "title": "Buy milk", "done": false,
                        "photos": 0,
                        "waiting": false, "updated_at": "2026-11-30T10:59:50Z",
                    ]
                ],
            ])
    }
}
