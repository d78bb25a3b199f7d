import Libraries

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A program that lives until this process ends, however it ends: its standard input then does, too.
struct Child {
    /// What the child printed up to its first newline; nil where it ended before.
    let firstLine: String?

    /// Starts `program`; its messages go where this process's go.
    init(_ program: String) throws {
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw ChildError(code: errno) }
        _ = try ChildProcess([program], input: input[0], output: output[1])
        close(input[0])
        close(output[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        firstLine = byte == UInt8(ascii: "\n") ? String(decoding: line, as: UTF8.self) : nil
    }
}

struct ChildError: Error {
    let code: Int32
}
