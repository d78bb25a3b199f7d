import Model

@testable import Workspace

/// SplitMix64: the same seed gives the same texts on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
    mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &self)! }
}

/// Makes contents and files out of the pieces that break Markdown and YAML.
struct TaskFileGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let pieces = [
        "#", "# ", " #", "##", " ", "  ", "a", "b", "Milk", "é", "e\u{301}", "日本", "👩‍👩‍👧", "\t", "-", "- ", "--", "---",
        "...", ":",
        ": ", " :", "'", "\"", "\\", "\\#", "*", "**x**", "`", "[", "]", "[a]: /b", "{", "}", ",", "&a", "*a", "!",
        "!!int ", "%",
        "@", "|", ">", "> ", "=", "===", "?", "? ", "~", "null", "true", "false", "yes", "1", "1.50", "007", "-0",
        "1e5", "0x1F",
        "2024-01-01", "12:30", "<<", "<div>", "<!--", "\u{1}", "\u{B}", "\u{C}", "\u{7F}", "\u{85}", "\u{A0}",
        "\u{2028}", "\u{FEFF}", "\u{FFFE}",
        "\u{FFFF}", "\u{E000}", "\u{10FFFF}", "1. ", "+ ", "~~~", "    ",
    ]

    mutating func text(_ counts: ClosedRange<Int>, extra: [String] = []) -> String {
        let pieces = TaskFileGenerator.pieces + extra
        return (0..<Int.random(in: counts, using: &random)).map { _ in random.pick(pieces) }.joined()
    }

    mutating func title() -> Text {
        while true {
            let text = Text(random.chance(2) ? String(repeating: text(1...5), count: 30) : text(1...6))
            // What the server takes: 1 to 500 characters, one line, trimmed of blanks, tabs and line ends.
            let trimmed = Text(utf8: text.bytes.trimming([0x20, 0x09, 0x0A, 0x0D]))!
            if !trimmed.isEmpty, trimmed.string.unicodeScalars.count <= 500 { return trimmed }
        }
    }

    mutating func notes() -> Text {
        let lines = (0..<Int.random(in: 0...6, using: &random)).map { _ in random.chance(25) ? "" : text(0...5) }
        var bytes = Text(lines.joined(separator: "\n")).bytes
        while bytes.last == 0x0A { bytes.removeLast() }
        return Text(utf8: bytes)!
    }

    mutating func key() -> Text {
        if random.chance(1) { return Text(String(repeating: text(1...3), count: 600)) }
        return Text(text(0...3, extra: ["tags", "due", "\n", "\r\n"]))
    }

    mutating func value(depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth < 3 ? 9 : 7), using: &random) {
        case 0: return .null
        case 1: return .bool(random.chance(50))
        case 2: return .number(Text(number()))
        case 7: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth + 1) })
        case 8: return .object(members(0...3, depth: depth + 1))
        default: return .string(Text(text(0...4, extra: ["\n", "\r", "\n---\n"])))
        }
    }

    private mutating func number() -> String {
        let digits = String((0..<Int.random(in: 1...25, using: &random)).map { _ in random.pick(Array("0123456789")) })
        let whole = String(digits.drop { $0 == "0" })
        let fraction = random.chance(40) ? "." + digits : ""
        let exponent =
            random.chance(30)
            ? random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + String(Int.random(in: 0...900, using: &random))
            : ""
        return random.pick(["", "-"]) + (whole.isEmpty ? "0" : whole) + fraction + exponent
    }

    private mutating func members(_ counts: ClosedRange<Int>, depth: Int) -> [Text: JSON] {
        var members: [Text: JSON] = [:]
        for _ in 0..<Int.random(in: counts, using: &random) {
            let key = key()
            if !["id", "done", "title"].contains(key) { members[key] = value(depth: depth) }
        }
        return members
    }

    mutating func content() -> TaskContent {
        TaskContent(title: title(), notes: notes(), done: random.chance(50), properties: members(0...4, depth: 0))
    }

    /// What changes: each field with a chance, own keys among those that are there and new ones.
    mutating func edit(of content: TaskContent) -> TaskEdit {
        var edit = TaskEdit()
        if random.chance(30) { edit.id = ItemID(using: &random) }
        if random.chance(40) { edit.title = title() }
        if random.chance(40) { edit.notes = random.chance(50) ? notes() : changed(content.notes) }
        if random.chance(40) { edit.done = random.chance(50) }
        for key in content.properties.keys.sorted() where random.chance(25) {
            if random.chance(30) { edit.removed.insert(key) } else { edit.properties[key] = value() }
        }
        if random.chance(30) { edit.properties.merge(members(1...2, depth: 0)) { $1 } }
        return edit
    }

    private mutating func changed(_ notes: Text) -> Text {
        var lines = notes.bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...lines.count, using: &random)
            if place < lines.count, random.chance(50) {
                lines.remove(at: place)
            } else {
                lines.insert(Text(text(0...2)).bytes, at: place)
            }
        }
        var bytes = Array(lines.joined(separator: [0x0A]))
        while bytes.last == 0x0A { bytes.removeLast() }
        return Text(utf8: bytes)!
    }

    /// A file as people, editors and programs leave it behind; it need not be a valid one.
    mutating func file() -> [UInt8] {
        let usual = random.pick(["\n", "\n", "\r\n", "\r"])
        let mixed = random.chance(20)
        var out = random.chance(15) ? "\u{FEFF}" : ""
        func end(_ random: inout SeededGenerator) -> String { mixed ? random.pick(["\n", "\r\n", "\r"]) : usual }
        if random.chance(70) {
            out += random.pick(["---", "---", "--- "]) + end(&random)
            if random.chance(15) {
                out += random.pick(TaskFileGenerator.flowMappings) + end(&random)
            } else {
                let indent = random.chance(10) ? "  " : ""
                for line in blockLines() { out += (line.isEmpty ? "" : indent) + line + end(&random) }
            }
            out += random.pick(["---", "---", "..."]) + (random.chance(95) ? end(&random) : "")
        }
        for _ in 0..<random.pick([0, 0, 0, 1, 2]) { out += random.pick(["", " ", "\t"]) + end(&random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            out +=
                random.pick(["# ", "#\t", "  #  "]) + title().string + random.pick(["", "", " #", " ## "])
                + end(&random)
        case 2: out += title().string + end(&random) + random.pick(["=", "====", "  == "]) + end(&random)
        case 3:
            out +=
                random.pick(["#", "# ", "# #", "## b", "> # c", "- a\n===", "[x]: /y\n===", "<p>\n# d"]) + end(&random)
        default: break
        }
        if random.chance(60) { out += end(&random) }
        let notes = notes().bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for line in notes { out += String(decoding: line, as: UTF8.self) + end(&random) }
        if random.chance(20), let last = out.unicodeScalars.last, last == "\n" || last == "\r" {
            out.unicodeScalars.removeLast()
        }
        return Array(out.utf8)
    }

    /// Some bytes taken away, put in or changed.
    mutating func broken(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let byte = random.pick(Array("\n\r -:#'\"[]{},|>&*!?%~ab0".utf8) + [0xC3, 0x00])
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where place < bytes.count: bytes.remove(at: place)
            case 1 where place < bytes.count: bytes[place] = byte
            default: bytes.insert(byte, at: place)
            }
        }
        return bytes
    }

    private static let flowMappings = [
        "{a: 1, b: [x, y]}", "{}", "{a: 1,}", "  {id: 3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10, done: no}",
        "{a, 'b c': , \"d\":1} # c",
        "{a: 1, # one\n  b: {c: \"x\\\n y\"}}", "{title: T, done: 'Yes', ? e : f}",
    ]

    /// Entries of one to several lines, in any order; the first of a name counts.
    private static let entries: [(name: String, lines: [String])] = [
        ("id", ["id: 3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10"]),
        ("id", ["id: \"3F0C9D5E-0f5e-4d0e-9d5c-0f9f4f6f3a10\"  # mine"]),
        ("id", ["id:"]), ("done", ["done: false"]), ("done", ["done: YES  # finished"]), ("done", ["done: 'Off'"]),
        ("done", ["done: 1"]),
        ("done", ["done: x"]), ("title", ["title: From the key"]), ("title", ["title: \"Quoted: # é\""]),
        ("title", ["title:"]),
        ("title", ["title: >-", "  folded", "  text"]), ("tags", ["tags: [home, 'spring']  # two"]),
        ("tags", ["tags:  # mine", "  # first", "  - home  # x", "  - spring", "# end"]),
        ("tags", ["tags:", "- a", "- {b: c}", "- - d", "  - e"]),
        ("due", ["due:"]), ("due", ["due:   # when?"]), ("due", ["due: 2024-01-01"]),
        ("due", ["due:", "  2024-01-01"]),
        ("text", ["text: |  # why", "  one", "", "   two", "", ""]), ("text", ["text: |+", "  one", "", ""]),
        ("text", ["text: >2-", "   a", "  b"]),
        ("long", ["long: plain text", "  that goes on", "", "  and on"]), ("long", ["long: \"quoted", "  text\" # c"]),
        ("map", ["map:", "  x: 1", "  y:", "    z: [1.50, 007, ~]", "  # c"]),
        ("map", ["map: {x: 1,", "  y: 2}  # c"]),
        ("n", ["n: !!float 1e300"]), ("n", ["n: 1.50"]), ("n", ["n: !!str 12"]), ("né", ["né: é # ü"]),
        ("'q'", ["'q': \"\\u00e9\\\\\""]),
        ("?", ["? ex", ": plicit"]), ("?", ["? ex"]), ("", ["# a comment"]), ("", [""]), ("", ["   "]),
    ]

    private mutating func blockLines() -> [String] {
        var names: Set<String> = []
        var lines: [String] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let entry = random.pick(TaskFileGenerator.entries)
            if entry.name.isEmpty || names.insert(entry.name).inserted { lines += entry.lines }
        }
        return lines
    }
}

extension Array where Element == UInt8 {
    func trimming(_ white: Set<UInt8>) -> [UInt8] {
        Array(drop(while: white.contains).reversed().drop(while: white.contains).reversed())
    }
}
