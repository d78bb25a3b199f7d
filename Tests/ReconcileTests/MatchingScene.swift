import Model

@testable import Reconcile

/// Ids by one letter: `A` is aaaaaaaa-….
enum Ids {
    static func of(_ letter: Character) -> ItemID {
        let digit = String("abcdef0123456789".contains(letter.lowercased()) ? letter.lowercased() : "0")
        func run(_ count: Int) -> String { String(repeating: digit, count: count) }
        return ItemID("\(run(8))-\(run(4))-4\(run(3))-8\(run(3))-\(run(12))")!
    }

    static func new(_ number: Int) -> ItemID {
        ItemID("11111111-0000-4000-8000-" + String(String(1_000_000_000_000 + number).suffix(12)))!
    }
}

func digest(_ text: String, _ id: ItemID?) -> Digest { Digest(of: "\(id?.description ?? "-")\n\(text)".utf8) }

/// A file that says `text`. Birth is the inode's number unless given; inode 0 has none.
func file(_ place: Text, _ text: String, id: Character? = nil, inode: UInt64 = 0, birth: Int64? = nil) -> Sighting {
    let id = id.map(Ids.of)
    return Sighting(
        place: place, stamp: stamp(inode, birth), digest: digest(text, id),
        reading: .task(id: id, TaskContent(title: Text(text))))
}

/// The known file of a task, unchanged and so not parsed.
func clean(_ place: Text, _ text: String, id: Character? = nil, inode: UInt64 = 0) -> Sighting {
    Sighting(place: place, stamp: stamp(inode, nil), digest: digest(text, id.map(Ids.of)), reading: .clean)
}

func broken(_ place: Text, id: Character? = nil, inode: UInt64 = 0) -> Sighting {
    Sighting(
        place: place, stamp: stamp(inode, nil), digest: digest("broken \(place)", nil),
        reading: .problem(id: id.map(Ids.of)))
}

private func stamp(_ inode: UInt64, _ birth: Int64?) -> FileStamp {
    FileStamp(size: 1, modified: 0, changed: 0, inode: inode, birth: inode == 0 ? nil : birth ?? Int64(inode))
}

/// A task of the journal, whose file says `text`, with its id line if `line`.
func known(
    _ letter: Character, _ place: Text?, _ text: String, inode: UInt64 = 0, line: Bool = true, beforeID: Bool = false,
    reserved: Bool = false, frozen: Text? = nil
) -> KnownTask {
    let id = Ids.of(letter)
    let values = TaskContent(title: Text(text)).fields
    return KnownTask(
        id: id, place: place, identity: inode == 0 ? nil : FileIdentity(inode: inode, birth: Int64(inode)),
        cleanDigest: reserved ? nil : digest(text, line ? id : nil), base: reserved ? nil : Base(values: values),
        hasIDLine: line, beforeID: beforeID ? EarlierText(values: values, since: Instant(seconds: 0)) : nil,
        frozen: frozen)
}

func row(_ letter: Character, _ path: Text? = nil, _ text: String, deletedAt: Text? = nil) -> TaskRow {
    TaskRow(
        id: Ids.of(letter), userID: Ids.new(0), content: TaskContent(title: Text(text)), path: path,
        createdAt: "2026-11-30T10:00:00+00:00", updatedAt: "2026-11-30T10:00:00+00:00", deletedAt: deletedAt,
        version: 1,
        changeSeq: 1)
}

func former(_ letter: Character, _ place: Text) -> FormerPlace {
    FormerPlace(place: place, id: Ids.of(letter), since: Instant(seconds: 0), values: [:], wasEditedLately: true)
}

/// Matches `files` with tasks of the journal and rows of the server; live rows want their `path`.
func match(
    _ files: [Sighting], known: [KnownTask] = [], rows: [TaskRow] = [], _ adjust: (inout MatchInput) -> Void = { _ in }
) -> Matching {
    let remote = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    let wanted = rows.filter { $0.deletedAt == nil }.compactMap { row in row.path.map { (row.id, $0) } }
    var count = 0
    var input = MatchInput(
        sightings: files, known: Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) }), remote: { remote[$0] },
        wanted: Dictionary(uniqueKeysWithValues: wanted),
        newID: {
            count += 1
            return Ids.new(count)
        })
    adjust(&input)
    return Matching(input)
}

extension Matching {
    /// One line a file or task, to compare with: `b is A, renamed from a`, `A is gone`.
    var picture: [String] {
        var lines = items.map { "\($0.place) is \(name($0.id)), \($0.kind.words)\($0.ground.words)" }
        lines += problems.map { "\($0.place) waits" + ($0.id.map { " as \(name($0))" } ?? "") }
        lines += unmatched.map { "\($0) is no task yet" }
        lines += gone.map { "\(name($0)) is gone" }
        lines += laidDownAgain.map { "\(name($0)) is laid down again" }
        lines += unknown.map { "\(name($0)) is unknown" }
        lines += frozen.map { "\(name($0.id)) is frozen, place \($0.place ?? "none")" }
        return lines.sorted()
    }
}

private func name(_ id: ItemID) -> String {
    let text = id.description
    return text.hasPrefix("11111111-") ? "new\(Int(text.suffix(12))!)" : text.prefix(1).uppercased()
}

extension MatchKind {
    fileprivate var words: String {
        switch self {
        case .same: "the same"
        case .renamed(let from): "renamed from \(from)"
        case .returned: "returned"
        case .copiedOver(let id): "copied over with \(name(id))"
        case .older: "older"
        case .formerPlace: "at its former place"
        case .adopted: "adopted"
        case .contested: "contested"
        case .wantedBack: "wanted back"
        case .new: "new"
        case .copy(let id): "a copy of \(name(id))"
        case .fromElsewhere: "from elsewhere"
        case .deleted: "deleted"
        }
    }
}

extension MergeGround {
    fileprivate var words: String {
        switch self {
        case .base: ""
        case .beforeID: ", against the text before its id"
        case .former: ", against its former text"
        case .none: ", without a base"
        }
    }
}
