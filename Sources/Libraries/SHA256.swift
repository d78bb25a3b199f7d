import CCrypto

/// SHA-256 (FIPS 180-4) of bytes in memory: 32 bytes.
public func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // With the built-in algorithm and a buffer of its size there is nothing in it that fails.
    _ = EVP_Digest(input, input.count, &digest, nil, EVP_sha256(), nil)
    return digest
}
