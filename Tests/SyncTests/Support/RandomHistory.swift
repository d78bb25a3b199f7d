import Libraries
import LocalSupabase
import Model
import Reconcile
import Supabase
import Workspace

@testable import Sync

/// A random life of two devices, a phone and a server, replayable by its seed.
///
/// Every sentence that somebody writes bears a mark of its own, so that at the end it can be told whether one was lost
/// that nobody removed, or stands twice though nobody copied it.
final class RandomHistory {
    let seed: UInt64
    var random: SeededGenerator
    let world: World
    var devices: [Device] = []
    var phone: Phone
    /// How many files looks have passed over.
    private(set) var passedOver = 0
    /// What was done, for the report of a failure.
    var story: [String] = []
    private var sentences = 0
    private var fixed = 0
    /// Marks that a person took away, or chose against.
    var removed: Set<String> = []
    /// Marks that a person copied.
    var copied: Set<String> = []
    /// Texts that editors still have open: device, place, text.
    private var buffers: [(device: Int, place: String, text: String)] = []

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        world = try World(seed: seed)
        phone = try await Phone(world)
        devices = [try await world.device("a"), try await world.device("b")]
    }

    func play(steps: Int) async throws {
        for _ in 0..<steps { try await step() }
    }

    // MARK: Steps

    private func step() async throws {
        // What was written more than two seconds before it was looked at needs no second look.
        if Bool.random(using: &random) { world.clock.advance(2.5) }
        try await act()
        for device in devices {
            if let difference = try device.lookDifference({ passedOver += $0 }) { throw HistoryFailure(difference) }
        }
    }

    private func act() async throws {
        let index = Int.random(in: 0...1, using: &random)
        let device = devices[index]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: create(device)
        case 14..<40: edit(device, index)
        case 40..<46: rename(device)
        case 46..<49: copy(device)
        case 49..<54: remove(device)
        case 54..<57: swap(device)
        case 57..<61: stripID(device)
        case 61..<66: saveStale()
        case 66..<74: try await phoneStep()
        case 74..<79: try await resolve(device)
        default: try await sync(device)
        }
    }

    private func say(_ text: String) { story.append(text) }

    private func sentence() -> String {
        sentences += 1
        return "S\(sentences)E"
    }

    private func pick(_ device: Device) -> String? { device.places.randomElement(using: &random) }

    private func name() -> String {
        let names = ["one", "two", "three", "four", "five", "home/six", "home/seven", "Two", "tasks"]
        return names.randomElement(using: &random)!
    }

    private func create(_ device: Device) {
        let place = name()
        guard !Shell.exists(device.path(place)),
            !device.places.contains(where: { $0.lowercased() == place.lowercased() })
        else { return }
        let title = sentence()
        let notes = sentence()
        switch Int.random(in: 0...3, using: &random) {
        case 0: device.write(place, "# \(title)\n\n\(notes)\n")
        case 1: device.write(place, "---\ntags: [a]\n---\n\(notes)\n")
        case 2: device.write(place, "---\ntitle: \(title)\ndone: no\n---\n\(notes)\n\nend")
        default: device.saveByRename(place, "---\nid: \(ItemID(using: &random))\n---\n# \(title)\r\n\r\n\(notes)\r\n")
        }
        say("\(device.name): new \(place): \(device.read(place)?.debugDescription ?? "")")
    }

    private func edit(_ device: Device, _ index: Int) {
        guard let place = pick(device), let text = device.read(place), !text.isEmpty else { return }
        if Int.random(in: 0...5, using: &random) == 0 { buffers.append((index, place, text)) }
        var lines = text.components(separatedBy: "\n")
        let fresh = sentence()
        switch Int.random(in: 0...6, using: &random) {
        case 0:
            guard let heading = lines.firstIndex(where: { $0.hasPrefix("# ") }) else { return }
            removed.formUnion(Self.marks(in: lines[heading]))
            lines[heading] = "# " + fresh
        case 1:
            lines.append(fresh)
        case 2:
            guard let end = lines.dropFirst().firstIndex(of: "---") else { return }
            lines.insert("k\(Int.random(in: 0...2, using: &random)): \(fresh)", at: end)
            if lines[..<end].contains(where: { $0.hasPrefix(String(lines[end].prefix(3))) }) { return }
        case 3:
            guard let end = lines.dropFirst().firstIndex(of: "---"),
                let key = lines[1..<end].firstIndex(where: { $0.hasPrefix("k") })
            else { return }
            removed.formUnion(Self.marks(in: lines[key]))
            lines.remove(at: key)
        case 4:
            guard let end = lines.dropFirst().firstIndex(of: "---"),
                !lines[..<end].contains(where: { $0.hasPrefix("done:") })
            else { return }
            lines.insert("done: yes", at: end)
        default:
            let start = (lines.dropFirst().firstIndex(of: "---") ?? -1) + 1
            guard let body = lines[start...].firstIndex(where: { !$0.hasPrefix("#") && !$0.isEmpty }) else { return }
            lines.insert(contentsOf: [fresh, ""], at: body)
        }
        let edited = lines.joined(separator: "\n")
        if Bool.random(using: &random) { device.write(place, edited) } else { device.saveByRename(place, edited) }
        say("\(device.name): edit \(place): \(edited.debugDescription)")
    }

    private func rename(_ device: Device) {
        guard let place = pick(device) else { return }
        let to = name()
        guard !device.places.contains(where: { $0.lowercased() == to.lowercased() }) else { return }
        copied.formUnion(unidentified(device, place))
        device.move(place, to)
        say("\(device.name): mv \(place) \(to)")
    }

    /// The marks of a file without an id: edited by a save under a new inode and moved, nothing tells which task it was.
    private func unidentified(_ device: Device, _ place: String) -> Set<String> {
        guard let text = device.read(place), !text.contains("id: ") else { return [] }
        return Self.marks(in: text)
    }

    private func copy(_ device: Device) {
        guard let place = pick(device), let text = device.read(place) else { return }
        let to = name()
        guard !device.places.contains(where: { $0.lowercased() == to.lowercased() }) else { return }
        device.copy(place, to)
        copied.formUnion(Self.marks(in: text))
        say("\(device.name): cp \(place) \(to)")
    }

    private func remove(_ device: Device) {
        guard let place = pick(device), let text = device.read(place) else { return }
        removed.formUnion(Self.marks(in: text))
        device.remove(place)
        say("\(device.name): rm \(place)")
    }

    private func swap(_ device: Device) {
        let places = device.places.shuffled(using: &random)
        guard places.count >= 2 else { return }
        for place in places.prefix(2) { copied.formUnion(unidentified(device, place)) }
        device.move(places[0], "swap-in-between")
        device.move(places[1], places[0])
        device.move("swap-in-between", places[1])
        say("\(device.name): swap \(places[0]) \(places[1])")
    }

    private func stripID(_ device: Device) {
        guard let place = pick(device), let text = device.read(place) else { return }
        let lines = text.components(separatedBy: "\n").filter { !$0.hasPrefix("id: ") }
        // Moved before and saved as a new file, nothing tells which task it was: it is a new one.
        copied.formUnion(Self.marks(in: text))
        device.saveByRename(place, lines.joined(separator: "\n"))
        say("\(device.name): save \(place) without its id")
    }

    /// An editor that had an older text open saves it, with a sentence more.
    private func saveStale() {
        guard let buffer = buffers.popLast() else { return }
        let device = devices[buffer.device]
        guard let now = device.read(buffer.place) else { return }
        let fresh = sentence()
        let text = buffer.text + (buffer.text.hasSuffix("\n") ? "" : "\n") + fresh + "\n"
        // What came meanwhile and isn't in the buffer may be what the person wanted gone.
        removed.formUnion(Self.marks(in: now).subtracting(Self.marks(in: text)))
        copied.formUnion(Self.marks(in: buffer.text))
        device.write(buffer.place, text)
        say("\(device.name): stale save of \(buffer.place) with \(fresh): \(text.debugDescription)")
    }

    private func phoneStep() async throws {
        let rows = try await phone.tasks()
        guard let row = rows.randomElement(using: &random), Int.random(in: 0...3, using: &random) > 0 else {
            let title = sentence()
            try await phone.insert(title: title, notes: sentence())
            return say("phone: new \(title)")
        }
        switch Int.random(in: 0...4, using: &random) {
        case 0:
            removed.formUnion(Self.marks(in: row.content.title.string))
            let title = sentence()
            try await phone.patch(row.id, ["title": .string(Text(title))])
            say("phone: title of \(row.id) \(title)")
        case 1, 2:
            let notes = row.content.notes.string + "\n\n" + sentence()
            try await phone.patch(row.id, ["notes": .string(Text(notes))])
            say("phone: notes of \(row.id) \(notes.debugDescription)")
        case 3:
            try await phone.patch(row.id, ["done": true])
            say("phone: done \(row.id)")
        default:
            removed.formUnion(Self.marks(in: Self.text(row.content)))
            try await phone.delete(row.id)
            say("phone: delete \(row.id)")
        }
    }

    private func resolve(_ device: Device) async throws {
        guard let conflict = try device.engine().status().conflicts.randomElement(using: &random) else { return }
        try resolve(conflict, device, mine: Bool.random(using: &random))
    }

    private func resolve(_ conflict: ConflictItem, _ device: Device, mine: Bool) throws {
        let sides = try device.engine().sides(of: conflict.id).filter { conflict.fields.contains($0.field) }
        for side in sides {
            let (kept, given) = mine ? (side.mine, side.theirs) : (side.theirs, side.mine)
            removed.formUnion(Self.marks(in: given).subtracting(Self.marks(in: kept)))
        }
        try device.engine().resolve(conflict.id, mine ? .mine : .theirs)
        say("\(device.name): resolve \(conflict.path) \(mine ? "mine" : "theirs")")
    }

    private func sync(_ device: Device) async throws {
        let verb: Verb = [.sync, .sync, .sync, .push, .pull].randomElement(using: &random)!
        var trouble = ""
        switch Int.random(in: 0...9, using: &random) {
        case 0, 1:
            let skipping = Int.random(in: 0...2, using: &random)
            trouble = " answer lost before, after \(skipping)"
            await world.server.addFault(.dropBefore, skipping: skipping, times: 10)
        case 2, 3:
            let skipping = Int.random(in: 0...2, using: &random)
            trouble = " answer lost after it applied, after \(skipping)"
            await world.server.addFault(.dropAfter, skipping: skipping, times: 10)
        case 4, 5, 6:
            let effects = Int.random(in: 0...40, using: &random)
            trouble = " stopped after \(effects) effects"
            device.crash(after: effects)
        default: break
        }
        do {
            let report = try await device.run(verb)
            say("\(device.name): \(verb)\(trouble) \(report.failure?.text.string ?? "")")
        } catch {
            guard device.isCrashed else { throw error }
            say("\(device.name): \(verb)\(trouble)")
        }
        device.crash(after: nil)
        await world.server.removeFaults()
    }

    // MARK: The end

    /// Brings both devices together for good, ending conflicts as they come.
    func settle() async throws {
        // Places that were kept free for an editor's old name are given out after an hour.
        for _ in 0..<12 {
            var moved = false
            world.clock.advance(3_700)
            for device in devices {
                let report = try await device.sync()
                say("\(device.name): sync, sent \(report.sent) received \(report.received)")
                if let failure = report.failure { throw HistoryFailure("a quiet sync failed: \(failure.text)") }
                if let guarded = report.guarded {
                    try await device.sync { $0.allowDeletions = guarded.count }
                    moved = true
                }
                for problem in report.problems {
                    // A file whose id was changed waits for a person, who gives it a name of its own.
                    let place = String(problem.path.string.dropFirst("tasks/".count).dropLast(3))
                    guard Shell.exists(device.path(place)) else { continue }
                    fixed += 1
                    device.move(place, "fixed-\(fixed)")
                    say("\(device.name): mv \(place) fixed-\(fixed), for: \(problem.problem)")
                    moved = true
                }
                for conflict in report.conflicts {
                    try resolve(conflict, device, mine: true)
                    moved = true
                }
                if report.sent != Tally() || report.received != Tally() { moved = true }
            }
            if !moved { return }
        }
        throw HistoryFailure("the devices don't come to rest")
    }

    static func marks(in text: String) -> Set<String> {
        Set(
            text.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter {
                $0.hasPrefix("S") && $0.hasSuffix("E") && $0.dropFirst().dropLast().allSatisfy(\.isNumber)
                    && $0.count > 2
            })
    }

    static func marks(in value: JSON?) -> Set<String> {
        marks(in: value?.serializedText.string.replacing("\\n", with: " ") ?? "")
    }

    static func text(_ content: TaskContent) -> String {
        ([content.title.string, content.notes.string]
            + content.properties.map { "\($0.key) \($0.value.serializedText)" })
            .joined(separator: "\n")
    }

    /// Throws what is wrong.
    func check() async throws {
        phone = try await Phone(world)
        for device in devices {
            // The first one may have to refresh its session.
            try await device.sync()
            let report = try await device.sync()
            guard report.requests == 1, report.sent == Tally(), report.received == Tally(), report.waiting.isEmpty
            else {
                throw HistoryFailure("another sync of \(device.name) did something: \(report.plan) \(report.waiting)")
            }
        }
        for device in devices
        where Shell.files(below: device.root + "/tasks").contains(where: { $0.contains(".otask-tmp-") }) {
            throw HistoryFailure("temporary files stay on \(device.name)")
        }
        let a = try devices[0].contents()
        let b = try devices[1].contents()
        guard a == b else { throw HistoryFailure("the devices differ: \(a) \(b)\n\(devices.map { $0.picture() })") }
        let rows = try await phone.tasks()
        var ofServer: [String: TaskContent] = [:]
        for row in rows { ofServer[Self.text(row.content)] = row.content }
        guard rows.count == a.count, Set(rows.map(\.content)) == Set(a.values) else {
            throw HistoryFailure("the server differs: \(rows.map(\.content)) \(a)")
        }
        var seen: [String: Int] = [:]
        for content in a.values { for mark in Self.marks(in: Self.text(content)) { seen[mark, default: 0] += 1 } }
        for number in 1...max(1, sentences) where sentences > 0 {
            let mark = "S\(number)E"
            let written = story.contains { $0.contains(mark) }
            if written, seen[mark] == nil, !removed.contains(mark) { throw HistoryFailure("\(mark) was lost") }
            if seen[mark] ?? 0 > 1, !copied.contains(mark) { throw HistoryFailure("\(mark) stands twice") }
        }
    }
}

