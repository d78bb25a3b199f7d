import Model

/// Someone signed in. Descriptions and dumps of it show no token.
public struct Session: Hashable, Sendable {
    public let accessToken: Text
    public let refreshToken: Text
    /// Seconds since 1970 by this machine's clock: the server's may be another.
    public let expiresAt: Int64
    public let userID: ItemID
    public let email: Text?
    public let isAnonymous: Bool

    public init(
        accessToken: Text, refreshToken: Text, expiresAt: Int64, userID: ItemID, email: Text? = nil, isAnonymous: Bool
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.userID = userID
        self.email = email
        self.isAnonymous = isAnonymous
    }

    /// Whether the token is good for so many seconds more.
    public func lasts(_ seconds: Int64, from now: Instant) -> Bool {
        expiresAt - now.nanoseconds / 1_000_000_000 > seconds
    }

    /// Whether the token itself says that it is this user's, in the role of a signed-in user.
    var speaksForItsUser: Bool {
        guard let token = AccessToken(accessToken) else { return false }
        return token.role == "authenticated" && token.subject == userID
    }
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "session of \(userID)\(isAnonymous ? " (anonymous)" : "") until \(expiresAt)"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["userID": userID, "expiresAt": expiresAt]) }
}

extension Session {
    /// As it is kept; holds the tokens.
    var json: JSON {
        [
            "format": 1, "access_token": .string(accessToken), "refresh_token": .string(refreshToken),
            "expires_at": .integer(expiresAt), "user_id": .string(userID.text),
            "email": email.map(JSON.string) ?? .null,
            "is_anonymous": .bool(isAnonymous),
        ]
    }

    /// Reads what `json` wrote; nil for anything else.
    init?(json: JSON) {
        guard let accessToken = json["access_token"]?.text, let refreshToken = json["refresh_token"]?.text,
            let expiresAt = json["expires_at"]?.integer, let userID = json["user_id"]?.text.flatMap({ ItemID($0) }),
            let isAnonymous = json["is_anonymous"]?.bool
        else { return nil }
        self.init(
            accessToken: accessToken, refreshToken: refreshToken, expiresAt: expiresAt, userID: userID,
            email: json["email"]?.text, isAnonymous: isAnonymous)
    }

    /// Reads the answer of Auth to a sign-in or refresh; nil where it is none.
    init?(answer json: JSON, now: Instant) {
        guard let accessToken = json["access_token"]?.text, let refreshToken = json["refresh_token"]?.text,
            let seconds = json["expires_in"]?.integer, (1...(10 * 365 * 86_400)).contains(seconds),
            let claims = AccessToken(accessToken), let userID = claims.subject
        else { return nil }
        let email = json["user"]?["email"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            accessToken: accessToken, refreshToken: refreshToken,
            expiresAt: now.nanoseconds / 1_000_000_000 + seconds, userID: userID, email: email ?? claims.email,
            isAnonymous: json["user"]?["is_anonymous"]?.bool ?? claims.isAnonymous)
    }
}
