import Libraries
import Model

public enum HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The disk is full, a folder is read-only: nothing was recorded, what was recorded before is as it was.
    case notWritable(reason: Text)
    /// Something in it can't be read. `History.setAside` makes room for a new one.
    case damaged(reason: Text)
    /// No state is called this.
    case unknownRevision(Text)
    /// Several states begin with these digits.
    case ambiguous(Text, [Revision])

    public var description: String {
        switch self {
        case .notWritable(let reason): "the history can't be written (\(reason))"
        case .damaged(let reason): "the history is damaged (\(reason))"
        case .unknownRevision(let text): "the history has no state \(text); \"otask log\" lists them"
        case .ambiguous(let text, let revisions):
            "\(text) can mean \(revisions.map(\.short.string).joined(separator: ", "))"
        }
    }
}

func reading<Result>(_ body: () throws(GitError) -> Result) throws(HistoryError) -> Result {
    do throws(GitError) { return try body() } catch { throw .damaged(reason: Text(error.message)) }
}

func writing<Result>(_ body: () throws(GitError) -> Result) throws(HistoryError) -> Result {
    do throws(GitError) { return try body() } catch { throw .notWritable(reason: Text(error.message)) }
}

/// What the disk refuses while the history's own folders are dealt with.
func onDisk<Result>(_ body: () throws(SystemError) -> Result) throws(HistoryError) -> Result {
    do throws(SystemError) { return try body() } catch { throw .notWritable(reason: Text(error.reason)) }
}
