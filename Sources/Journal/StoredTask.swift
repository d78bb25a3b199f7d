import Libraries
import Model

extension KnownTask: Stored {
    static let table = Table(
        "known",
        """
        id, place, is_moved, inode, birth, clean, modified, has_id_line, frozen, base, unagreed, before_id, before_id_since, \
        before_pull, before_pull_since, has_base, done, settled
        """)

    /// All but `settled`, which takes the remote row to know.
    var columns: [SQLValue] {
        [
            SQLValue(id), SQLValue(place), SQLValue(isMoved), SQLValue(inode: identity?.inode),
            SQLValue(identity?.birth),
            SQLValue(cleanDigest), SQLValue(modified), SQLValue(hasIDLine), SQLValue(frozen), SQLValue(base?.values),
            base.map { SQLValue($0.unagreed) } ?? .null, SQLValue(beforeID?.values), SQLValue(beforeID?.since),
            SQLValue(beforePull?.values), SQLValue(beforePull?.since), SQLValue(base != nil),
            SQLValue(base?.values[.done]?.bool ?? false),
        ]
    }

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.id(), place: try row.optionalText(), isMoved: try row.flag(), identity: try row.identity(),
            cleanDigest: try row.optionalDigest(), modified: try row.optional(\.integer))
        hasIDLine = try row.flag()
        frozen = try row.optionalText()
        let values = try row.optionalFields()
        let unagreed = try row.optional { $0.json?.array }
        beforeID = try row.earlierText()
        beforePull = try row.earlierText()
        guard let values, let unagreed else { return }
        base = Base(values: values, unagreed: Set(unagreed.compactMap { $0.text.flatMap { Field(name: $0) } }))
    }
}
