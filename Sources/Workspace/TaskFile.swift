import Model

/// A task file, read: the bytes, and what they say.
///
/// ```swift
/// let file = try TaskFile.parse(bytes, name: "buy-milk", idsInFiles: true)
/// let changed = try file.editing(TaskEdit(done: true), name: "buy-milk")
/// ```
public struct TaskFile: Sendable {
    /// What the front matter says under `id`.
    public enum IDLine: Hashable, Sendable {
        case none
        case id(ItemID)
        /// Something that is no UUID, as it is written; only where ids stand in the journal.
        case other(Text)
    }

    /// Where the title comes from.
    public enum TitleForm: Hashable, Sendable {
        /// The `title:` key.
        case key
        /// A level-1 heading at the start of the body.
        case heading
        /// The file's name.
        case name
    }

    public let bytes: [UInt8]
    public let idLine: IDLine
    /// The title resolved, the notes normalised (`TaskContent.normalizedNotes`).
    public let content: TaskContent
    public let titleForm: TitleForm

    /// What `parse` was told.
    let name: Text
    let idsInFiles: Bool
    let frontMatter: FrontMatter?
    /// Where the body begins: behind the front matter.
    let bodyStart: Int
    /// The heading that is the title.
    let heading: TitleHeading?
    /// Where the notes begin: behind the heading and one blank line, or where the body does.
    let notesStart: Int

    /// A greater file is no task.
    public static let maximumSize = 1_310_720
    /// Longer notes, in bytes of UTF-8, are refused by the server.
    public static let maximumNotes = 1_000_000
    /// Own keys of more than this, in bytes of JSON, are refused by the server.
    public static let maximumProperties = 65_536

    /// Reads a file of this `name` (without folder and `.md`). Where ids don't stand in files (`ids: journal`), an `id`
    /// that is no UUID is left alone. Throws `.empty` for a file of nothing but white space, else what is wrong.
    public static func parse(_ bytes: [UInt8], name: Text, idsInFiles: Bool) throws(TaskFileProblem) -> TaskFile {
        try checkText(bytes)
        do {
            return try TaskFile(bytes, name, idsInFiles)
        } catch {
            throw TaskFileProblem(error.message, at: error.offset, in: bytes)
        }
    }

    private static func checkText(_ bytes: [UInt8]) throws(TaskFileProblem) {
        if bytes.count > maximumSize {
            throw TaskFileProblem("the file is over 1.25 MiB: make it shorter, or move text to another file")
        }
        if let nul = bytes.firstIndex(of: 0) {
            throw TaskFileProblem("the file holds a NUL, which can't be kept: take it out", at: nul, in: bytes)
        }
        if Text(utf8: bytes) == nil {
            let broken = bytes.lines(in: 0..<bytes.count).first { Text(utf8: bytes[$0.text]) == nil }
            let line = broken.map { TaskFileProblem.position(of: $0.text.lowerBound, in: bytes).line }
            throw TaskFileProblem("the file isn't UTF-8: save it as UTF-8", line: line)
        }
        let text = bytes[byteOrderMark(in: bytes)...]
        if text.allSatisfy({ isBlankByte($0) || $0 == 0x0A || $0 == 0x0D }) { throw .empty }
    }

