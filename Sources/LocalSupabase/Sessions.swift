import Libraries
import Model

/// Sessions and their refresh tokens. A refresh token is used once, with two exceptions that let a client whose answer
/// was lost try again: the parent of the active one, and any one within ten seconds of its use (GoTrue,
/// `tokens/service.go`).
struct Sessions {
    let store: Store
    let call: Call

    /// Microseconds during which a used refresh token may be used again.
    static let reuseInterval: Int64 = 10_000_000

    /// Signs `user` in.
    func begin(_ user: User, method: String) throws -> HTTPResponse {
        let session = call.random.newID()
        let token = call.random.letters(12)
        try store.database.run(
            "insert into sessions values (?, ?, ?, ?)", .text(session), .text(user.id), .text(method),
            .integer(call.now))
        try insert(token, session: session, parent: nil)
        try store.database.run("update users set last_sign_in_at = ? where id = ?", .integer(call.now), .text(user.id))
        var user = user
        user.lastSignInAt = call.now
        return try response(user, session: session, method: method, refreshToken: token)
    }

    /// A new access token for a refresh token, and the refresh token that goes on from here.
    func refresh(_ token: String) throws -> HTTPResponse {
        let isWellFormed =
            token.utf8.count == 12
            && token.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) }
        guard isWellFormed else { throw AuthError(400, "validation_failed", "Refresh token is not valid") }
        // The end of a session is kept though the call fails: so it is answered, not thrown, in the transaction.
        let outcome: Result<HTTPResponse, AuthError> = try store.database.transaction { try rotate(token) }
        return try outcome.get()
    }

    private func rotate(_ token: String) throws -> Result<HTTPResponse, AuthError> {
        let found = try store.database.query(
            """
            select session_id, used_at, user_id, method from refresh_tokens
            join sessions on sessions.id = session_id where token = ?
            """, .text(token)
        ).first
        guard let found, let session = found[0].text, let user = try User.find("id", found[2].text!, in: store) else {
            let message = "Invalid Refresh Token: Refresh Token Not Found"
            return .failure(AuthError(400, "refresh_token_not_found", message))
        }
        let next: String
        if let used = found[1].integer {
            let active = try store.database.query(
                "select token, parent from refresh_tokens where session_id = ? and used_at is null", .text(session))[0]
            guard active[1].text == token || call.now - used < Sessions.reuseInterval else {
                try end(session)
                return .failure(AuthError(400, "refresh_token_already_used", "Invalid Refresh Token: Already Used"))
            }
            next = active[0].text!
        } else {
            next = call.random.letters(12)
            try store.database.run(
                "update refresh_tokens set used_at = ? where token = ?", .integer(call.now), .text(token))
            try insert(next, session: session, parent: token)
        }
        return .success(try response(user, session: session, method: found[3].text!, refreshToken: next))
    }

    func exists(_ session: String) throws -> Bool {
        try !store.database.query("select 1 from sessions where id = ?", .text(session)).isEmpty
    }

    /// Ends this session (`local`), the account's others (`others`), or all (`global`).
    func end(_ scope: String, session: String, of user: User) throws {
        try store.database.transaction {
            let sessions = try store.database.query("select id from sessions where user_id = ?", .text(user.id))
            for other in sessions.map({ $0[0].text! }) {
                if scope == "global" || (scope == "local") == (other == session) { try end(other) }
            }
        }
    }

    private func end(_ session: String) throws {
        try store.database.run("delete from refresh_tokens where session_id = ?", .text(session))
        try store.database.run("delete from sessions where id = ?", .text(session))
    }

    private func insert(_ token: String, session: String, parent: String?) throws {
        try store.database.run(
            "insert into refresh_tokens values (?, ?, ?, ?, null)", .text(token), .text(session), SQLValue(parent),
            .integer(call.now))
    }

    private func response(
        _ user: User, session: String, method: String, refreshToken: String
    ) throws -> HTTPResponse {
        let second = call.now / 1_000_000
        let token = AccessToken(user: user, session: session, method: method, second: second)
        return .json(
            200,
            [
                "access_token": .string(Text(token.signed(secret: try store.secret()))), "token_type": "bearer",
                "expires_in": .integer(AccessToken.lifetime), "expires_at": .integer(second + AccessToken.lifetime),
                "refresh_token": .string(Text(refreshToken)), "user": user.json,
            ],
            headers: ["sb-auth-user-id": user.id, "sb-auth-session-id": session])
    }
}
