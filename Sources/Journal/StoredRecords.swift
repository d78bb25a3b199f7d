import Libraries
import Model

extension ConflictRecord: Stored {
    static let table = Table("conflicts", "id, fields, raised, shown, since")

    var columns: [SQLValue] { [SQLValue(id), SQLValue(fields), SQLValue(raised), SQLValue(shown), SQLValue(since)] }

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.id(), fields: try row.fieldNames(), raised: try row.fields(), shown: try row.optionalFields(),
            since: try row.instant())
    }
}

extension RefusalRecord: Stored {
    static let table = Table("refusals", "id, field, fingerprint, code, message, since")

    /// The whole change has the empty name, which no field has.
    var columns: [SQLValue] {
        [
            SQLValue(id), SQLValue(field?.name ?? ""), SQLValue(fingerprint), SQLValue(code), SQLValue(message),
            SQLValue(since),
        ]
    }

    init(_ row: inout RowReader) throws {
        let id = try row.id()
        let name = try row.text()
        let field = Field(name: name)
        guard field != nil || name.isEmpty else { throw row.unreadable }
        self.init(
            id: id, field: field, fingerprint: try row.digest(), code: try row.text(), message: try row.text(),
            since: try row.instant())
    }
}

extension LaterRecord: Stored {
    static let table = Table("later", "id, tries, next, fingerprint, message")

    var columns: [SQLValue] {
        [SQLValue(id), SQLValue(Int64(tries)), SQLValue(next), SQLValue(fingerprint), SQLValue(message)]
    }

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.id(), tries: Int(try row.integer()), next: try row.instant(), fingerprint: try row.digest(),
            message: try row.text())
    }
}

extension InFlightRecord: Stored {
    static let table = Table("in_flight", "change_id, id, place, inode, birth, digest, change, sent")

    var columns: [SQLValue] {
        [
            SQLValue(changeID), SQLValue(id), SQLValue(place), SQLValue(inode: identity?.inode),
            SQLValue(identity?.birth), SQLValue(digest), SQLValue(change), SQLValue(sent),
        ]
    }

    init(_ row: inout RowReader) throws {
        self.init(
            changeID: try row.id(), id: try row.id(), place: try row.optionalText(), identity: try row.identity(),
            digest: try row.optionalDigest(), change: try row.json(), sent: try row.instant())
    }
}

extension Notice: Stored {
    static let table = Table("notices", "time, path, text, undo")

    var columns: [SQLValue] { [SQLValue(time), SQLValue(path), SQLValue(text), SQLValue(undo)] }

    init(_ row: inout RowReader) throws {
        self.init(
            time: try row.instant(), path: try row.text(), text: try row.text(), undo: try row.optionalText())
    }
}

extension FormerPlace: Stored {
    static let table = Table("former_places", #"place, id, since, edited_lately, "values""#)

    var columns: [SQLValue] {
        [SQLValue(place), SQLValue(id), SQLValue(since), SQLValue(wasEditedLately), SQLValue(values)]
    }

    init(_ row: inout RowReader) throws {
        let place = try row.text()
        let id = try row.id()
        let since = try row.instant()
        let wasEditedLately = try row.flag()
        self.init(place: place, id: id, since: since, values: try row.fields(), wasEditedLately: wasEditedLately)
    }
}
