import Model
import Testing

@testable import Workspace

/// Properties that hold for every task and every file. A failure names the seed that makes the same text again.
@Suite struct TaskFilePropertyTests {
    static let rounds: Range<UInt64> = 0..<2_000

    @Test func `what a file laid down says is what it was laid down from`() throws {
        for seed in TaskFilePropertyTests.rounds {
            var generator = TaskFileGenerator(seed: seed)
            let content = generator.content()
            let id = generator.random.chance(70) ? ItemID(using: &generator.random) : nil
            let name = generator.random.chance(20) ? content.title : "name"
            let bytes = try TaskFile.render(content, id: id, name: name)
            let file = try TaskFile.parse(bytes, name: name, idsInFiles: true)
            try #require(file.content == content, "seed \(seed)")
            try #require(file.idLine == id.map(TaskFile.IDLine.id) ?? .none, "seed \(seed)")
            try #require(file.editing(TaskEdit(), name: name) == bytes, "seed \(seed)")
        }
    }

    @Test func `an edit of nothing leaves every byte`() throws {
        var read = 0
        for seed in TaskFilePropertyTests.rounds {
            var generator = TaskFileGenerator(seed: seed)
            let bytes = generator.file()
            guard let file = try? TaskFile.parse(bytes, name: "name", idsInFiles: true) else { continue }
            read += 1
            let same = TaskEdit(
                title: file.content.title, notes: file.content.notes, done: file.content.done,
                properties: file.content.properties)
            try #require(file.editing(TaskEdit(), name: "name") == bytes, "seed \(seed)")
            try #require(file.editing(same, name: "name") == bytes, "seed \(seed)")
        }
        #expect(read > TaskFilePropertyTests.rounds.count / 2)
    }

    @Test func `an edited file says what it said, with the change`() throws {
        for seed in TaskFilePropertyTests.rounds {
            var generator = TaskFileGenerator(seed: seed)
            let bytes = generator.file()
            guard let file = try? TaskFile.parse(bytes, name: "name", idsInFiles: true) else { continue }
            let edit = generator.edit(of: file.content)
            let name: Text = generator.random.chance(20) ? "moved" : "name"
            let context = Comment(rawValue: "seed \(seed)\n\(Text(utf8: bytes)!.string.debugDescription)\n\(edit)")
            do {
                let result = try file.editing(edit, name: name)
                let after = try TaskFile.parse(result, name: name, idsInFiles: true)
                try #require(after.content == file.content.with(edit), context)
                try #require(after.idLine == edit.id.map(TaskFile.IDLine.id) ?? file.idLine, context)
                // And back: what is put in can be taken out again.
                var back = TaskEdit(title: file.content.title, notes: file.content.notes, done: file.content.done)
                back.removed = Set(edit.properties.keys)
                back.properties = file.content.properties
                let restored = try TaskFile.parse(after.editing(back, name: name), name: name, idsInFiles: true)
                try #require(restored.content == file.content, context)
            } catch {
                Issue.record(context)
                throw error
            }
        }
    }

    @Test func `of broken bytes too an edit says what was meant, or is a problem`() throws {
        var (read, edited) = (0, 0)
        for seed in TaskFilePropertyTests.rounds {
            var generator = TaskFileGenerator(seed: seed)
            let bytes = generator.broken(generator.file())
            guard let file = try? TaskFile.parse(bytes, name: "name", idsInFiles: false) else { continue }
            read += 1
            let edit = generator.edit(of: file.content)
            guard let result = try? file.editing(edit, name: "name") else { continue }
            edited += 1
            let after = try TaskFile.parse(result, name: "name", idsInFiles: false)
            try #require(after.content == file.content.with(edit), "seed \(seed)")
        }
        #expect(read > TaskFilePropertyTests.rounds.count / 4)
        #expect(edited > read * 9 / 10)
    }

    @Test func `an edit of one own key leaves every line of the others`() throws {
        for seed in TaskFilePropertyTests.rounds {
            var generator = TaskFileGenerator(seed: seed)
            let bytes = generator.file()
            guard let file = try? TaskFile.parse(bytes, name: "name", idsInFiles: true), file.frontMatter != nil else {
                continue
            }
            let result = try file.editing(TaskEdit(properties: ["zz": "new"]), name: "name")
            if case .mapping(_, flow: true) = file.frontMatter?.root?.kind { continue }
            let inner = file.frontMatter!.inner
            let stays = bytes[..<inner.upperBound]
            try #require(
                result.starts(with: stays) && result.suffix(bytes.count - stays.count) == bytes[inner.upperBound...],
                "seed \(seed)")
        }
    }
}

extension TaskContent {
    fileprivate func with(_ edit: TaskEdit) -> TaskContent {
        var content = self
        content.title = edit.title ?? title
        content.notes = edit.notes ?? notes
        content.done = edit.done ?? done
        for key in edit.removed { content.properties[key] = nil }
        content.properties.merge(edit.properties) { $1 }
        return content
    }
}
