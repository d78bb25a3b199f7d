import Libraries
import Model
import Workspace

/// The stat cache and what is settled: a row a file and a row a task, and in one piece, the outline, which is read some
/// twenty times faster.
extension Journal {
    /// The stat cache, with the files of settled tasks marked in it, and the tasks that are not settled. No text of a task is
    /// read for it.
    ///
    /// - Parameter idsInFiles: a file that lacks its id line isn't settled: it is to be written there.
    public func settledFiles(idsInFiles: Bool) throws -> (files: SettledFiles, others: [ItemID]) {
        try outline(idsInFiles: idsInFiles) ?? settledFilesByRow(idsInFiles: idsInFiles)
    }

    /// Nil where none was kept since the last change, or by another `otask`.
    private func outline(idsInFiles: Bool) throws -> (files: SettledFiles, others: [ItemID])? {
        try wrapped {
            let row: Int64 = idsInFiles ? 1 : 0
            guard try hasOutline(idsInFiles: idsInFiles),
                let files = SettledFiles(packed: try database.bytes(of: "files", in: "outline", row: row))
            else { return nil }
            let ids = try database.bytes(of: "others", in: "outline", row: row)
            let others = stride(from: 0, to: ids.count - ids.count % 36, by: 36).compactMap {
                ItemID(String(decoding: ids[$0..<$0 + 36], as: UTF8.self))
            }
            return others.count * 36 == ids.count ? (files, others) : nil
        }
    }

    private func settledFilesByRow(idsInFiles: Bool) throws -> (files: SettledFiles, others: [ItemID]) {
        try wrapped {
            var files = SettledFiles()
            var (place, id, digest) = ([UInt8](), [UInt8](), [UInt8]())
            let damage = { (table: String) in UnreadableRow(reason: Text("a row of \(table) can't be read")) }
            func item(_ bytes: [UInt8]) throws -> ItemID {
                guard let id = ItemID(String(decoding: bytes, as: UTF8.self)) else { throw damage("known") }
                return id
            }
            try database.forEach("select path, digest, size, modified, changed, inode, birth, recorded from files") {
                row in
                guard row.read(0, into: &place), row.read(1, into: &digest), let size = row.integer(2),
                    let modified = row.integer(3), let changed = row.integer(4), let inode = row.integer(5),
                    let recorded = row.integer(7)
                else { throw damage("files") }
                files.add(
                    path: place,
                    stamp: FileStamp(
                        size: size, modified: modified, changed: changed, inode: UInt64(bitPattern: inode),
                        birth: row.integer(6)),
                    recorded: Instant(nanoseconds: recorded), digest: digest)
            }
            var others: [ItemID] = []
            try database.forEach(
                """
                select id, place, clean, inode, birth, modified, has_id_line, settled, done \
                from known indexed by known_outline
                """
            ) { row in
                guard row.read(0, into: &id), id.count == 36 else { throw damage("known") }
                guard row.read(1, into: &place) else { return others.append(try item(id)) }
                var isSettled = row.integer(7) == 1 && (row.integer(6) == 1 || !idsInFiles)
                if isSettled, row.read(2, into: &digest), let inode = row.integer(3), let birth = row.integer(4) {
                    isSettled = files.settle(
                        place: place, id: id, digest: digest,
                        identity: FileIdentity(inode: UInt64(bitPattern: inode), birth: birth),
                        modified: row.integer(5), isDone: row.integer(8) == 1)
                } else {
                    isSettled = false
                }
                if isSettled { return }
                others.append(try item(id))
                files.contest(place: place)
            }
            return (files, others)
        }
    }

    fileprivate func hasOutline(idsInFiles: Bool) throws -> Bool {
        try wrapped {
            try !database.query("select 1 from outline where ids_in_files = ?", SQLValue(idsInFiles)).isEmpty
        }
    }

    fileprivate func keepOutline(idsInFiles: Bool) throws {
        let (files, others) = try settledFilesByRow(idsInFiles: idsInFiles)
        try run(
            "insert or replace into outline (ids_in_files, files, others) values (?, ?, ?)",
            [SQLValue(idsInFiles), .blob(files.packed()), .blob(others.flatMap(\.text.bytes))])
    }
}

extension JournalWriter {
    /// Keeps in one piece what `settledFiles` says, for whoever reads it before the next change. At the end of a run.
    public func keepOutline(idsInFiles: Bool) throws {
        if try !journal.hasOutline(idsInFiles: idsInFiles) { try journal.keepOutline(idsInFiles: idsInFiles) }
    }
}
