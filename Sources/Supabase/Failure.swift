import Model

/// What a data request's error answer means. PostgREST answers 500 both for what passes and for what never will, so
/// the code counts before the status. Codes: https://docs.postgrest.org/en/v14/references/errors.html
enum Failure: Hashable, Sendable {
    /// The token isn't taken: one refresh may help.
    case session(Text)
    /// It goes away by itself; `after` is for how many seconds the server asked to be left alone.
    case passing(code: Text?, message: Text, after: Double?)
    /// A statement took too long (57014): passing for a read, for a batch a reason to halve it.
    case timeout(code: Text, status: Int, message: Text)
    case final(ServiceError)

    init(_ response: HTTPResponse, now: Instant) {
        let body = ErrorBody(response)
        let status = response.status
        let after = response.headers["retry-after"].flatMap { Retry.seconds(retryAfter: $0, now: now) }
        let passing = Failure.passing(code: body.code, message: body.message, after: after)
        let refused = Failure.final(.splittable(code: body.code, status: status, message: body.message))

        if let code = body.code, let known = Self.known(code, status: status, message: body.message) {
            self = known
        } else if let code = body.code, Self.passes(code) {
            self = passing
        } else {
            switch status {
            case 300..<400: self = .final(.garbled(response.redirectInWords))
            // The gateway, which gives no code, takes the key for none of its own: no session helps.
            case 401 where body.code == nil && body.message.string.contains("API key"):
                self = .final(
                    .signedOut("the project doesn't take the publishable key of this workspace: \(body.message)"))
            case 401: self = .session(body.message)
            case 540: self = .final(.unreachable("the project is paused; its dashboard can restore it"))
            case 408, 425, 429: self = passing
            case 500...: self = body.code.map(Self.isFinalState) ?? false ? refused : passing
            default: self = refused
            }
        }
    }

    /// What it comes to where it isn't tried again.
    var error: ServiceError {
        switch self {
        case .session(let message): .signedOut(untilLogin: "the server doesn't take the session: \(message)")
        case .passing(let code, let message, _): .passing(code: code, message: message)
        case .timeout(let code, let status, let message): .splittable(code: code, status: status, message: message)
        case .final(let error): error
        }
    }

    /// Codes with one meaning, whatever they come with.
    private static func known(_ code: Text, status: Int, message: Text) -> Failure? {
        switch code {
        case "OT003": .final(.accountGone(message.string))
        case "PGRST202", "PGRST205", "42883", "42P01": .final(.schemaMissing(message.string))
        case "PGRST301", "PGRST303": .session(message)
        // Answered to the anonymous role alone: the request had no session, and refreshing one won't give it one.
        case "42501" where status == 401, "PGRST302":
            .final(.signedOut(untilLogin: "the request came without a session: \(message)"))
        case "57014": .timeout(code: code, status: status, message: message)
        default: nil
        }
    }

    /// Failures of connections, serialization, locks, resources, operators and the system, and of PostgREST's pool.
    private static func passes(_ code: Text) -> Bool {
        ["PGRST000", "PGRST001", "PGRST002", "PGRST003"].contains(code)
            || code.utf8.count == 5 && ["08", "40", "53", "55", "57", "58", "XX"].contains { code.hasPrefix($0) }
    }

    /// An SQLSTATE or a code of PostgREST that didn't count as passing is the same next time, with a status of 5xx too.
    private static func isFinalState(_ code: Text) -> Bool {
        code.hasPrefix("PGRST")
            || code.utf8.count == 5
                && code.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}
