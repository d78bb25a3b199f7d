import Model

/// A failure of a REST call: the four members of PostgREST's error body, and the status that goes with its code.
struct RestError: Error, Equatable {
    /// An SQLSTATE, `PGRST…` or `OT…`.
    let code: String
    let message: String
    var details: String?
    var hint: String?
    /// The request came without a session.
    var anonymous = false

    init(_ code: String, _ message: String, details: String? = nil, hint: String? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// The HTTP status of a code (PostgREST, `Error.hs`).
    var status: Int {
        switch code {
        case "PGRST103": 416
        case "PGRST101", "PGRST105", "PGRST117", "25006": 405
        case "PGRST107", "PGRST116": 406
        case "PGRST125", "PGRST202", "PGRST205", "42P01", "42883": 404
        case "PGRST301", "PGRST303": 401
        case "23505", "23503": 409
        case "42501": anonymous ? 401 : 403
        case "21000": message.hasSuffix("requires a WHERE clause") ? 400 : 500
        case "22023": message.hasPrefix("role ") ? 401 : 400
        default: code.hasPrefix("55") || code.hasPrefix("XX") || code.hasPrefix("40") ? 500 : 400
        }
    }

    var response: HTTPResponse {
        var headers = ["proxy-status": "PostgREST; error=\(code)"]
        if code == "PGRST301" || code == "PGRST303" {
            headers["www-authenticate"] = "Bearer error=\"invalid_token\", error_description=\"\(message)\""
        } else if status == 401 {
            headers["www-authenticate"] = "Bearer"
        }
        func text(_ text: String?) -> JSON { text.map { .string(Text($0)) } ?? .null }
        var response = HTTPResponse.json(
            status, ["code": text(code), "message": text(message), "details": text(details), "hint": text(hint)],
            headers: headers)
        response.headers["content-type"] = "application/json; charset=utf-8"
        return response
    }

    /// `push_changes` answers this for the one change; all other codes fail the whole call (server.md, *Functions*).
    var concernsOneChange: Bool {
        ["22", "23", "42", "44", "54", "P0", "OT"].contains { code.hasPrefix($0) }
    }
}
