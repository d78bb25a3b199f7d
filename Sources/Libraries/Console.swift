#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The streams and the environment of this process.
public enum Console {
    /// A standard stream, by its descriptor.
    public enum Stream: Int32, Sendable { case input, output, errors }

    /// Writes all of `text` at once, unbuffered; what can't be written (a full disk, a closed pipe) is dropped.
    public static func write(_ text: String, to stream: Stream) {
        var text = text
        text.withUTF8 { bytes in
            let raw = UnsafeRawBufferPointer(bytes)
            var done = 0
            while done < raw.count {
                let rest = UnsafeRawBufferPointer(rebasing: raw[done...])
                #if canImport(Darwin)
                    let count = Darwin.write(stream.rawValue, rest.baseAddress, rest.count)
                #else
                    let count = Glibc.write(stream.rawValue, rest.baseAddress, rest.count)
                #endif
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }

    /// All that is left of standard input.
    public static func readInput() -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(Stream.input.rawValue, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return all }
            all.append(contentsOf: buffer[..<count])
        }
    }

    /// A line typed at the terminal without being shown, its end left out; nil where there is no terminal, or no line.
    public static func readSecret() -> String? {
        var attributes = termios()
        guard tcgetattr(Stream.input.rawValue, &attributes) == 0 else { return nil }
        let before = attributes
        attributes.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(Stream.input.rawValue, TCSAFLUSH, &attributes) == 0 else { return nil }
        defer {
            var before = before
            tcsetattr(Stream.input.rawValue, TCSAFLUSH, &before)
        }
        let line = readLine()
        write("\n", to: .errors)
        return line
    }

    public static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// The columns of the terminal that `stream` is; nil where it is none.
    public static func width(of stream: Stream) -> Int? {
        var size = winsize()
        guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The variables of the environment; one that isn't UTF-8 is read with replacement characters.
    public static func variables() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let pointer = entry.pointee {
            let text = String(cString: pointer)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return variables
    }

    /// Ends the process with this status.
    public static func exit(_ status: Int32) -> Never {
        #if canImport(Darwin)
            Darwin.exit(status)
        #else
            Glibc.exit(status)
        #endif
    }

    /// Runs a person's editor on a file, as git does: the words of `editor` by the shell, the path behind them. The
    /// status that it ended with.
    public static func run(editor: String, path: String) throws(SystemError) -> Int32 {
        try ChildProcess(["/bin/sh", "-c", editor + " \"$@\"", "sh", path]).wait()
    }
}
