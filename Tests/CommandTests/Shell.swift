import Libraries
import Model

@testable import otask

/// Runs command lines in the test's process, with an environment of its own.
final class Shell: Sendable {
    struct Answer: Equatable {
        var code: Int32
        var output: String
        var errors: String
    }

    /// What a command printed.
    private final class Recorder: @unchecked Sendable {
        var output = ""
        var errors = ""
        var lines: [String] = []
    }

    /// A directory of its own, removed with this value.
    let directory: String
    let now: Instant

    init(now: Instant = Instant(seconds: 1_796_036_400)) throws {
        directory = try System.makeTemporaryFolder()
        self.now = now
    }

    deinit { try? removeTree(directory) }

    /// Runs `otask` with these words in `folder`, which is relative to `directory`.
    func callAsFunction(
        _ words: String..., in folder: String = "", input: String = "", isTerminal: Bool = false, lines: [String] = [],
        variables: [String: String] = [:]
    ) async -> Answer {
        await self(words, in: folder, input: input, isTerminal: isTerminal, lines: lines, variables: variables)
    }

    func callAsFunction(
        _ words: [String], in folder: String = "", input: String = "", isTerminal: Bool = false, lines: [String] = [],
        variables: [String: String] = [:]
    ) async -> Answer {
        let recorder = Recorder()
        recorder.lines = lines
        var all = ["HOME": directory, "XDG_STATE_HOME": directory + "/state"]
        all.merge(variables) { $1 }
        let now = now
        let environment = CommandEnvironment(
            directory: absolute(folder, from: directory), variables: all, readInput: { Array(input.utf8) },
            readLine: { recorder.lines.isEmpty ? nil : recorder.lines.removeFirst() },
            readSecret: { recorder.lines.isEmpty ? nil : recorder.lines.removeFirst() },
            untilAskedToEnd: {},
            output: { recorder.output += $0 }, errors: { recorder.errors += $0 }, inputIsTerminal: isTerminal,
            outputIsTerminal: isTerminal, errorsAreTerminal: isTerminal, width: 80, clock: { now }, host: "laptop")
        let code = await run(arguments: words, environment: environment)
        return Answer(code: code, output: recorder.output, errors: recorder.errors)
    }

    func write(_ text: String, to path: String) throws {
        let parts = Text(path)
        try createFolders(Text(directory).appending(parts.parent).string)
        let folder = try OpenFolder(path: directory + "/" + parts.parent.string)
        let name = FileName(parts.lastComponent.string)
        let file = try folder.openOrCreate(name)
        try file.truncate()
        try file.write(Array(text.utf8))
    }

    func read(_ path: String) throws -> String {
        String(decoding: try OpenFile(path: directory + "/" + path).read(), as: UTF8.self)
    }

    func has(_ path: String) -> Bool { (try? OpenFile(path: directory + "/" + path)) != nil }
}

private func createFolders(_ path: String) throws {
    if (try? OpenFolder(path: path)) != nil { return }
    let parts = Text(path)
    try createFolders(parts.parent.string)
    try OpenFolder(path: parts.parent.string).makeFolder(FileName(parts.lastComponent.string))
}

func removeTree(_ path: String) throws {
    let folder = try OpenFolder(path: path)
    for entry in try folder.entries() {
        if try folder.status(entry.name)?.kind == .folder {
            try removeTree(path + "/" + entry.name.shown)
        } else {
            try folder.unlink(entry.name)
        }
    }
    let parts = Text(path)
    try OpenFolder(path: parts.parent.string).removeFolder(FileName(parts.lastComponent.string))
}