    /// The length of the byte order mark: 3 or 0.
    static func byteOrderMark(in bytes: [UInt8]) -> Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    private init(_ bytes: [UInt8], _ name: Text, _ idsInFiles: Bool) throws(FrontMatterFault) {
        self.bytes = bytes
        self.name = name
        self.idsInFiles = idsInFiles
        frontMatter = try FrontMatter(in: bytes, from: TaskFile.byteOrderMark(in: bytes))
        bodyStart = frontMatter?.range.upperBound ?? TaskFile.byteOrderMark(in: bytes)
        idLine = try frontMatter?.idLine(in: bytes, idsInFiles: idsInFiles) ?? .none

        let key = try frontMatter?.title()
        heading = key == nil ? TitleHeading.first(in: bytes, from: bodyStart) : nil
        titleForm = key != nil ? .key : heading != nil ? .heading : .name
        let title = key ?? Text(String(decoding: bytes[heading?.text ?? 0..<0], as: UTF8.self))
        let afterHeading = heading?.lines.upperBound ?? bodyStart
        let blank = bytes.line(at: afterHeading)
        notesStart = heading != nil && bytes.isBlank(blank.text) ? blank.range.upperBound : afterHeading

        content = TaskContent(
            title: titleForm == .name ? name.trimmedTitle : title.trimmedTitle,
            notes: TaskContent.normalizedNotes(Text(String(decoding: bytes[notesStart...], as: UTF8.self))),
            done: try frontMatter?.done() ?? false,
            properties: try frontMatter?.properties() ?? [:])
        try checkContent()
    }

    /// What the server would refuse, in a way that stops more than this file.
    private func checkContent() throws(FrontMatterFault) {
        if content.title.isEmpty || !content.title.isOneLine {
            throw FrontMatterFault(
                message: "the file's name can't be a title: rename the file, or write a `title:`", offset: bodyStart)
        }
        if content.notes.utf8.count > TaskFile.maximumNotes {
            throw FrontMatterFault(message: "the notes are over 1,000,000 bytes: make them shorter", offset: notesStart)
        }
        if !content.properties.isEmpty, JSON.object(content.properties).serialized.count > TaskFile.maximumProperties {
            throw FrontMatterFault(
                message: "the keys in the front matter are over 64 KiB: make them shorter", offset: 0)
        }
    }
}

/// Changes to a task file; nil leaves a thing as it stands.
public struct TaskEdit: Sendable, Equatable {
    /// Sets the id line, or puts it back.
    public var id: ItemID?
    public var title: Text?
    public var notes: Text?
    public var done: Bool?
    /// New values of own keys. `id`, `done` and `title` among them are ignored.
    public var properties: [Text: JSON]
    /// Own keys to take away.
    public var removed: Set<Text>

    public init(
        id: ItemID? = nil, title: Text? = nil, notes: Text? = nil, done: Bool? = nil, properties: [Text: JSON] = [:],
        removed: Set<Text> = []
    ) {
        self.id = id
        self.title = title
        self.notes = notes
        self.done = done
        self.properties = properties
        self.removed = removed
    }

    /// What a file that says `content` says after this.
    func applied(to content: TaskContent) -> TaskContent {
        var content = content
        if let title { content.title = title }
        if let notes { content.notes = TaskContent.normalizedNotes(notes) }
        if let done { content.done = done }
        for key in removed { content.properties[key] = nil }
        for (key, value) in properties where !FrontMatter.reservedKeys.contains(key) { content.properties[key] = value }
        return content
    }
}

/// Why a file is no task that can be read or written: what is wrong and the way out, without the file's name.
public struct TaskFileProblem: Error, Equatable, Sendable {
    public let message: String
    /// From 1, where known.
    public let line: Int?
    /// In characters (code points) from 1, where known.
    public let column: Int?

    init(_ message: String, line: Int? = nil, column: Int? = nil) {
        self.message = message
        self.line = line
        self.column = column
    }

    init(_ message: String, at offset: Int, in bytes: [UInt8]) {
        let (line, column) = TaskFileProblem.position(of: offset, in: bytes)
        self.init(message, line: line, column: column)
    }

    static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let start = bytes.lineStart(of: offset, from: 0)
        let first = start == 0 ? TaskFile.byteOrderMark(in: bytes) : start
        let column = bytes[first..<max(first, offset)].count { $0 & 0xC0 != 0x80 } + 1
        return (bytes.lines(in: 0..<start).count + 1, column)
    }

    /// Nothing but white space: a new file is a task in the making, a known task's file was caught in mid-save.
    public static let empty = TaskFileProblem("the file is empty: write a title or remove the file")
}
