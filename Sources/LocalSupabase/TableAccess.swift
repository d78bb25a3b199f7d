import Libraries
import Model

/// One call on a table by a signed-in user.
struct TableAccess {
    let store: Store
    let call: Call
    let user: String
    let query: TableQuery
    let preferences: Preferences
    let isSingular: Bool

    /// The most rows that a read answers with; more are left out without a sign (`db-max-rows`).
    static let maximumRows = 1000

    func read() throws -> HTTPResponse {
        let (condition, values) = query.condition(user: user)
        let order = query.order.isEmpty ? "" : " order by " + query.order.joined(separator: ", ")
        let limit = min(query.limit ?? .max, TableAccess.maximumRows)
        let (rows, total) = try store.read {
            let rows = try store.rows(
                query.table, condition + order + " limit ? offset ?",
                values + [.integer(Int64(limit)), .integer(Int64(query.offset))])
            let counts = try preferences.count.map { _ in
                try store.database.query("select count(*) from \(query.table.name) where \(condition)", values)
            }
            return (rows, counts.map { Int($0[0][0].integer!) })
        }
        var status = 200
        if let total {
            if query.offset > total {
                var response = RestError.range(
                    "An offset of \(query.offset) was requested, but there are only \(total) rows."
                ).response
                response.headers["content-range"] = "*/\(total)"
                return response
            }
            if rows.count < total { status = 206 }
        }
        let range = rows.isEmpty ? "*" : "\(query.offset)-\(query.offset + rows.count - 1)"
        var response = try answer(rows, status: isSingular ? 200 : status)
        response.headers["content-range"] = range + "/" + (total.map(String.init) ?? "*")
        response.headers["content-location"] = location
        return response
    }

    /// Inserts one row or many; with `resolution` rows that are there already are merged or passed over.
    func insert(_ body: JSON) throws -> HTTPResponse {
        let rows = try Payload(body, query: query, preferences: preferences)
        return try store.write(user: user, now: call.now) { write in
            var written: [Row] = []
            var inserted = 0
            var seen: Set<String> = []
            for object in rows.objects {
                let row = try rows.row(object, access: self)
                guard row.owner == user else { throw RestError.rowSecurity(query.table) }
                // A row to be merged is checked as if it were new, too.
                try write.checkNulls(row)
                let found = preferences.resolution == nil ? nil : try store.row(query.table, id: row.id)
                guard let found else {
                    seen.insert(row.id)
                    written.append(try write.insert(row))
                    inserted += 1
                    continue
                }
                if preferences.resolution == .ignore { continue }
                guard seen.insert(row.id).inserted else { throw TableAccess.twice }
                guard found.owner == user else { throw RestError.rowSecurity(query.table, using: true) }
                var merged = found
                for position in rows.positions { merged.values[position] = row.values[position] }
                written.append(try write.update(found, to: merged, by: .plain))
            }
            let merges = preferences.resolution == .merge
            var response = try changed(written, status: merges && inserted == 0 ? 200 : 201, quiet: nil)
            response.headers["content-range"] = "*/" + (preferences.count == nil ? "*" : String(written.count))
            if preferences.returning == .headersOnly, written.count == 1 {
                response.headers["location"] = "/\(query.table.name)?id=eq.\(written[0].id)"
            }
            return response
        }
    }

    private static let twice = RestError(
        "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time",
        hint: "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")

    /// Changes the live rows that the filters choose.
    func update(_ body: JSON) throws -> HTTPResponse {
        let payload = try Payload(body, query: query, preferences: preferences)
        guard let object = payload.objects.first, !payload.positions.isEmpty else {
            return try ranged(try changed([], status: 200, quiet: 204), count: 0)
        }
        try requireFilter("UPDATE")
        let new = try payload.values(object)
        return try store.write(user: user, now: call.now) { write in
            let rows = try chosenRows()
            let written = try rows.map { row in
                var proposed = row
                for (position, value) in new { proposed.values[position] = value }
                return try write.update(row, to: proposed, by: .plain)
            }
            try checkAffected(written.count)
            return try ranged(try changed(written, status: 200, quiet: 204), count: written.count)
        }
    }

    /// Makes tombstones of the live rows that the filters choose. A trigger turns the deletion into an update, so
    /// PostgREST sees no row go: the answer is empty whatever was deleted.
    func delete() throws -> HTTPResponse {
        try requireFilter("DELETE")
        // Nobody has the right to.
        if query.table === Table.profiles { throw RestError("42501", "permission denied for table profiles") }
        return try store.write(user: user, now: call.now) { write in
            for row in try chosenRows() {
                // A task that went before may have taken the photo along.
                if let current = try store.row(query.table, id: row.id), !current.isTombstone {
                    _ = try write.delete(current, by: .plain)
                }
            }
            var response = try changed([], status: 200, quiet: 204)
            response.headers["content-range"] = "*/" + (preferences.count == nil ? "*" : "0")
            return response
        }
    }

    private func chosenRows() throws -> [Row] {
        let (condition, values) = query.condition(user: user)
        return try store.rows(query.table, condition + " order by change_seq", values)
    }

    private func requireFilter(_ word: String) throws(RestError) {
        if query.filters.isEmpty { throw RestError("21000", "\(word) requires a WHERE clause") }
    }

    private func checkAffected(_ count: Int) throws(RestError) {
        guard preferences.isStrict, let most = preferences.maxAffected, count > most else { return }
        throw RestError(
            "PGRST124", "Query result exceeds max-affected preference constraint",
            details: "The query affects \(count) rows")
    }

    /// The answer to a write: the rows where they are wanted, else nothing (with the status `quiet`, if it has one).
    private func changed(_ rows: [Row], status: Int, quiet: Int?) throws -> HTTPResponse {
        if preferences.returning == .representation { return try answer(rows, status: status) }
        if isSingular, rows.count != 1 { throw TableAccess.notSingular(rows.count) }
        return HTTPResponse(status: quiet ?? status)
    }

    private func ranged(_ response: HTTPResponse, count: Int) throws -> HTTPResponse {
        var response = response
        let total = preferences.count == nil ? "*" : String(count)
        response.headers["content-range"] = (count == 0 ? "*" : "0-\(count - 1)") + "/" + total
        return response
    }

    private func answer(_ rows: [Row], status: Int) throws -> HTTPResponse {
        var out: [UInt8] = []
        var type = "application/json; charset=utf-8"
        if isSingular {
            guard rows.count == 1 else { throw TableAccess.notSingular(rows.count) }
            query.write(rows[0], into: &out)
            type = "application/vnd.pgrst.object+json; charset=utf-8"
        } else {
            out.append(UInt8(ascii: "["))
            for (index, row) in rows.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                query.write(row, into: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        return HTTPResponse(status: status, headers: ["content-type": type], body: out)
    }

    private static func notSingular(_ count: Int) -> RestError {
        RestError(
            "PGRST116", "Cannot coerce the result to a single JSON object",
            details: "The result contains \(count) rows")
    }

    /// The header `content-location`: the parameters in the order of their names.
    private var location: String {
        let pairs = call.query.parameters.filter { $0.name != "apikey" }
            .map { "\(Query.encode($0.name))=\(Query.encode($0.value))" }.sorted()
        return "/" + query.table.name + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}