struct HistoryFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// An app that knows nothing of `otask` and writes rows.
struct Phone {
    let world: World
    let token: Text

    init(_ world: World) async throws {
        self.world = world
        let server = world.server
        let transport = HandlerTransport { try await server.handle($0) }
        let auth = Auth(project: world.project, transport: transport, timing: Timing(now: world.clock.now))
        token = try await auth.signIn(email: Text(server.demo.email), password: Text(server.demo.password)).accessToken
    }

    @discardableResult
    func send(_ method: String, _ target: String, _ body: JSON? = nil) async throws -> HTTPResponse {
        let response = try await world.server.handle(
            HTTPRequest(
                method: method, target: "/rest/v1" + target,
                headers: [
                    "apikey": world.server.publishableKey, "authorization": "Bearer \(token)",
                    "content-type": "application/json", "prefer": "return=representation",
                ], body: body?.serialized ?? []))
        guard response.status < 300 else {
            throw HistoryFailure("phone: \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return response
    }

    func tasks() async throws -> [TaskRow] {
        let rows = try JSON(parsing: try await send("GET", "/tasks?order=created_at,id").body).array ?? []
        return try rows.map { try TaskRow(json: $0) }
    }

    func insert(title: String, notes: String) async throws {
        try await send("POST", "/tasks", ["title": .string(Text(title)), "notes": .string(Text(notes))])
    }

    func patch(_ id: ItemID, _ values: JSON) async throws { try await send("PATCH", "/tasks?id=eq.\(id)", values) }
    func delete(_ id: ItemID) async throws { try await send("DELETE", "/tasks?id=eq.\(id)") }
}

extension String {
    func components(separatedBy separator: Character) -> [String] {
        unicodeScalars.split(separator: separator.unicodeScalars.first!, omittingEmptySubsequences: false).map {
            String($0)
        }
    }
}
