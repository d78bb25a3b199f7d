import Model

/// The functions of the database that sync is made of, called with a session.
///
/// No data request goes out with the project's key alone: an anonymous answer could be an empty one, and silence must
/// not be mistaken for an empty account.
public struct SyncService: Sendable {
    private let exchange: Exchange
    private let sessions: SessionKeeper
    private let timing: Timing

    public init(project: Project, sessions: SessionKeeper, transport: any Transport, timing: Timing) {
        exchange = Exchange(project: project, transport: transport)
        self.sessions = sessions
        self.timing = timing
    }

    /// A page of the change feed behind the cursor `since`: at most so many rows and bytes, but at least one row.
    /// `inFlight` are change ids whose answers never came.
    public func pullChanges(
        since: Int64, maxRows: Int = 1_000, maxBytes: Int = 4 << 20, inFlight: [ItemID] = []
    ) async throws(ServiceError) -> FeedPage {
        let arguments: JSON = [
            "since": .integer(since), "max_rows": .integer(maxRows), "max_bytes": .integer(maxBytes),
            "in_flight": .array(inFlight.map { .string($0.text) }),
        ]
        let answer = try await repeatedly("pull_changes", arguments, timeoutsToo: true)
        let page: FeedPage
        do throws(RowError) { page = try FeedPage(json: answer, since: since) } catch {
            throw .garbled(error.description)
        }
        guard page.userID == sessions.account else { throw .otherAccount }
        return page
    }

    /// Sends one batch, and gives its answers in its order. Repeated safely: a change that got through is answered as
    /// applied, not applied again.
    public func pushChanges(_ changes: [Change]) async throws(ServiceError) -> [ChangeAnswer] {
        // A statement that took too long would do so again: half a batch may not.
        let json = try await repeatedly(
            "push_changes", ["changes": .array(changes.map(\.json))], timeoutsToo: false)
        do throws(RowError) {
            guard let array = json.array else { throw RowError("answer", expected: "a list") }
            var answers: [ChangeAnswer] = []
            for json in array {
                var answer = try ChangeAnswer(json: json)
                // As in the feed: a row of another user is dropped, whatever the project's policies let through.
                if let owner = answer.row?["user_id"], owner != .string(sessions.account.text) { answer.row = nil }
                answers.append(answer)
            }
            guard answers.map(\.changeID) == changes.map(\.changeID) else {
                throw RowError("answer", expected: "one for each change, in their order")
            }
            return answers
        } catch {
            throw .garbled(error.description)
        }
    }

    /// Calls any function of the database, once: what it does may not bear repeating. Null where it answers nothing.
    public func call(_ function: Text, _ arguments: JSON) async throws(ServiceError) -> JSON {
        switch try await attemptWithSession(function, arguments) {
        case .answered(let json): return json
        case .failed(let failure): throw failure.error
        }
    }

    /// Calls a function that may be repeated after a passing failure.
    private func repeatedly(
        _ function: Text, _ arguments: JSON, timeoutsToo: Bool
    ) async throws(ServiceError) -> JSON {
        try await Retry(timing: timing).run { () async throws(ServiceError) in
            switch try await attemptWithSession(function, arguments) {
            case .answered(let json): return .done(json)
            case .failed(let failure):
                switch failure {
                case .passing(_, _, let after): return .passing(failure.error, after: after)
                case .timeout(let code, _, let message) where timeoutsToo:
                    return .passing(.passing(code: code, message: message), after: nil)
                default: throw failure.error
                }
            }
        }
    }

    /// One request, and a second one with a refreshed session where the server doesn't take the first one's.
    private func attemptWithSession(_ function: Text, _ arguments: JSON) async throws(ServiceError) -> Attempt {
        let session = try await sessions.current()
        let attempt = try await attempt(function, arguments, session)
        if case .failed(.final(.accountGone)) = attempt { await sessions.abandon() }
        guard case .failed(.session) = attempt else { return attempt }
        return try await self.attempt(function, arguments, try await sessions.renewed(after: session))
    }

    private enum Attempt: Sendable {
        case answered(JSON)
        case failed(Failure)
    }

    /// One request and its answer.
    private func attempt(
        _ function: Text, _ arguments: JSON, _ session: Session
    ) async throws(ServiceError) -> Attempt {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await exchange.send(
                "POST", "/rest/v1/rpc/" + function.percentEncoded, body: arguments, token: session.accessToken)
        } catch {
            // After a cut the request may have been carried out; repeating it is safe, and tells.
            switch error {
            case .cut: return .failed(.passing(code: nil, message: Text(error.description), after: nil))
            case .garbled(let reason): throw .garbled(reason)
            case .unreachable, .timedOut: throw .unreachable(error.description)
            }
        }
        guard response.isSuccess else { return .failed(Failure(response, now: timing.now())) }
        if response.status == 204 { return .answered(.null) }
        guard let json = try? JSON(parsing: response.body) else { throw .garbled(response.bodyInWords) }
        return .answered(json)
    }
}

extension Text {
    /// For one component of a path (RFC 3986, section 2.3: all but the unreserved bytes are encoded).
    var percentEncoded: String {
        let hex = Array("0123456789ABCDEF")
        return utf8.reduce(into: "") { out, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                out += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
            }
        }
    }
}
