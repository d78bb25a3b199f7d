import Model

/// Who is signed in, as the server says.
public struct Account: Hashable, Sendable {
    public let id: ItemID
    public let email: Text?
    public let isAnonymous: Bool
}

/// Auth (GoTrue) of a project. Wire: https://github.com/supabase/auth (openapi.yaml).
public struct Auth: Sendable {
    private let exchange: Exchange
    private let timing: Timing

    public init(project: Project, transport: any Transport, timing: Timing) {
        exchange = Exchange(project: project, transport: transport)
        self.timing = timing
    }

    public func signIn(email: Text, password: Text) async throws(AuthError) -> Session {
        try session(
            await send(
                "POST", "token?grant_type=password", body: ["email": .string(email), "password": .string(password)]))
    }

    /// A new anonymous user. Not repeated after a failure: each try that got through is one more account.
    public func signUpAnonymously() async throws(AuthError) -> Session {
        try session(await send("POST", "signup", body: [:]))
    }

    /// A new pair of tokens; the old refresh token is used up then. Repeats passing failures with the same token: the
    /// server gives the new pair again where only its answer was lost.
    public func refresh(_ session: Session) async throws(AuthError) -> Session {
        try await Retry(timing: timing).run { () throws(AuthError) in
            do throws(AuthError) {
                let answer = try await send(
                    "POST", "token?grant_type=refresh_token", body: ["refresh_token": .string(session.refreshToken)])
                return .done(try self.session(answer))
            } catch {
                switch error {
                case .passing(_, _, let after): return .passing(error, after: after)
                // A refresh token that is none, as another project's, won't become one.
                case .refused("validation_failed", 400, let message):
                    throw .sessionEnded(code: "validation_failed", message: message)
                default: throw error
                }
            }
        }
    }

    public func user(_ session: Session) async throws(AuthError) -> Account {
        let response = try await send("GET", "user", token: session.accessToken)
        guard let json = try? JSON(parsing: response.body), let id = json["id"]?.text.flatMap({ ItemID($0) }) else {
            throw .garbled(response.bodyInWords)
        }
        let email = json["email"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        return Account(id: id, email: email, isAnonymous: json["is_anonymous"]?.bool ?? false)
    }

    /// Ends the session on the server, or all of this user's. One that is gone already is ended too.
    public func signOut(_ session: Session, everywhere: Bool) async throws(AuthError) {
        do throws(AuthError) {
            _ = try await send("POST", "logout?scope=\(everywhere ? "global" : "local")", token: session.accessToken)
        } catch {
            guard case .refused(_, let status, _) = error, [401, 403, 404].contains(status) else { throw error }
        }
    }

    private func session(_ response: HTTPResponse) throws(AuthError) -> Session {
        guard let json = try? JSON(parsing: response.body) else { throw .garbled(response.bodyInWords) }
        // With confirmation on, a sign-up answers with a bare user.
        if json["access_token"] == nil, json["id"] != nil {
            throw .refused(code: "email_not_confirmed", status: response.status, message: "the address isn't confirmed")
        }
        guard let session = Session(answer: json, now: timing.now()), session.speaksForItsUser else {
            throw .garbled(response.bodyInWords)
        }
        return session
    }

    /// The successful answer of one call.
    private func send(
        _ method: String, _ call: String, body: JSON? = nil, token: Text? = nil
    ) async throws(AuthError) -> HTTPResponse {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await exchange.send(
                method, "/auth/v1/" + call, body: body, token: token,
                headers: ["x-supabase-api-version": "2024-01-01"])
        } catch {
            switch error {
            case .cut: throw .passing(code: nil, message: Text(error.description), after: nil)
            case .garbled(let reason): throw .garbled(reason)
            case .unreachable, .timedOut: throw .unreachable(error.description)
            }
        }
        if response.isSuccess { return response }
        throw AuthError(response, now: timing.now())
    }
}
