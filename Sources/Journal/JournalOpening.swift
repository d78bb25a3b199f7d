import Libraries
import Model

extension Journal {
    public enum Opening: Hashable, Sendable {
        case created
        case opened
        /// The file was damaged: it is kept at `setAside` (with its `-wal`), and an empty journal took its place.
        case rebuilt(setAside: Text)
    }

    public enum Check: Sendable {
        /// Header, size and schema: costs nothing.
        case header
        /// Every page, after a run that met `JournalError.damaged`.
        case everything
    }

    /// Opens the journal at `path` for writing, or makes it. The caller holds the workspace's lock.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - now: names a damaged file that is set aside.
    ///   - beforeCommit: called before each commit; what it throws undoes the transaction. The one seam for faults.
    ///
    /// Throws `JournalError`; a journal of a newer `otask` is left as it is.
    public static func open(
        path: Text, check: Check = .header, now: Instant, beforeCommit: @escaping @Sendable () throws -> Void = {}
    ) throws -> (journal: Journal, opening: Opening) {
        try open(path: path, check: check, now: now, beforeCommit: beforeCommit, schema: schema)
    }

    /// Opens the journal at `path` for reading, also while another process writes it. Makes no journal and mends none.
    /// Where SQLite can't make its side files, in a directory that isn't writable, the file is read as it lies.
    ///
    /// Throws `JournalError`; `missing` where there is none, `olderSchema` where it has to be opened for writing first.
    public static func openReadOnly(path: Text) throws -> Journal {
        try openReadOnly(path: path, schema: schema)
    }

    /// With these steps in place of the journal's own.
    static func open(
        path: Text, check: Check = .header, now: Instant, beforeCommit: @escaping @Sendable () throws -> Void = {},
        schema: [String]
    ) throws -> (journal: Journal, opening: Opening) {
        do {
            return try openWritable(path, check, beforeCommit, schema)
        } catch JournalError.damaged {
            let setAside = try setAside(path, now)
            return (try openWritable(path, .header, beforeCommit, schema).journal, .rebuilt(setAside: setAside))
        }
    }

    static func openReadOnly(path: Text, schema: [String]) throws -> Journal {
        guard size(path) != nil else { throw JournalError.missing(path: path) }
        do {
            return try openReadable(path, at: path.string, schema)
        } catch JournalError.failed(let path, let reason) {
            // In a directory where SQLite can't make its side files. Without a log the file holds everything.
            guard size(path, side: "-wal") ?? 0 == 0 else { throw JournalError.failed(path: path, reason: reason) }
            return try openReadable(path, at: immutableURI(path), schema)
        }
    }

    private static func openWritable(
        _ path: Text, _ check: Check, _ beforeCommit: @escaping @Sendable () throws -> Void, _ schema: [String]
    ) throws -> (journal: Journal, opening: Opening) {
        do {
            let database = try SQLite(path: path.string)
            let version = try schemaVersion(of: database, path, known: schema.count)
            // Full flushing also on macOS, where `fsync` alone leaves data in the drive's cache.
            _ = try database.query("pragma journal_mode = wal")
            try database.execute(
                "pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
            try migrate(database, path, schema)
            let journal = Journal(path: path, database: database, beforeCommit: beforeCommit)
            if check == .everything { try journal.verify() }
            return (journal, version == 0 ? .created : .opened)
        } catch {
            throw JournalError.wrapping(error, path: path)
        }
    }

    private static func openReadable(_ path: Text, at name: String, _ schema: [String]) throws -> Journal {
        do {
            let database = try SQLite(path: name, readOnly: true)
            // Most of what a reader reads, it reads once: 512 KiB of pages are enough to keep.
            try database.execute("pragma cache_size = -512")
            let version = try schemaVersion(of: database, path, known: schema.count)
            if version == 0 { throw JournalError.missing(path: path) }
            if version < schema.count {
                throw JournalError.olderSchema(path: path, found: version, known: schema.count)
            }
            return Journal(path: path, database: database, beforeCommit: {})
        } catch {
            throw JournalError.wrapping(error, path: path)
        }
    }

    /// The schema version of a journal; 0 for an empty database. Throws where it is no journal, or a newer one.
    private static func schemaVersion(of database: SQLite, _ path: Text, known: Int) throws -> Int {
        // The first read: SQLite finds a wrong header here, and a file shorter than its header says.
        let tables = try database.query("select count(*) from sqlite_master")[0][0].integer ?? 0
        let application = try database.query("pragma application_id")[0][0].integer ?? 0
        let version = Int(try database.query("pragma user_version")[0][0].integer ?? 0)
        if tables == 0, version == 0 { return 0 }
        guard application == applicationID, version > 0 else {
            throw JournalError.damaged(path: path, reason: "it is a database of another program")
        }
        guard version <= known else { throw JournalError.newerSchema(path: path, found: version, known: known) }
        return version
    }

    /// Runs the steps that are missing, each in a transaction with its version number.
    private static func migrate(_ database: SQLite, _ path: Text, _ schema: [String]) throws {
        while try schemaVersion(of: database, path, known: schema.count) < schema.count {
            try database.transaction {
                // Read again under the lock: another process may have been faster.
                let version = try schemaVersion(of: database, path, known: schema.count)
                guard version < schema.count else { return }
                try database.execute(schema[version])
                try database.execute("pragma application_id = \(applicationID); pragma user_version = \(version + 1)")
            }
        }
    }

    /// Moves the damaged file away, its log with it. The file goes first: its log beside a new, empty journal is
    /// thrown away by SQLite, while an old state without its log would pass for the journal.
    private static func setAside(_ path: Text, _ now: Instant) throws -> Text {
        let setAside = path + ".damaged-" + Text(String(now.nanoseconds))
        do {
            let folder = try OpenFolder(path: path.parent.string)
            for side in ["", "-wal", "-shm"] {
                let name = FileName(path.lastComponent.string + side)
                if try folder.status(name) == nil { continue }
                try folder.move(name, to: folder, FileName(setAside.lastComponent.string + side))
            }
            try folder.sync()
        } catch {
            let reason = "it is damaged and can't be moved away: " + error.reason
            throw JournalError.failed(path: path, reason: Text(reason))
        }
        return setAside
    }

    /// The size of the file, or of a side file of it, in bytes; nil where there is none.
    private static func size(_ path: Text, side: String = "") -> Int64? {
        let name = FileName(path.lastComponent.string + side)
        return (try? OpenFolder(path: path.parent.string).status(name))??.size
    }

    /// The path as a URI that tells SQLite to read the file alone (https://sqlite.org/uri.html, `immutable`).
    static func immutableURI(_ path: Text) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16)
                uri += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return uri + "?immutable=1"
    }
}
