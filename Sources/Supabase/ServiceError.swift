import Model

/// Why a call failed as a whole. What the engine does about each is in its table of network trouble.
public enum ServiceError: Error, Hashable, CustomStringConvertible {
    /// No answer from the server: changes wait.
    case unreachable(String)
    /// There is no session, or none that the project takes.
    case signedOut(String)
    /// The file that keeps the session can't be read or written: nothing was sent.
    case sessionFile(String)
    /// The account was deleted on the server.
    case accountGone(String)
    /// The session, or the answer, is another user's than the workspace's.
    case otherAccount
    /// A function or table isn't there.
    case schemaMissing(String)
    /// A failure that goes away by itself, still there after the last try: to the engine as unreachable.
    case passing(code: Text?, message: Text)
    /// The call was refused and the answer names no item: a batch is to be halved.
    case splittable(code: Text?, status: Int, message: Text)
    /// The answer is not one of this server's: HTML, half a JSON, wrong types.
    case garbled(String)

    /// One line for people, with the way out where there is one.
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server can't be reached: \(reason)"
        case .signedOut(let reason): "signed out: \(reason)"
        case .sessionFile(let reason): "the session can't be read or kept: \(reason)"
        case .accountGone(let reason):
            "the account is gone from the server (\(reason)); nothing here is removed, `otask login` signs in again"
        case .otherAccount: "the session is another account's: this workspace stays with its own, nothing was synced"
        case .schemaMissing(let reason):
            "the project isn't set up for otask (\(reason)): `otask server setup` shows how to set it up"
        case .passing(let code, let message):
            "the server is busy or in trouble: \(Self.told(code, message)); the next run tries again"
        case .splittable(let code, let status, let message):
            "the server refused the request (\(status)): \(Self.told(code, message))"
        case .garbled(let reason):
            "the answer is not the project's: \(reason); is something between here and the server, like a sign-in page?"
        }
    }

    /// Signed out in a way that a new sign-in ends.
    static func signedOut(untilLogin reason: some StringProtocol) -> ServiceError {
        .signedOut("\(reason); sign in with `otask login`")
    }

    private static func told(_ code: Text?, _ message: Text) -> String {
        let line = message.string.split(whereSeparator: \.isNewline).joined(separator: " ")
        return code.map { "\(line) (\($0))" } ?? line
    }
}
