import Model
import PostgreSQL

/// One statement for a request to a table, run as PostgREST runs it: the answer is aggregated in the statement itself,
/// and without `return=representation` no column is asked back, so that no policy for reading applies.
struct RestStatement {
    let query: RestQuery
    let preferences: Set<String>
    let wantsOne: Bool
    let body: Text?
    let connection: Connection

    init(_ query: RestQuery, headers: [String: String], body: Text?, on connection: Connection) throws(NotSQL) {
        self.query = query
        self.body = body
        self.connection = connection
        preferences = Set((headers["prefer"] ?? "").split(separator: ",").map { String($0) })
        wantsOne = headers["accept"]?.contains("pgrst.object") == true
        if preferences.contains("missing=default") { throw NotSQL("PostgREST fills in defaults") }
        if query.method == "GET", headers["range"] != nil || preferences.contains("count=exact") {
            throw NotSQL("PostgREST pages and counts")
        }
    }

    private var wantsRows: Bool { preferences.contains("return=representation") }

    func run() throws -> RequestBench.Reply {
        switch query.method {
        case "GET":
            let order = query.order.map { " order by \($0)" } ?? ""
            let rows =
                "select \(query.answered) from public.\(query.table)\(query.whereClause)\(order)\(query.limit ?? "")"
            return try reply(200, "select coalesce(json_agg(t), '[]') from (\(rows)) as t")
        case "POST": return try insert()
        case "PATCH": return try change(try update())
        default: return try change("delete from public.\(query.table)")
        }
    }

    private func insert() throws -> RequestBench.Reply {
        let parsed = try JSON(parsing: body ?? "null")
        let rows = parsed.array ?? [parsed]
        if rows.isEmpty { return RequestBench.Reply(status: 201, body: .array([])) }
        let columns = query.bodyColumns ?? rows[0].object!.keys.map(\.string).sorted()
        let list = columns.map(name).joined(separator: ", ")
        let read = parsed.array == nil ? "json_to_record" : "json_to_recordset"
        var sql =
            "insert into public.\(query.table) (\(list)) select \(list) from \(read)($1) as b (\(try typed(columns)))"
        let merges = preferences.contains("resolution=merge-duplicates")
        if merges || preferences.contains("resolution=ignore-duplicates") {
            let sets = columns.map { "\(name($0)) = excluded.\(name($0))" }.joined(separator: ", ")
            sql += " on conflict (\(query.conflict ?? "id")) do \(merges ? "update set \(sets)" : "nothing")"
        }
        guard wantsRows else {
            try connection.run(sql, body!.string)
            return RequestBench.Reply(status: 201)
        }
        sql = """
            with source as (\(sql) returning *, xmax = 0 as "is new")
            select coalesce(json_agg(t), '[]'), exists (select from source where "is new")
            from (select \(query.answered) from source\(query.order.map { " order by \($0)" } ?? "")) as t
            """
        let answer = try connection.run(sql, body!.string)
        let isNew = answer.rows[0][1].text == "t" || !merges
        return try one(RequestBench.Reply(status: isNew ? 201 : 200, body: try JSON(parsing: Text(answer.first!))))
    }

    private func update() throws -> String {
        let columns = try JSON(parsing: body!).object!.keys.map(\.string).sorted()
        if columns.isEmpty { throw NotSQL("PostgREST answers an empty patch itself") }
        let sets = columns.map { "\(name($0)) = b.\(name($0))" }.joined(separator: ", ")
        return "update public.\(query.table) set \(sets) from json_to_record($1) as b (\(try typed(columns)))"
    }

    private func change(_ statement: String) throws -> RequestBench.Reply {
        if query.conditions.isEmpty { throw NotSQL("the extension pg-safeupdate refuses it") }
        guard wantsRows else {
            try connection.run(statement + query.whereClause, parameters: body.map { [$0.string] } ?? [])
            return RequestBench.Reply(status: 204)
        }
        let sql = """
            with source as (\(statement)\(query.whereClause) returning public.\(query.table).*)
            select coalesce(json_agg(t), '[]') from (select \(query.answered) from source) as t
            """
        return try reply(200, sql)
    }

    private func reply(_ status: Int, _ sql: String) throws -> RequestBench.Reply {
        let answer = try connection.run(sql, parameters: sql.contains("$1") ? [body!.string] : [])
        return try one(RequestBench.Reply(status: status, body: try JSON(parsing: Text(answer.first!))))
    }

    /// Where one object was asked for: that object, or a refusal that undoes the request.
    private func one(_ reply: RequestBench.Reply) throws -> RequestBench.Reply {
        guard wantsOne, let rows = reply.body.array else { return reply }
        guard rows.count == 1 else {
            throw PostgreSQLError(
                sqlstate: "PGRST116", message: "Cannot coerce the result to a single JSON object",
                detail: "The result contains \(rows.count) rows")
        }
        return RequestBench.Reply(status: reply.status, body: rows[0])
    }

    /// `"id" uuid, "title" text`: the types that the table's columns have.
    private func typed(_ columns: [String]) throws -> String {
        let answer = try connection.run(
            "select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = $1::regclass and attnum > 0",
            "public." + query.table)
        let types = Dictionary(uniqueKeysWithValues: answer.rows.map { ($0[0].text!, $0[1].text!) })
        return columns.map { "\(name($0)) \(types[$0]!)" }.joined(separator: ", ")
    }
}
