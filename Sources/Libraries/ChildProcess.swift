import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A program that this process started.
///
/// It inherits its standard streams and no other descriptor: a connection ends for the other side only when nobody holds
/// it any more, and libcurl's are not closed by themselves when a program starts.
public struct ChildProcess: Sendable {
    public let id: Int32

    /// Starts `words[0]`, looked for in PATH unless it holds a slash. The descriptors become its standard streams; they
    /// stay open here. Throws `SystemError`.
    public init(_ words: [String], input: Int32 = 0, output: Int32 = 1, messages: Int32 = 2) throws(SystemError) {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: Int32 = 0
        guard otask_spawn(&arguments, input, output, messages, &process) == 0 else {
            throw .last("posix_spawn", words[0])
        }
        id = process
    }

    /// Waits until it ended: its status, or 128 and the signal that ended it. To be called once.
    @discardableResult
    public func wait() throws(SystemError) -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { throw .last("waitpid", "process \(id)") }
        }
        // WIFEXITED and WEXITSTATUS are macros that Swift doesn't see.
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}
