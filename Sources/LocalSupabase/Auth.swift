import Libraries
import Model

/// The calls under `/auth/v1`, as GoTrue answers them.
struct Auth {
    let store: Store
    let call: Call

    func answer(path: [String]) -> HTTPResponse {
        do {
            switch (call.request.method, path.joined(separator: "/")) {
            case ("GET", "health"): return .json(200, Auth.health)
            case ("GET", "settings"): return .json(200, Auth.settings)
            case ("POST", "signup"): return try signUp()
            case ("POST", "token"): return try token()
            case ("GET", "user"): return .json(200, try signedIn().user.json)
            case ("POST", "logout"): return try logOut()
            default:
                return HTTPResponse(
                    status: 404, headers: ["content-type": "text/plain; charset=utf-8"],
                    body: Array("404 page not found\n".utf8))
            }
        } catch let error as AuthError {
            return error.response(to: call.request)
        } catch {
            return AuthError(500, "unexpected_failure", "\(error)").response(to: call.request)
        }
    }

    private static let health: JSON = [
        "version": "v2.196.0", "name": "GoTrue", "description": "GoTrue is a user registration and authentication API",
    ]

    private static let settings: JSON = [
        "external": ["anonymous_users": true, "email": true, "phone": false], "disable_signup": false,
        "mailer_autoconfirm": true, "phone_autoconfirm": false, "sms_provider": "", "saml_enabled": false,
        "passkeys_enabled": false,
    ]

    private func body() throws(AuthError) -> [Text: JSON] {
        if call.request.body.isEmpty { return [:] }
        do {
            return try JSON(parsing: call.request.body).object ?? [:]
        } catch {
            throw AuthError(400, "bad_json", "Could not parse request body as JSON: \(error.reason)")
        }
    }

    /// Makes an account and signs in: an anonymous one where neither email nor password is given.
    private func signUp() throws -> HTTPResponse {
        let body = try body()
        let metadata = body["data"]?.object ?? [:]
        let email = body["email"]?.text?.string.lowercased() ?? ""
        let password = body["password"]?.text?.string ?? ""
        let isAnonymous = email.isEmpty && password.isEmpty
        if !isAnonymous { try check(email: email, password: password) }
        let salt = isAnonymous ? nil : call.random.bytes(16)
        let user = User(
            id: call.random.newID(), email: isAnonymous ? nil : email, salt: salt,
            password: salt.map { Password.derive(password, salt: $0) },
            identity: isAnonymous ? nil : call.random.newID(), metadata: metadata, createdAt: call.now,
            updatedAt: call.now, lastSignInAt: call.now)
        return try store.write(user: user.id, now: call.now) { write in
            if !isAnonymous, try User.find("email", email, in: store) != nil {
                throw AuthError(422, "user_already_exists", "User already registered")
            }
            try write.addUser(user)
            return try Sessions(store: store, call: call).begin(user, method: isAnonymous ? "anonymous" : "password")
        }
    }

    private func check(email: String, password: String) throws(AuthError) {
        if password.isEmpty { throw AuthError(400, "validation_failed", "Signup requires a valid password") }
        let sides = email.split(separator: "@", omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty, sides[1].contains("."), !email.contains(where: \.isWhitespace) else {
            throw AuthError(400, "validation_failed", "Unable to validate email address: invalid format")
        }
        if password.unicodeScalars.count < 6 {
            throw AuthError(
                422, "weak_password", "Password should be at least 6 characters.",
                more: ["weak_password": ["reasons": ["length"]]])
        }
    }

    private func token() throws -> HTTPResponse {
        let body = try body()
        switch call.query["grant_type"] {
        case "password":
            let email = body["email"]?.text?.string.lowercased() ?? ""
            guard let user = try User.find("email", email, in: store),
                user.accepts(password: body["password"]?.text?.string ?? "")
            else { throw AuthError(400, "invalid_credentials", "Invalid login credentials") }
            return try store.database.transaction {
                try Sessions(store: store, call: call).begin(user, method: "password")
            }
        case "refresh_token":
            return try Sessions(store: store, call: call).refresh(body["refresh_token"]?.text?.string ?? "")
        default: throw AuthError(400, "invalid_credentials", "unsupported_grant_type")
        }
    }

    /// The account and the session that the request's access token names.
    private func signedIn() throws -> (user: User, session: String) {
        guard let bearer = call.bearer else {
            throw AuthError(401, "no_authorization", "This endpoint requires a valid Bearer token")
        }
        func bad(_ reason: String) -> AuthError {
            AuthError(403, "bad_jwt", "invalid JWT: unable to parse or verify signature, " + reason)
        }
        let token: AccessToken
        do {
            token = try AccessToken(bearer, secret: try store.secret())
        } catch AccessToken.Failure.parts {
            throw bad("token is malformed: token contains an invalid number of segments")
        } catch AccessToken.Failure.malformed {
            throw bad("token is malformed: could not base64 decode claim")
        } catch AccessToken.Failure.signature {
            throw bad("token signature is invalid: signature is invalid")
        }
        if call.tokensExpired || token.isExpired(at: call.now / 1_000_000, leeway: 0) {
            throw bad("token has invalid claims: token is expired")
        }
        guard let id = token.user else { throw AuthError(403, "bad_jwt", "invalid claim: missing sub claim") }
        guard let user = try User.find("id", id, in: store) else {
            throw AuthError(403, "user_not_found", "User from sub claim in JWT does not exist")
        }
        guard let session = token.session, try Sessions(store: store, call: call).exists(session) else {
            throw AuthError(403, "session_not_found", "Session from session_id claim in JWT does not exist")
        }
        return (user, session)
    }

    private func logOut() throws -> HTTPResponse {
        let scope = call.query["scope"] ?? "global"
        guard ["global", "local", "others"].contains(scope) else {
            throw AuthError(400, "validation_failed", "Unsupported logout scope \"\(scope)\"")
        }
        let (user, session) = try signedIn()
        try Sessions(store: store, call: call).end(scope, session: session, of: user)
        return HTTPResponse(status: 204)
    }
}

/// A failure of an Auth call.
struct AuthError: Error {
    let status: Int
    let code: String
    let message: String
    let more: [Text: JSON]

    init(_ status: Int, _ code: String, _ message: String, more: [Text: JSON] = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.more = more
    }

    /// In the shape that the request asks for: the older one has the status as `code`.
    func response(to request: HTTPRequest) -> HTTPResponse {
        let code = JSON.string(Text(self.code))
        let message = JSON.string(Text(self.message))
        let version = request.headers["x-supabase-api-version"]
        let isNewer = version.map { $0 >= "2024-01-01" } ?? false
        let body: [Text: JSON] =
            isNewer
            ? ["code": code, "message": message] : ["code": .integer(status), "error_code": code, "msg": message]
        var headers = ["x-sb-error-code": self.code]
        if isNewer { headers["x-supabase-api-version"] = "2024-01-01" }
        return .json(status, .object(body.merging(more) { $1 }), headers: headers)
    }
}

extension Store {
    /// What access tokens are signed with.
    func secret() throws -> [UInt8] { try meta("jwt_secret")?.blob ?? [] }
}
