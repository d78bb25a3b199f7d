import Libraries
import Model

/// An access token: a JSON Web Token (RFC 7519) signed with HMAC-SHA-256.
struct AccessToken {
    let claims: [Text: JSON]

    /// Seconds that a token lives.
    static let lifetime: Int64 = 3600

    /// The token that GoTrue would make for this session. `second`: now, since 1970.
    init(user: User, session: String, method: String, second: Int64) {
        claims = [
            "iss": "http://127.0.0.1:54321/auth/v1", "sub": .string(Text(user.id)), "aud": "authenticated",
            "role": "authenticated", "email": .string(Text(user.email ?? "")), "phone": "",
            "is_anonymous": .bool(user.isAnonymous), "session_id": .string(Text(session)),
            "iat": .integer(second), "exp": .integer(second + AccessToken.lifetime), "aal": "aal1",
            "amr": [["method": .string(Text(method)), "timestamp": .integer(second)]],
            "app_metadata": user.appMetadata, "user_metadata": user.userMetadata,
        ]
    }

    func signed(secret: [UInt8]) -> String {
        let header: JSON = ["alg": "HS256", "typ": "JWT"]
        let text = Base64URL.encode(header.serialized) + "." + Base64URL.encode(JSON.object(claims).serialized)
        return text + "." + Base64URL.encode(hmacSHA256(key: secret, text.utf8))
    }

    /// Why a text is no token of this server.
    enum Failure: Error, Equatable {
        case parts(Int)
        case malformed
        case signature
    }

    /// Reads a token and checks its signature, not its times.
    init(_ text: String, secret: [UInt8]) throws(Failure) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .parts(parts.count) }
        guard let header = Base64URL.decode(parts[0]).flatMap({ try? JSON(parsing: $0) }),
            let claims = Base64URL.decode(parts[1]).flatMap({ try? JSON(parsing: $0) })?.object
        else { throw .malformed }
        let signed = parts[0] + "." + parts[1]
        guard header["alg"] == "HS256", Base64URL.decode(parts[2]) == hmacSHA256(key: secret, signed.utf8) else {
            throw .signature
        }
        self.claims = claims
    }

    var user: String? { claims["sub"]?.text?.string }
    var session: String? { claims["session_id"]?.text?.string }
    var role: String? { claims["role"]?.text?.string }

    /// Whether the token ended more than `leeway` seconds before `second`.
    func isExpired(at second: Int64, leeway: Int64) -> Bool {
        (claims["exp"]?.integer ?? 0) + leeway < second
    }
}

/// Base 64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0...group.count { out.append(alphabet[Int(value >> UInt32(18 - 6 * index) & 63)]) }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var out: [UInt8] = []
        var value: UInt32 = 0
        var bits = 0
        for byte in text.utf8 {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            value = value << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
                value &= (1 << UInt32(bits)) - 1
            }
        }
        return value == 0 && bits < 6 ? out : nil
    }
}
