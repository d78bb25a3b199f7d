import Model

/// Why Auth said no.
public enum AuthError: Error, Hashable, CustomStringConvertible {
    case unreachable(String)
    /// A failure that goes away by itself; `after` is for how many seconds the server asked to be left alone.
    case passing(code: Text?, message: Text, after: Double?)
    /// The session is over: no refresh token of it will be accepted again.
    case sessionEnded(code: Text, message: Text)
    case refused(code: Text?, status: Int, message: Text)
    /// The answer is not one of Auth's.
    case garbled(String)

    /// Codes of a session that is over.
    private static let ending: Set<Text> = [
        "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired", "user_banned",
        "user_not_found",
    ]

    /// The error of an answer that is no success.
    init(_ response: HTTPResponse, now: Instant) {
        let body = ErrorBody(response)
        let after = response.headers["retry-after"].flatMap { Retry.seconds(retryAfter: $0, now: now) }
        switch response.status {
        case 300..<400: self = .garbled(response.redirectInWords)
        case 400, 403, 404:
            if let code = body.code, Self.ending.contains(code) {
                self = .sessionEnded(code: code, message: body.message)
            } else {
                self = .refused(code: body.code, status: response.status, message: body.message)
            }
        // A second request at once is what 409 means here.
        case 408, 409, 425, 429, 500...: self = .passing(code: body.code, message: body.message, after: after)
        default: self = .refused(code: body.code, status: response.status, message: body.message)
        }
    }

    /// One line for people, with the way out where there is one.
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server can't be reached: \(reason)"
        case .passing(let code, let message, _):
            Self.advice[code ?? ""] ?? "the server is busy or in trouble: \(message); try again in a minute"
        case .sessionEnded(let code, let message): Self.advice[code] ?? "the session is over: \(message)"
        case .refused(let code, _, let message): Self.advice[code ?? ""] ?? "the server refused: \(message)"
        case .garbled(let reason): "the answer is not the project's: \(reason)"
        }
    }

    /// What to do about codes that a person can do something about.
    private static let advice: [Text: String] = [
        "invalid_credentials": "no account has this address and password",
        "email_not_confirmed": "the address isn't confirmed yet: click the link in the mail that was sent to it",
        "anonymous_provider_disabled":
            "the project allows no anonymous users: switch them on in its Auth settings, or sign in with an address",
        "signup_disabled": "the project takes no new users: its owner can invite you, or switch sign-ups on",
        "email_provider_disabled": "the project allows no sign-in by address: its owner can switch that on",
        "captcha_failed": "the project asks for a captcha, which can't be shown here: sign in with a link instead",
        "user_banned": "this user is banned from the project",
        "over_request_rate_limit": "too many tries: wait a few minutes",
    ]
}
