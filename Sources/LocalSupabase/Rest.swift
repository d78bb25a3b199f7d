import Libraries
import Model

/// The calls under `/rest/v1`, as PostgREST answers them.
struct Rest {
    let store: Store
    let call: Call

    func answer(path: [String]) -> HTTPResponse {
        var user: String?
        do {
            user = try caller()
            switch (path.count, path.first) {
            case (2, "rpc"): return try function(path[1], user: user)
            case (1, let name?):
                guard let table = Table.named(name) else {
                    throw RestError("PGRST205", "Could not find the table 'public.\(name)' in the schema cache")
                }
                return try answer(table, user: user)
            default: throw RestError("PGRST125", "Invalid path specified in request URL")
            }
        } catch var error as RestError {
            error.anonymous = user == nil
            return error.response
        } catch let error as SQLiteError where error.isBusy {
            return RestError("55P03", "canceling statement due to lock timeout").response
        } catch {
            return RestError("XX000", "\(error)").response
        }
    }

    /// The user of the access token; nil for the anonymous role. A token is taken 30 s longer than it says.
    private func caller() throws -> String? {
        guard let bearer = call.bearer, !bearer.hasPrefix("sb_") else { return nil }
        let token: AccessToken
        do {
            token = try AccessToken(bearer, secret: try store.secret())
        } catch AccessToken.Failure.parts(let count) {
            throw RestError("PGRST301", "Expected 3 parts in JWT; got \(count)")
        } catch is AccessToken.Failure {
            throw RestError(
                "PGRST301", "No suitable key or wrong key type",
                details: "None of the keys was able to decode the JWT")
        }
        if call.tokensExpired || token.isExpired(at: call.now / 1_000_000, leeway: 30) {
            throw RestError("PGRST303", "JWT expired")
        }
        guard token.role == "authenticated", let user = token.user else {
            throw RestError("22023", "role \"\(token.role ?? "")\" does not exist")
        }
        return user
    }

    private func answer(_ table: Table, user: String?) throws -> HTTPResponse {
        let preferences = try Preferences(header: call.request.headers["prefer"])
        let query = try TableQuery(table, call)
        let isSingular = try singular()
        guard let user else { throw RestError("42501", "permission denied for table \(table.name)") }
        let access = TableAccess(
            store: store, call: call, user: user, query: query, preferences: preferences, isSingular: isSingular)
        var response: HTTPResponse
        switch call.request.method {
        case "GET", "HEAD": response = try access.read()
        case "POST": response = try access.insert(try body())
        case "PATCH": response = try access.update(try body())
        case "DELETE": response = try access.delete()
        case let method: throw RestError("PGRST117", "Unsupported HTTP method: \(method)")
        }
        response.headers["preference-applied"] = preferences.applied(to: call.request.method)
        response.headers["content-profile"] = "public"
        return response
    }

    /// Whether the caller accepts one bare object alone.
    private func singular() throws -> Bool {
        guard let accept = call.request.headers["accept"] else { return false }
        let types = accept.split(separator: ",").map { $0.split(separator: ";")[0].filter { $0 != " " } }
        if types.contains("application/vnd.pgrst.object+json") { return true }
        let known = ["*/*", "application/*", "application/json", "application/vnd.pgrst.array+json"]
        guard types.contains(where: known.contains) else {
            throw RestError("PGRST107", "None of these media types are available: \(accept)")
        }
        return false
    }

    private func body() throws(RestError) -> JSON {
        guard let body = try? JSON(parsing: call.request.body) else {
            throw RestError("PGRST102", "Empty or invalid json")
        }
        if body.holdsNUL {
            throw RestError(
                "22P05", "unsupported Unicode escape sequence", details: "\\u0000 cannot be converted to text.")
        }
        return body
    }

    private func function(_ name: String, user: String?) throws -> HTTPResponse {
        let arguments: [Text: JSON]
        switch call.request.method {
        case "POST": arguments = call.request.body.isEmpty ? [:] : try body().object ?? [:]
        case "GET", "HEAD":
            let pairs = call.query.parameters.filter { $0.name != "apikey" }.map { name, value in
                (Text(name), (try? JSON(parsing: Text(value))) ?? .string(Text(value)))
            }
            arguments = Dictionary(pairs, uniquingKeysWith: { $1 })
        case let method: throw RestError("PGRST101", "Cannot use the \(method) method on RPC")
        }
        let signature = try Functions.named(name, arguments: Set(arguments.keys))
        guard let user else { throw RestError("42501", "permission denied for function \(name)") }
        if call.request.method != "POST", signature.writes {
            throw RestError("25006", "cannot execute UPDATE in a read-only transaction")
        }
        _ = try JSON.object(arguments).normalized()
        let result = try signature.run(Functions(store: store, user: user, now: call.now), arguments)
        let headers = [
            "content-type": "application/json; charset=utf-8", "content-range": "0-0/*", "content-profile": "public",
        ]
        return HTTPResponse(status: 200, headers: headers, body: result)
    }
}
