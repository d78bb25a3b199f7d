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
        // Other programs that this process starts must not hold the ends that stay here.
        for end in [input[1], output[0]] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if canImport(Glibc)
            var actions = posix_spawn_file_actions_t()
        #else
            var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        for end in [input[0], output[1]] { posix_spawn_file_actions_addclose(&actions, end) }
        var process = pid_t()
        let word = strdup(program)
        defer { free(word) }
        let code = posix_spawn(&process, program, &actions, nil, [word, nil], environ)
        close(input[0])
        close(output[1])
        guard code == 0 else { throw ChildError(code: code) }
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        firstLine = byte == UInt8(ascii: "\n") ? String(decoding: line, as: UTF8.self) : nil
    }
}

struct ChildError: Error {
    let code: Int32
}
