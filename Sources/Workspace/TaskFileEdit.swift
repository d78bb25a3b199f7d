import Libraries
import Model

/// Writing a task file: surgical edits, and files laid down from the server.
extension TaskFile {
    /// How the title is written.
    private enum TitleWriting {
        case stays
        case key
        /// The text of the heading that is there.
        case headingText
        /// A line `# title`, in the place of a heading or above the body.
        case headingLine
    }

    /// The bytes with these changes and no other byte touched. `name` is the name that the file will have: where the
    /// title comes from the name, another one brings a `title:`. The result is parsed before it is returned; throws where
    /// it can't say exactly what was meant.
    public func editing(_ edit: TaskEdit, name: Text) throws(TaskFileProblem) -> [UInt8] {
        if let title = edit.title { try TaskFile.check(title) }
        let meant = edit.applied(to: content)
        let meantID = edit.id.map(IDLine.id) ?? idLine
        let losesTitle = titleForm == .name && name.trimmedTitle != meant.title
        if meant == content, meantID == idLine, !losesTitle { return bytes }

        var problem: TaskFileProblem?
        for title in titleWritings(
            meant, losesTitle: losesTitle || titleForm == .name && edit.title != nil && meant.title != content.title)
        {
            for surgical in [true, false] {
                guard let result = edited(to: meant, id: meantID, title: title, surgical: surgical) else { continue }
                do {
                    let parsed = try TaskFile.parse(result, name: name, idsInFiles: idsInFiles)
                    if parsed.content == meant, parsed.idLine == meantID { return result }
                } catch {
                    problem = error
                }
            }
        }
        throw problem ?? TaskFileProblem("the change can't be written into this file as it stands: make it by hand")
    }

    /// A title as a file can hold it: of one line, without white space around it, not empty.
    private static func check(_ title: Text) throws(TaskFileProblem) {
        guard !title.isEmpty, title.isOneLine, title.trimmedTitle == title else {
            throw TaskFileProblem("a title has to be one line that isn't empty, without blanks around it")
        }
    }

    /// The forms to try, the first that can hold the title counts.
    private func titleWritings(_ meant: TaskContent, losesTitle: Bool) -> [TitleWriting] {
        switch titleForm {
        case .key: return meant.title == content.title ? [.stays] : [.key]
        case .heading: return meant.title == content.title ? [.stays] : [.headingText, .headingLine, .key]
        case .name:
            if TitleHeading.first(in: meant.notes.bytes, from: 0) != nil { return [.headingLine, .key] }
            return losesTitle ? [.key] : [.stays, .key]
        }
    }

    /// The whole file; nil where the front matter can't be written in this way.
    private func edited(to meant: TaskContent, id: IDLine, title: TitleWriting, surgical: Bool) -> [UInt8]? {
        let lineEnd = String(decoding: bytes.firstLineEnd, as: UTF8.self)
        var changes: [Text: FrontMatter.NewValue] = [:]
        if case .id(let new) = id, id != idLine { changes["id"] = .json(.string(new.text)) }
        if title == .key { changes["title"] = .json(.string(meant.title)) }
        if meant.done != content.done {
            changes["done"] = .word(DoneSpelling.spell(meant.done, as: frontMatter?.doneWord ?? "true"))
        }
        for key in Set(meant.properties.keys).union(content.properties.keys)
        where meant.properties[key] != content.properties[key] {
            changes[key] = meant.properties[key].map { .json($0) } ?? .removed
        }

        let body = body(meant, title)
        var head = Array(bytes[..<bodyStart])
        if let frontMatter {
            if !changes.isEmpty {
                let edits =
                    surgical
                    ? frontMatter.edits(changes, in: bytes, lineEnd: lineEnd)
                    : frontMatter.rewriting(changes, in: bytes, lineEnd: lineEnd)
                guard let edits else { return nil }
                head = edits.applied(to: head)
            }
            if !body.isEmpty, !head.endsWithLineEnd { head += lineEnd.utf8 }
        } else if !changes.isEmpty || FrontMatter.isFence(body[body.line(at: 0).text]) {
            head += FrontMatter.laidDown(changes, lineEnd: lineEnd).utf8
        }
        // A CR and an LF that end two lines would become one line end.
        if head.last == 0x0D, body.first == 0x0A { head[head.count - 1] = 0x0A }
        return head + body
    }

