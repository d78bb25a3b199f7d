import Model
import PostgreSQL
import RequestLists
import Testing

/// Runs the steps of request lists against the SQL: functions as functions, requests to tables as the statements that
/// PostgREST makes of them. Headers of answers, and what PostgREST answers without asking the database, are not the
/// SQL's: such steps are counted in `notRun`.
final class RequestBench {
    struct Reply {
        var status: Int
        var body: JSON = .null
    }

    let database: Database
    private var clients: [String: Client] = [:]
    private var names = Names()
    /// The numbers of the steps that were left out, with the reason.
    private(set) var notRun: [Int: String] = [:]

    init() throws {
        database = try Cluster.shared().lendDatabase()
        for user in ["ann", "ben"] {
            let id = try database.addUser(user)
            names.values[user] = .string(Text(id))
            clients[user] = try database.client(id)
        }
        clients["nobody"] = try database.client(nil)
    }

    deinit { try? database.giveBack() }

    func run(_ scenario: Scenario) throws {
        for (index, step) in scenario.steps.enumerated() where step["wait"] == nil {
            let reply: Reply
            do {
                reply = try send(step)
            } catch let error as NotSQL {
                notRun[index + 1] = error.reason
                continue
            }
            let told =
                "step \(index + 1) of “\(scenario)”: \(reply.status) \(reply.body.serializedText.string.prefix(2000))"
            #expect(reply.status == Int(step["status"]?.integer ?? 200), "\(told)")
            if let pattern = step["answer"] {
                let problem = names.mismatch(withAnyTime(pattern), reply.body)
                #expect(problem == nil, "\(told)")
            }
        }
    }

    private func send(_ step: JSON) throws -> Reply {
        if let code = step["answer"]?["code"]?.text?.string, code.hasPrefix("PGRST"), code != "PGRST116" {
            throw NotSQL("PostgREST answers \(code) itself")
        }
        if step["headers"]?["authorization"] != nil || step["headers"]?["apikey"] != nil {
            throw NotSQL("the gateway and PostgREST read keys and tokens")
        }
        let user = step["as"].map { $0.text?.string ?? "nobody" } ?? "ann"
        let client = clients[user]!
        do {
            return try send(step, client)
        } catch let error as PostgreSQLError {
            return Reply(status: status(of: error, isAnonymous: client.user == nil), body: body(of: error))
        }
    }

    private func send(_ step: JSON, _ client: Client) throws -> Reply {
        if let changes = step["push"] {
            return try call("push_changes", JSON.object(["changes": names.filled(changes)]).serializedText, client)
        }
        if let arguments = step["pull"] {
            return try call("pull_changes", names.filled(arguments).serializedText, client)
        }
        let words = names.filled(step["call"]!.text!.string).split(separator: " ", maxSplits: 1).map(String.init)
        let raw = step["raw"]?.text ?? step["body"].map { names.filled($0).serializedText }
        if words[1].hasPrefix("/rpc/") {
            let parts = words[1].dropFirst(5).split(separator: "?").map(String.init)
            let arguments = raw ?? (parts.count == 2 ? queryArguments(parts[1]) : "{}")
            return try call(parts[0], arguments, client, readOnly: words[0] == "GET")
        }
        let query = try RestQuery(words[0], words[1])
        var headers: [String: String] = [:]
        for (name, value) in step["headers"]?.object ?? [:] { headers[name.string] = value.text?.string }
        return try client.request(readOnly: words[0] == "GET") {
            try RestStatement(query, headers: headers, body: raw, on: $0).run()
        }
    }

    /// Calls a function with named arguments out of a JSON object, in a read-only transaction where it isn't volatile
    /// or the request was a GET.
    private func call(
        _ function: String, _ arguments: Text, _ client: Client, readOnly: Bool = false
    ) throws -> Reply {
        let facts = try client.connection.run(
            """
            select provolatile = 'v', proretset, coalesce(string_agg(quote_ident(n) || ' ' || format_type(t, null), ', '), '')
            from pg_proc left join unnest(proargnames, proargtypes::oid[]) as a (n, t) on t is not null
            where pronamespace = 'public'::regnamespace and proname = $1 group by pg_proc.oid
            """, function)
        guard let row = facts.rows.first else { throw NotSQL("there is no function \(function)") }
        let given = try JSON(parsing: arguments).object!.keys.map { name($0.string) }.sorted()
        let values = given.map { "\($0) => a.\($0)" }.joined(separator: ", ")
        let types = row[2].text!
        let source = types.isEmpty ? "" : " from json_to_record($1) as a (\(types))"
        let aggregate = row[1].text == "t" ? "coalesce(json_agg(s), '[]')" : "coalesce(json_agg(s) -> 0, 'null')"
        let sql = "select \(aggregate) from (select public.\(name(function))(\(values)) as s\(source)) as t"
        let answer = try client.request(readOnly: readOnly || row[0].text != "t") {
            try $0.run(sql, parameters: types.isEmpty ? [] : [arguments.string])
        }
        return Reply(status: 200, body: try JSON(parsing: Text(answer.first!)))
    }

    /// `since=0&max_rows=1` as an object of texts.
    private func queryArguments(_ query: String) -> Text {
        let pairs = query.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1)
            return (Text(percentDecoded(halves[0])), JSON.string(Text(percentDecoded(halves[1]))))
        }
        return JSON.object(Dictionary(uniqueKeysWithValues: pairs)).serializedText
    }

    private func body(of error: PostgreSQLError) -> JSON {
        [
            "code": .string(Text(error.sqlstate)), "message": .string(Text(error.message)),
            "details": error.detail.map { .string(Text($0)) } ?? .null,
            "hint": error.hint.map { .string(Text($0)) } ?? .null,
        ]
    }

    /// PostgREST's table from SQLSTATE to HTTP status, as far as the lists go.
    private func status(of error: PostgreSQLError, isAnonymous: Bool) -> Int {
        switch error.sqlstate {
        case "PGRST116": 406
        case "23503", "23505": 409
        case "42501": isAnonymous ? 401 : 403
        case "42883", "42P01": 404
        case "25006": 405
        case "21000", "42P17": 500
        case let code where ["40", "53", "54", "55", "57", "XX"].contains(code.prefix(2)): 500
        default: 400
        }
    }
}
