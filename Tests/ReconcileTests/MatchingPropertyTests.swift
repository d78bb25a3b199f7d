import Model
import Testing

@testable import Reconcile

@Suite struct MatchingPropertyTests {
    private static let letters = Array("abcdef")
    private static let places: [Text] = ["a", "b", "c", "d/a", "d/b", "e"]

    private struct Situation {
        var files: [Sighting] = []
        var tasks: [KnownTask] = []
        var rows: [TaskRow] = []
        var former: [FormerPlace] = []
        var adjust: (inout MatchInput) -> Void = { _ in }
    }

    /// Files, tasks and rows that meet at few places, ids, inodes and texts, so that every rule meets every other.
    private func situation(_ random: inout SplitMix) -> Situation {
        var situation = Situation()
        let texts = ["one", "two", "three"]
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        for place in Self.places where chance(60) {
            let id = chance(60) ? Self.letters.randomElement(using: &random) : nil
            let inode = UInt64.random(in: 0...6, using: &random)
            situation.files.append(
                chance(15)
                    ? broken(place, id: id, inode: inode)
                    : file(place, texts.randomElement(using: &random)!, id: id, inode: inode))
        }
        for (letter, place) in zip(Self.letters.shuffled(using: &random), Self.places.shuffled(using: &random)) {
            if chance(60) {
                situation.tasks.append(
                    known(
                        letter, chance(90) ? place : nil, texts.randomElement(using: &random)!,
                        inode: UInt64.random(in: 0...6, using: &random), line: chance(60), beforeID: chance(30),
                        reserved: chance(15), frozen: chance(10) ? "why" : nil))
            }
            if chance(40) {
                situation.rows.append(
                    row(
                        letter, Self.places.randomElement(using: &random), "one",
                        deletedAt: chance(30) ? "2026-11-03" : nil))
            }
            if chance(20) { situation.former.append(former(letter, Self.places.randomElement(using: &random)!)) }
        }
        let unknown: [Text] = chance(20) ? ["d"] : []
        let ignored: Text? = chance(20) ? "b" : nil
        let hidden = chance(20)
        let gone = Set(Self.letters.filter { _ in chance(15) }.map(Ids.of))
        let elsewhere = Set(Self.letters.filter { _ in chance(10) }.map(Ids.of))
        let (firstSync, homeChanged, idsInFiles, former) = (chance(20), chance(15), chance(85), situation.former)
        situation.files.removeAll { $0.place == ignored || !unknown.isEmpty && $0.place.hasPrefix("d/") }
        situation.adjust = { input in
            input.former = former
            input.unknown = unknown
            input.notFollowed = { $0 == ignored ? "ignored" : nil }
            input.locate = { hidden ? Dictionary($0.map { ($0, "x.txt") }, uniquingKeysWith: { $1 }) : [:] }
            input.gone = gone
            input.takenElsewhere = elsewhere
            input.firstSync = firstSync
            input.homeChanged = homeChanged
            input.idsInFiles = idsInFiles
        }
        return situation
    }

    @Test func `every file and every known task is settled once, and the order of the input says nothing`() {
        for seed in UInt64(1)...5000 {
            var random = SplitMix(seed: seed)
            let now = situation(&random)
            let result = match(now.files, known: now.tasks, rows: now.rows, now.adjust)

            let files = result.items.map(\.place) + result.problems.map(\.place) + result.unmatched
            #expect(files.sorted() == now.files.map(\.place).sorted(), "seed \(seed)")

            let held = result.items.filter { $0.kind != .formerPlace }.map(\.id)
            #expect(Set(held).count == held.count, "seed \(seed)")
            let had = Set(now.tasks.filter { $0.place != nil || $0.frozen != nil }.map(\.id))
            let found = held.filter(had.contains)
            // A task that is missing may be named by a file that waits elsewhere with its id, too.
            let missing = result.gone + result.laidDownAgain + result.unknown + result.frozen.map(\.id)
            let waiting = Set(result.problems.compactMap(\.id)).intersection(had).subtracting(missing + found)
            #expect((found + missing + Array(waiting)).sorted() == had.sorted(), "seed \(seed)")

            for item in result.items where item.kind == .formerPlace {
                #expect(held.contains(item.id), "seed \(seed)")
            }
            #expect(
                match(now.files.reversed(), known: now.tasks.reversed(), rows: now.rows, now.adjust) == result,
                "seed \(seed)")
        }
    }

    @Test func `a second look at what was decided changes nothing`() {
        for seed in UInt64(1)...3000 {
            var random = SplitMix(seed: seed)
            let now = situation(&random)
            let first = match(now.files, known: now.tasks, rows: now.rows, now.adjust)
            // The journal as a run would leave it that only noted what is where.
            let noted = first.items.filter { $0.kind != .formerPlace && $0.kind != .deleted }.map { item in
                KnownTask(
                    id: item.id, place: item.place, identity: item.sighting.stamp.identity,
                    cleanDigest: item.sighting.digest, base: Base(values: [:]), hasIDLine: true)
            }
            let files = first.items.filter { $0.kind != .formerPlace && $0.kind != .deleted }.map { item in
                var seen = item.sighting
                if case .task(_, let content) = seen.reading { seen.reading = .task(id: item.id, content) }
                if case .problem = seen.reading { seen.reading = .problem(id: item.id) }
                return seen
            }
            let second = match(files, known: noted)
            #expect(second.items.allSatisfy { $0.kind == .same && $0.ground == .base }, "seed \(seed)")
            #expect(second.gone.isEmpty && second.problems.isEmpty && second.notices.isEmpty, "seed \(seed)")
        }
    }

    @Test func `twenty thousand files are matched in a moment`() {
        var random = SplitMix(seed: 1)
        var files: [Sighting] = []
        var tasks: [KnownTask] = []
        let content = Digest(of: "same".utf8)
        for number in 0..<20_000 {
            let id = ItemID(using: &random)
            let identity = FileIdentity(inode: UInt64(number), birth: 1)
            tasks.append(
                KnownTask(
                    id: id, place: Text("old/\(number)"), identity: identity, cleanDigest: content,
                    base: Base(values: [:]),
                    hasIDLine: number % 2 == 0))
            files.append(
                Sighting(
                    place: Text("new/\(number)"),
                    stamp: FileStamp(size: 1, modified: 0, changed: 0, inode: UInt64(number), birth: 1),
                    digest: content,
                    reading: .task(id: number % 2 == 0 ? id : nil, TaskContent(title: "t"))))
        }
        let result = match(files, known: tasks)
        #expect(result.items.count == 20_000)
        #expect(result.items.allSatisfy { if case .renamed = $0.kind { true } else { false } })
    }
}
