import Libraries
import Model

/// Why the journal can't be read or written, for people.
public enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no journal yet; only a reader says so.
    case missing(path: Text)
    /// A later version of `otask` wrote it. Nothing was touched.
    case newerSchema(path: Text, found: Int, known: Int)
    /// An earlier version of `otask` wrote it, and a reader doesn't migrate it: open it once for writing.
    case olderSchema(path: Text, found: Int, known: Int)
    /// Its content is no journal. `Journal.open` for writing, with `check: .everything`, sets it aside.
    case damaged(path: Text, reason: Text)
    /// Nothing of the transaction is written.
    case diskFull(path: Text)
    /// Another process wrote for longer than the wait of 10 s.
    case busy(path: Text)
    /// The system refused: permissions, a failing disk.
    case failed(path: Text, reason: Text)

    public var description: String {
        switch self {
        case .missing(let path): "\(path): there is no journal yet; otask sync makes it"
        case .newerSchema(let path, let found, let known):
            "\(path): a newer otask wrote this journal (its schema is \(found), this one knows \(known)); update otask"
        case .olderSchema(let path, let found, let known):
            "\(path): an older otask wrote this journal (its schema is \(found), this one needs \(known)); "
                + "run otask sync once"
        case .damaged(let path, let reason): "\(path): the journal is damaged (\(reason))"
        case .diskFull(let path): "\(path): the disk is full, nothing was written"
        case .busy(let path): "\(path): another program holds the journal; try again"
        case .failed(let path, let reason): "\(path): the journal can't be used (\(reason))"
        }
    }

    /// What an error of SQLite, or a row that can't be read, means for the journal at `path`; any other error stays.
    static func wrapping(_ error: any Error, path: Text) -> any Error {
        switch error {
        case let error as UnreadableRow: JournalError.damaged(path: path, reason: error.reason)
        case let error as SQLiteError:
            if error.isDamage {
                JournalError.damaged(path: path, reason: Text(error.message))
            } else if error.isFull {
                JournalError.diskFull(path: path)
            } else if error.isBusy {
                JournalError.busy(path: path)
            } else {
                JournalError.failed(path: path, reason: Text(error.message))
            }
        default: error
        }
    }
}

/// A row of the journal that doesn't hold what only the journal writes there.
struct UnreadableRow: Error {
    let reason: Text
}
