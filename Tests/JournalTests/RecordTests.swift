import Libraries
import Model
import Testing
import Workspace

@testable import Journal

struct RecordTests {
    let values: FieldValues = [
        .title: "Paint the fence", .notes: "Two coats.\nThen a third.", .done: true, .path: "home/fence",
        .property("due"): .number("1.50"), .property("e\u{301}"): ["a", nil], .property(""): "",
    ]

    @Test func `every fact of the workspace comes back`() throws {
        try withJournal { journal in
            var wanted = Meta()
            wanted.marker = "w-1"
            wanted.projectURL = "https://example.supabase.co"
            wanted.userID = id(1)
            wanted.machineID = "m-1"
            wanted.homeIdentity = FileIdentity(inode: .max, birth: 12)
            wanted.device = "laptop"
            wanted.lastPull = now
            wanted.lastPush = now + 1
            wanted.lastError = Meta.TimedText(text: "no route", at: now + 2)
            wanted.connection = "unreachable"
            wanted.simulatedOffline = true
            wanted.serverSchema = 3
            wanted.serverTime = "2026-11-30T10:00:00+00:00"
            wanted.firstSyncDone = true
            wanted.guardSaid = now + 3
            wanted.accountChange = "to \(id(2))"
            try journal.commit { writer in try writer.updateMeta { $0 = wanted } }
            #expect(try journal.meta() == wanted)
            try journal.commit { writer in try writer.updateMeta { $0.lastError = nil } }
            wanted.lastError = nil
            #expect(try journal.meta() == wanted)
        }
    }

    @Test func `a small fact stays until it is taken away`() throws {
        try withJournal { journal in
            try journal.commit { try $0.put(fact: "", for: "shown") }
            #expect(try journal.fact("shown") == "")
            try journal.commit { try $0.put(fact: nil, for: "shown") }
            #expect(try journal.fact("shown") == nil)
        }
    }

    @Test func `a known task comes back whole, and bare`() throws {
        try withJournal { journal in
            let whole = KnownTask(
                id: id(1), place: "home/fe\u{301}nce", isMoved: true,
                identity: FileIdentity(inode: 1 << 63, birth: -5), cleanDigest: digest("a"), modified: 1 << 60,
                base: Base(values: values, unagreed: [.notes, .property("due")]),
                hasIDLine: true, beforeID: EarlierText(values: values, since: now),
                beforePull: EarlierText(values: [:], since: now + 1), frozen: "ignored")
            let bare = KnownTask(id: id(2), place: nil)
            try journal.commit { writer in
                try writer.put(whole)
                try writer.put(bare)
            }
            #expect(try journal.knownTasks() == [id(1): whole, id(2): bare])
            #expect(try journal.known([id(2), id(3)]) == [id(2): bare])
            try journal.commit { try $0.removeKnownTask(id(1)) }
            #expect(try journal.knownTasks() == [id(2): bare])
        }
    }

    @Test func `conflicts come back, one a task`() throws {
        try withJournal { journal in
            let first = ConflictRecord(id: id(1), fields: [.notes, .property("a b")], raised: values, since: now)
            let second = ConflictRecord(id: id(1), fields: [.title], raised: [:], shown: values, since: now + 1)
            try journal.commit { try $0.put(first) }
            #expect(try journal.conflicts() == [id(1): first])
            try journal.commit { try $0.put(second) }
            #expect(try journal.conflicts() == [id(1): second])
            try journal.commit { try $0.removeConflict(id(1)) }
            #expect(try journal.conflicts().isEmpty)
        }
    }

    @Test func `refusals come back, one a field and one for the whole change`() throws {
        try withJournal { journal in
            func refusal(_ field: Field?) -> RefusalRecord {
                RefusalRecord(
                    id: id(1), field: field, fingerprint: digest("a"), code: "23514", message: "too long", since: now)
            }
            try journal.commit { writer in
                for field in [nil, .title, .property("due")] as [Field?] { try writer.put(refusal(field)) }
            }
            #expect(Set(try journal.refusals()) == [refusal(nil), refusal(.title), refusal(.property("due"))])
            try journal.commit { try $0.removeRefusal(id(1), nil) }
            #expect(Set(try journal.refusals()) == [refusal(.title), refusal(.property("due"))])
            try journal.commit { try $0.removeRefusals(id(1)) }
            #expect(try journal.refusals().isEmpty)
        }
    }

    @Test func `what failed in passing comes back with its next try`() throws {
        try withJournal { journal in
            let later = LaterRecord(id: id(1), tries: 3, next: now, fingerprint: Digest(of: [1]), message: "time-out")
            try journal.commit { try $0.put(later) }
            #expect(try journal.later() == [id(1): later])
            try journal.commit { try $0.removeLater(id(1)) }
            #expect(try journal.later().isEmpty)
        }
    }

