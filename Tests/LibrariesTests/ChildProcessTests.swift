import Testing

@testable import Libraries

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct ChildProcessTests {
    @Test func `a program inherits its standard streams and nothing else`() throws {
        var (other, input, output): ([Int32], [Int32], [Int32]) = ([0, 0], [0, 0], [0, 0])
        try #require(pipe(&other) == 0 && pipe(&input) == 0 && pipe(&output) == 0)
        defer { for end in [other[0], input[0], output[0], output[1]] { close(end) } }
        let child = try ChildProcess(["sh", "-c", "read line; echo $line; exit 3"], input: input[0], output: output[1])
        close(other[1])
        // The child lives, and is not the one that keeps this pipe open.
        var byte: UInt8 = 0
        _ = fcntl(other[0], F_SETFL, O_NONBLOCK)
        #expect(read(other[0], &byte, 1) == 0)
        #expect(write(input[1], "a\n", 2) == 2)
        close(input[1])
        #expect(read(output[0], &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "a"))
        #expect(try child.wait() == 3)
    }

    @Test func `a program that isn't there is an error`() {
        #expect(throws: SystemError.self) { try ChildProcess(["/no/such/program"]) }
    }
}
