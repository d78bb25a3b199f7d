import CCrypto

/// HMAC with SHA-256 (RFC 2104): 32 bytes.
public func hmacSHA256(key: [UInt8], _ message: some Sequence<UInt8>) -> [UInt8] {
    let block = 64
    let short = key.count > block ? sha256(key) : key
    let padded = short + [UInt8](repeating: 0, count: block - short.count)
    return sha256(padded.map { $0 ^ 0x5C } + sha256(padded.map { $0 ^ 0x36 } + message))
}

/// A key of 32 bytes from a password (PBKDF2 with HMAC-SHA-256, RFC 8018).
public func pbkdf2SHA256(password: String, salt: [UInt8], rounds: Int32) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    var password = password
    password.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
            // With the built-in algorithm and a buffer of its size there is nothing in it that fails.
            _ = PKCS5_PBKDF2_HMAC(
                characters.baseAddress, Int32(characters.count), salt, Int32(salt.count), rounds, EVP_sha256(),
                Int32(key.count), &key)
        }
    }
    return key
}
