import Journal
import Model
import Testing
import Workspace

@testable import Sync

/// Something that is stopped after each of its effects: a request, its answer, a change on the disk, a commit of the journal.
struct CrashScenario: Sendable, CustomTestStringConvertible {
    typealias Step = @Sendable (Device) async throws -> Void

    let name: String
    /// What the device has, and has synced, before.
    var files: [String: String] = [:]
    var settings: [String: Text] = [:]
    /// Somebody deletes: a missing file may be told as that.
    var deletes = false
    /// A command that was stopped early has done nothing, and isn't given again.
    var mayNotHappen = false
    /// The problems and conflicts that are there at the end.
    var endsWith: [String] = []
    /// What happened since, here and elsewhere.
    var arrange: Step = { _ in }
    /// What is stopped.
    var act: Step = { try await $0.sync() }
    /// What a person does after it; a sync follows.
    var again: Step?

    var testDescription: String { name }
}

/// What both sides have at the end, whatever the ids.
struct CrashOutcome: Equatable, CustomStringConvertible {
    var files: [String: TaskContent]

    var description: String {
        files.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.title) / \($0.value.notes) / \($0.value.done)" }
            .joined(separator: "; ")
    }
}

extension CrashScenario {
    /// Plays it without a stop: how many effects there are, how it ends, and what was written before.
    func play() async throws -> (effects: Int, outcome: CrashOutcome, written: Set<String>) {
        let device = try await begin()
        let written = try await marks(device)
        let before = device.effectsSeen.withLock { $0 }
        device.meanwhile { try device.expectRecorded(before: $0) }
        try await act(device)
        device.meanwhile(nil)
        let effects = device.effectsSeen.withLock { $0 } - before
        return (effects, try await end(device, ""), written)
    }

    /// Stops it after so many effects, and what tidies up after it likewise, if `andAgain` says so.
    func play(
        stoppedAfter effects: Int, andAgain second: Int? = nil, keeping written: Set<String>
    ) async throws -> CrashOutcome {
        let point = "\(name), stopped after \(effects)" + (second.map { " and again after \($0)" } ?? "")
        let device = try await begin()
        try await stop(device, after: effects) { try await act($0) }
        try await expectKept(written, device, point)
        if let second {
            try await stop(device, after: second) { try await $0.sync() }
            try await expectKept(written, device, point)
        }
        return try await end(device, point)
    }

    private func begin() async throws -> Device {
        let world = try World(seed: 7)
        let device = try await world.device("a", settings: settings)
        for (place, text) in files { device.write(place, text) }
        if !files.isEmpty {
            for place in Pair.others { device.write(place, "# Task \(place)\n") }
            try await device.sync()
        }
        try await arrange(device)
        return device
    }

    private func stop(_ device: Device, after effects: Int, _ body: Step) async throws {
        device.crash(after: effects)
        do {
            try await body(device)
        } catch {
            // The process is no more, whatever it would have said.
            guard device.isCrashed else { throw error }
        }
        device.crash(after: nil)
    }

    /// At the moment of the stop: what was written is here or on the server, and readers see no deletion that nobody made.
    private func expectKept(_ written: Set<String>, _ device: Device, _ point: String) async throws {
        let kept = try await marks(device)
        #expect(written.subtracting(kept) == [], "\(point): lost")
        let status = try device.engine().status()
        if !deletes { #expect(status.waiting.filter { $0.change == .deleted } == [], "\(point)") }
    }

    private func end(_ device: Device, _ point: String) async throws -> CrashOutcome {
        if !point.isEmpty { try await again?(device) }
        let report = try await device.sync()
        #expect(report.failure == nil, "\(point)")
        if let guarded = report.guarded { try await device.sync { $0.allowDeletions = guarded.count } }
        let quiet = try await device.sync()
        #expect(quiet.requests == 1, "\(point)")
        #expect(quiet.sent == Tally(), "\(point)")
        #expect(quiet.received == Tally(), "\(point)")
        #expect(quiet.failure == nil, "\(point)")
        #expect(quiet.waiting == [], "\(point)")
        #expect(quiet.guarded == nil, "\(point)")
        #expect(
            Set(quiet.problems.map(\.path.string) + quiet.conflicts.map(\.path.string)) == Set(endsWith), "\(point)")
        #expect(device.leftovers == [], "\(point)")
        #expect(try device.records() == 0, "\(point): records are left")
        let (files, rows) = (try device.readable(), try await device.rows())
        if endsWith.isEmpty {
            #expect(rows.count == files.count, "\(point)")
            #expect(Set(rows.map(\.content)) == Set(files.values), "\(point)")
        }
        return CrashOutcome(files: Dictionary(files.map { (Self.plain($0.key), $0.value) }, uniquingKeysWith: { $1 }))
    }

    /// A place without the four characters of an id.
    private static func plain(_ place: String) -> String {
        guard let end = place.lastIndex(of: "-"), place.distance(from: end, to: place.endIndex) == 5,
            place[end...].dropFirst().allSatisfy(\.isHexDigit)
        else { return place }
        return place[..<end] + "-id"
    }

    /// All words like `w12` in the workspace, what was set aside too, and on the server.
    private func marks(_ device: Device) async throws -> Set<String> {
        var texts = try device.texts()
        texts += try await device.rows().map { "\($0.content.title) \($0.content.notes)" }
        let words = texts.flatMap { $0.split { !$0.isLetter && !$0.isNumber } }.map(String.init)
        return Set(words.filter { $0.hasPrefix("w") && $0.dropFirst().allSatisfy(\.isNumber) && $0.count > 1 })
    }
}

extension Device {
    /// History first: what a file holds that is about to be overwritten, moved or removed is in the history, but for what
    /// otask itself has just written.
    func expectRecorded(before effect: Effect) throws {
        let path: Text
        switch effect {
        case .exchange(let target), .remove(let target): path = target
        case .move(let from, _): path = from
        default: return
        }
        guard path.hasPrefix("tasks/"), !path.lastComponent.hasPrefix(".otask"),
            let bytes = Shell.read(root + "/" + path.string)
        else { return }
        let journal = try Journal.openReadOnly(path: Text(root + "/.otask/journal.sqlite"))
        let text = String(decoding: bytes, as: UTF8.self)
        // What otask wrote has the digest that it noted.
        let written = try journal.cachedFiles()[Text(String(path.string.dropFirst(6)))]?.digest
        let isOwn =
            try written == Digest(of: bytes)
            && journal.unrecorded().contains { $0.path == path && $0.origin == .own }
        #expect(try isOwn || recorded().contains(text), "\(effect): \(text)")
    }

    /// The live rows of the server.
    func rows() async throws -> [TaskRow] {
        let page = try await engine().surroundings.connect(nil).service.pullChanges(since: 0, maxRows: 1000)
        return try page.rows.filter { $0.table == "tasks" }.map { try TaskRow(json: $0.json) }
            .filter { $0.deletedAt == nil }
    }

    /// What the journal has of things under way.
    func records() throws -> Int {
        let journal = try #require(try engine().view().journal)
        return try journal.pendingWrites().count + journal.moves().count
    }
}