    private func body(_ meant: TaskContent, _ title: TitleWriting) -> [UInt8] {
        var out: [UInt8]
        switch (title, heading) {
        case (.headingText, let heading?):
            out = Array(bytes[bodyStart..<heading.text.lowerBound]) + meant.title.utf8
            let rest = bytes[heading.text.upperBound..<heading.lines.upperBound]
            if heading.form == .atx, meant.title.hasSuffix("#"), !rest.contains(UInt8(ascii: "#")) { out += " #".utf8 }
            out += rest
        case (.headingLine, _):
            out = Array(bytes[bodyStart..<(heading?.lines.lowerBound ?? bodyStart)])
            out += TaskFile.headingLine(meant.title).utf8 + bytes.firstLineEnd
        case (.key, _): out = []
        case (.stays, _), (.headingText, nil): out = Array(bytes[bodyStart..<(heading?.lines.upperBound ?? bodyStart)])
        }

        let separator = bytes[(heading?.lines.upperBound ?? bodyStart)..<notesStart]
        if meant.notes == content.notes {
            if heading == nil, !out.isEmpty, !meant.notes.isEmpty { out += bytes.firstLineEnd }
            return out + (out.isEmpty ? [] : separator) + bytes[notesStart...]
        }
        if meant.notes.isEmpty { return out }
        if !out.isEmpty {
            if !out.endsWithLineEnd { out += bytes.firstLineEnd }
            // A heading with the text right below it stays so, unless the text begins with a blank line.
            let first = meant.notes.utf8.prefix { $0 != 0x0A }
            if !separator.isEmpty {
                out += separator
                if !out.endsWithLineEnd { out += bytes.firstLineEnd }
            } else if heading == nil || content.notes.isEmpty || first.allSatisfy(isBlankByte) {
                out += out.lastLineEnd
            }
        }
        return out + notes(meant.notes, behind: out.isEmpty ? Array(bytes[..<bodyStart]) : out)
    }

    static func headingLine(_ title: Text) -> String { "# " + title.string + (title.hasSuffix("#") ? " #" : "") }

    /// The new notes by lines: one that stays keeps its bytes, a new one takes the line end of the line before it, and
    /// the file ends as it did. `before` is what stands above them.
    private func notes(_ notes: Text, behind before: [UInt8]) -> [UInt8] {
        var old = bytes.lines(in: notesStart..<bytes.count)
        while let last = old.last, last.text.isEmpty { old.removeLast() }
        let tail = bytes[(old.last?.text.upperBound ?? notesStart)...]
        let new = notes.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let matches = matchedLines(old.map { bytes[$0.text] }, new)

        var ending = before.endsWithLineEnd ? before.lastLineEnd : bytes.firstLineEnd
        var out: [UInt8] = []
        var previous = before.last
        for (line, match) in zip(new, matches) {
            if let match, !old[match].ending.isEmpty { ending = Array(bytes[old[match].ending]) }
            // A CR and an LF that end two lines would become one line end.
            if line.isEmpty, previous == 0x0D, ending == [0x0A] { ending = [0x0D] }
            out += line + ending
            previous = out.last
        }
        out.removeLast(ending.count)
        if old.isEmpty { return out + (tail.isEmpty ? bytes.endsWithLineEnd ? ending : [] : Array(tail)) }
        let first = bytes.lineEnd(at: tail.startIndex)
        return tail.isEmpty ? out : out + ending + bytes[first...]
    }

    /// The bytes of a file laid down from the server. Throws where no file can say this: an empty title, too much text.
    public static func render(_ content: TaskContent, id: ItemID?, name: Text) throws(TaskFileProblem) -> [UInt8] {
        try check(content.title)
        var meant = content
        meant.notes = TaskContent.normalizedNotes(content.notes)
        meant.properties = content.properties.filter { !FrontMatter.reservedKeys.contains($0.key) }
        var values: [Text: FrontMatter.NewValue] = meant.properties.mapValues { .json($0) }
        if let id { values["id"] = .json(.string(id.text)) }
        if meant.done { values["done"] = .word("true") }

        var problem: TaskFileProblem?
        for asKey in [false, true] {
            if asKey { values["title"] = .json(.string(meant.title)) }
            let head = values.isEmpty ? "" : FrontMatter.laidDown(values, lineEnd: "\n")
            let heading = asKey ? "" : headingLine(meant.title) + "\n"
            let notes = meant.notes.isEmpty ? "" : (asKey ? "" : "\n") + meant.notes.string + "\n"
            let bytes = Array((head + heading + notes).utf8)
            do {
                let parsed = try parse(bytes, name: name, idsInFiles: true)
                if parsed.content == meant, parsed.idLine == id.map(IDLine.id) ?? .none { return bytes }
            } catch {
                problem = error
            }
        }
        throw problem ?? TaskFileProblem("this task can't be written as a file")
    }
}

extension FrontMatter {
    /// How `done` is written now.
    fileprivate var doneWord: Text? {
        guard case .scalar(let bytes, _) = self["done"]?.kind else { return nil }
        return Text(utf8: bytes)
    }
}

extension Array where Element == UInt8 {
    fileprivate var endsWithLineEnd: Bool { last == 0x0A || last == 0x0D }

    /// The line end at the very end, which is there.
    fileprivate var lastLineEnd: [UInt8] { suffix(2) == [0x0D, 0x0A] ? [0x0D, 0x0A] : Array(suffix(1)) }
}
