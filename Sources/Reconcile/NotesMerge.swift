import Libraries
import Model

/// Three-way merges of one value. Pure.
enum ValueMerge {
    /// The merge of notes by lines, or nil where lines clash.
    static func notes(base: Text, local: Text, remote: Text) -> Text? {
        let merged = mergeLines(
            base: lines(base), ours: lines(local), theirs: lines(remote), labels: ("base", "mine", "theirs"))
        guard merged.isClean, let text = Text(utf8: merged.bytes) else { return nil }
        return text.withoutFinalLineEnds
    }

    /// Notes have no line end at the very end; with one, an addition after the last line touches only its own line.
    private static func lines(_ notes: Text) -> [UInt8] { notes.isEmpty ? [] : notes.bytes + [UInt8(ascii: "\n")] }

    /// The merge of lists as sets: the server's list without what was removed here, then what was added here, in this
    /// order. Nil where a value is repeated or nested on any side.
    static func list(base: [JSON], local: [JSON], remote: [JSON]) -> [JSON]? {
        guard [base, local, remote].allSatisfy(isPlainSet) else { return nil }
        let (inBase, inLocal, inRemote) = (Set(base), Set(local), Set(remote))
        let kept = remote.filter { inLocal.contains($0) || !inBase.contains($0) }
        let added = local.filter { !inBase.contains($0) && !inRemote.contains($0) }
        return kept + added
    }

    private static func isPlainSet(_ list: [JSON]) -> Bool {
        Set(list).count == list.count && list.allSatisfy { $0.array == nil && $0.object == nil }
    }
}

extension Text {
    var withoutFinalLineEnds: Text {
        let kept = utf8.reversed().drop { $0 == UInt8(ascii: "\n") }.count
        return kept == utf8.count ? self : Text(Substring(utf8.prefix(kept)))
    }
}
