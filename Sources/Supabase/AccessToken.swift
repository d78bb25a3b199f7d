import Model

/// The claims of an access token (a JWT, RFC 7519) that a client looks at. It is not verified: the server does that.
struct AccessToken: Hashable, Sendable {
    /// Who it speaks for.
    let subject: ItemID?
    let role: Text?
    let email: Text?
    let isAnonymous: Bool

    /// Nil where `token` has not the form of a JWT.
    init?(_ token: Text) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.decodeBase64URL(Array(parts[1])),
            let claims = try? JSON(parsing: payload), claims.object != nil
        else { return nil }
        subject = claims["sub"]?.text.flatMap { ItemID($0) }
        role = claims["role"]?.text
        email = claims["email"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        isAnonymous = claims["is_anonymous"]?.bool ?? false
    }

    /// base64url without padding (RFC 4648, section 5); nil where another byte stands in it.
    static func decodeBase64URL(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return out
    }
}
