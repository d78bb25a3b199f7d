import Model
import Testing

@testable import Sync

/// sync.md, "Deletion guard", on two devices.
struct GuardScenarioTests {
    private func many(_ count: Int) async throws -> (world: World, a: Device, b: Device) {
        try await World.withTwo(
            Dictionary(uniqueKeysWithValues: (1...count).map { ("t\($0)", "# Task \($0)\n\nnotes \($0)\n") }))
    }

    @Test(arguments: [
        (40, 10, nil), (40, 11, 11), (44, 11, nil), (60, 15, nil), (60, 16, 16), (3, 3, 3), (3, 2, nil), (2, 2, nil),
        (12, 10, nil), (10, 10, 10),
    ])
    func `it acts when more than a quarter and more than ten would be gone, or all of three or more`(
        _ existing: Int, _ removed: Int, _ held: Int?
    ) async throws {
        let (_, a, b) = try await many(existing)
        for number in 1...removed { a.remove("t\(number)") }
        let report = try await a.sync()
        #expect(report.guarded?.count == held)
        #expect(report.sent.deleted == (held == nil ? removed : 0))
        #expect(try a.engine().status().waiting.map(\.state) == Array(repeating: .guarded, count: held ?? 0))
        if held != nil { try await a.sync { $0.allowDeletions = held } }
        try await settle(a, b)
        #expect(b.places.count == existing - removed)
    }

    @Test func `deletions of the last hour count, and later they don't`() async throws {
        let (world, a, b) = try await many(30)
        for number in 1...8 { a.remove("t\(number)") }
        #expect(try await a.sync().guarded == nil)
        for number in 9...16 { a.remove("t\(number)") }
        #expect(try await a.sync().guarded?.count == 8)
        world.clock.advance(3_700)
        #expect(try await a.sync().guarded == nil)
        #expect(try await b.sync().guarded?.count == 16)
        try await b.sync { $0.allowDeletions = 16 }
        try await settle(a, b)
        #expect(b.places.count == 14)
    }

    @Test func `deletions from elsewhere are guarded here, and allowed by number`() async throws {
        let (world, a, b) = try await many(14)
        let phone = try await RestClient(world)
        for number in 1...12 { try await phone.delete("Task \(number)".split(separator: " ").joined(separator: "%20")) }
        let report = try await a.sync()
        #expect(report.guarded == GuardedDeletions(count: 12, onServer: 0, here: 12, wentBackInTime: 0))
        #expect(a.places.count == 14)
        world.clock.advance(11)
        #expect(try await a.sync { $0.background = true }.guarded?.count == 12)
        try await a.sync { $0.allowDeletions = 12 }
        try await b.sync { $0.allowDeletions = 12 }
        try await settle(a, b)
        #expect(a.places.count == 2)
    }

    @Test func `deletions made by name don't count, then or in the hour after, here or elsewhere`() async throws {
        let (_, a, b) = try await many(14)
        try a.engine().delete(Array(a.engine().tasks().prefix(12)))
        let report = try await a.sync()
        #expect(report.guarded == nil)
        #expect(report.sent.deleted == 12)
        #expect(try await b.sync().guarded == nil)
        #expect(b.places.count == 2)
        a.remove(a.places[0])
        #expect(try await a.sync().guarded == nil)
        try await settle(a, b)
    }

    @Test func `new and edited items go through, nothing is deleted`() async throws {
        let (_, a, b) = try await many(12)
        for number in 1...11 { a.remove("t\(number)") }
        a.replace("t12", "notes 12", "edited")
        a.write("new", "# New\n")
        let report = try await a.sync()
        #expect(report.guarded?.count == 11)
        #expect(report.sent.tasks == 2)
        try await b.sync()
        #expect(b.places.count == 13)
        try await a.sync { $0.allowDeletions = 11 }
        try await settle(a, b)
        #expect(b.places == ["new", "t12"])
    }

    @Test func `background runs never go past the guard`() async throws {
        let (world, a, b) = try await many(12)
        for number in 1...12 { a.remove("t\(number)") }
        for _ in 1...3 {
            world.clock.advance(11)
            let report = try await a.sync { $0.background = true }
            #expect(report.sent.deleted == 0)
        }
        try await b.sync()
        #expect(b.places.count == 12)
    }

    @Test func `discard puts guarded deletions back`() async throws {
        let (_, a, b) = try await many(12)
        let before = try a.contents()
        for number in 1...12 { a.remove("t\(number)") }
        let paths = try await a.sync().waiting.map(\.path)
        #expect(paths.count == 12)
        _ = try a.engine().discard(paths)
        #expect(try a.contents() == before)
        #expect(try await a.sync().guarded == nil)
        try await settle(a, b)
        #expect(b.places.count == 12)
    }

    @Test func `a mass rename is no deletion`() async throws {
        let (_, a, b) = try await many(20)
        for number in 1...20 { a.move("t\(number)", "archive/old-\(number)") }
        let report = try await a.sync()
        #expect(report.guarded == nil)
        #expect(report.sent.deleted == 0)
        try await settle(a, b)
        #expect(b.places.count == 20)
        #expect(b.places.allSatisfy { $0.hasPrefix("archive/") })
    }

    @Test func `more than ten files that went back in time are held, with their number`() async throws {
        let (world, a, b) = try await many(12)
        for number in 1...12 { a.replace("t\(number)", "notes", "better notes") }
        let old = try (1...12).map { try #require(b.read("t\($0)")) }
        let oldTime = Timestamp.past
        try await settle(a, b)
        // A backup of the files is copied back, times and all.
        for (index, text) in old.enumerated() {
            a.write("t\(index + 1)", text)
            Shell.setTime(a.path("t\(index + 1)"), oldTime)
        }
        let report = try await a.sync()
        #expect(report.guarded?.wentBackInTime == 12)
        #expect(report.guarded?.count == 12)
        #expect(report.sent == Tally())
        world.clock.advance(11)
        #expect(try await a.sync { $0.background = true }.sent == Tally())
        let paths = try a.engine().status().waiting.map(\.path)
        #expect(paths.count == 12)
        _ = try a.engine().discard(paths)
        try await settle(a, b)
        #expect(try b.contents()["t1"]?.notes == "better notes 1")
    }

    @Test func `files that went back in time go out when their number is allowed`() async throws {
        let (_, a, b) = try await many(12)
        for number in 1...12 { a.replace("t\(number)", "notes", "better notes") }
        let old = try (1...12).map { try #require(b.read("t\($0)")) }
        try await settle(a, b)
        for (index, text) in old.enumerated() {
            a.write("t\(index + 1)", text)
            Shell.setTime(a.path("t\(index + 1)"), Timestamp.past)
        }
        #expect(try await a.sync { $0.allowDeletions = 12 }.sent.tasks == 12)
        try await settle(a, b)
        #expect(try b.contents()["t1"]?.notes == "notes 1")
    }

    @Test func `a guarded deletion that was taken back by hand is no longer held`() async throws {
        let (_, a, b) = try await many(12)
        let texts = (1...12).map { a.read("t\($0)")! }
        for number in 1...12 { a.remove("t\(number)") }
        #expect(try await a.sync().guarded?.count == 12)
        for (index, text) in texts.enumerated() { a.write("t\(index + 1)", text) }
        #expect(try await a.sync().guarded == nil)
        try await settle(a, b)
        #expect(b.places.count == 12)
    }
}

extension Timestamp {
    /// A day long gone, in seconds since 1970.
    fileprivate static let past = 1_600_000_000
}