    @Test func `changes in flight come back in the order in which they were sent`() throws {
        try withJournal { journal in
            let records = [3, 1, 2].map { number in
                InFlightRecord(
                    changeID: id(number), id: id(9), place: number == 1 ? nil : "fence",
                    identity: FileIdentity(inode: 7, birth: 8), digest: number == 2 ? nil : digest("a"),
                    change: ["op": "upsert", "fields": ["title": "x"]], sent: now + Double(number / 3))
            }
            try journal.commit { writer in for record in records { try writer.put(record) } }
            #expect(try journal.inFlight() == [records[1], records[2], records[0]])
            try journal.commit { try $0.removeInFlight(changeID: id(1)) }
            #expect(try journal.inFlight() == [records[2], records[0]])
        }
    }

    @Test func `a notice is told until it was shown, for 30 days`() throws {
        try withJournal { journal in
            let first = Notice(time: now, path: "", text: "signed in")
            let second = Notice(time: now + 1, path: "tasks/fence.md", text: "moved", undo: "otask undo")
            try journal.commit { writer in for notice in [second, first, second] { try writer.put(notice) } }
            #expect(try journal.notices(at: now) == [first, second])
            try journal.commit { try $0.markShown([first]) }
            try journal.commit { try $0.put(first) }
            #expect(try journal.notices(at: now) == [second])
            #expect(try journal.notices(at: now + 31 * 86_400).isEmpty)
        }
    }

    @Test func `a former place comes back by its path`() throws {
        try withJournal { journal in
            let place = FormerPlace(place: "fence", id: id(1), since: now, values: values, wasEditedLately: true)
            try journal.commit { try $0.put(place) }
            #expect(try journal.formerPlaces() == ["fence": place])
            try journal.commit { try $0.removeFormerPlace("fence") }
            #expect(try journal.formerPlaces().isEmpty)
        }
    }

    @Test func `marks are kept apart by their kind`() throws {
        try withJournal { journal in
            try journal.commit { writer in
                for (number, mark) in Mark.allCases.enumerated() {
                    try writer.mark(id(number), mark, since: now + Double(number))
                }
            }
            for (number, mark) in Mark.allCases.enumerated() {
                #expect(try journal.marked(mark) == [id(number): now + Double(number)])
            }
            try journal.commit { try $0.unmark(id(0), .gone) }
            #expect(try journal.marked(.gone).isEmpty)
        }
    }

    @Test func `files kept here and recent deletions come back`() throws {
        try withJournal { journal in
            let old = DeletionCount(at: now, table: "tasks", count: 3)
            let new = DeletionCount(at: now + 10, table: "photos", count: 1)
            try journal.commit { writer in
                try writer.keepHere("fence", digest("a"))
                try writer.put(old)
                try writer.put(new)
                try writer.put(new)
            }
            #expect(try journal.keptHere() == ["fence": digest("a")])
            #expect(try journal.recentDeletions(since: now) == [old, new, new])
            #expect(try journal.recentDeletions(since: now + 1) == [new, new])
            try journal.commit { try $0.removeKeptHere("fence") }
            #expect(try journal.keptHere().isEmpty)
        }
    }

    @Test func `what is kept for a while goes when its time is over`() throws {
        try withJournal { journal in
            let text = EarlierText(values: values, since: now)
            try journal.commit { writer in
                try writer.put(
                    InFlightRecord(
                        changeID: id(1), id: id(2), place: nil, identity: nil, digest: nil, change: [:], sent: now))
                try writer.put(FormerPlace(place: "a", id: id(2), since: now, values: [:], wasEditedLately: false))
                try writer.put(KnownTask(id: id(2), place: "b", beforeID: text, beforePull: text))
                try writer.put(Notice(time: now, path: "a", text: "moved"))
                try writer.put(DeletionCount(at: now, table: "tasks", count: 1))
            }
            /// Deletions, in flight, former places, texts before an id, notices.
            func counts() throws -> [Int] {
                [
                    try journal.recentDeletions(since: now).count, try journal.inFlight().count,
                    try journal.formerPlaces().count,
                    try journal.knownTasks().values.filter { $0.beforeID != nil }.count,
                    try journal.notices(at: now).count,
                ]
            }
            let day = 86_400.0
            for (seconds, left) in [
                (3_600, [1, 1, 1, 1, 1]), (3_601, [0, 1, 1, 1, 1]), (day + 1, [0, 0, 0, 1, 1]),
                (7 * day + 1, [0, 0, 0, 0, 1]), (30 * day + 1, [0, 0, 0, 0, 0]),
            ] {
                try journal.commit { try $0.forgetExpired(at: now + seconds) }
                #expect(try counts() == left, "after \(seconds) s")
            }
            #expect(try journal.knownTasks()[id(2)]?.beforePull == text)
        }
    }
}
