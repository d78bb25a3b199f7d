import Libraries

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

#if canImport(Darwin)
    private let hangUp = Int16(POLLHUP)
#else
    /// `POLLRDHUP` (bits/poll.h), which Glibc's module doesn't show.
    private let hangUp: Int16 = 0x2000
#endif

/// A server on loopback that says exactly what a test wants said, byte by byte. Each connection has a thread of its own,
/// and ends when the test's closure does. It ends with the value.
final class RawServer: Sendable {
    /// One connection. Reads and writes block, and end when the client hangs up.
    struct Connection {
        fileprivate let descriptor: Int32

        /// The next request, head and body; nil where the client is gone.
        func request() -> String? {
            var bytes: [UInt8] = []
            func receive() -> Bool {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return false }
                bytes += buffer[..<count]
                return true
            }
            let blank = Array("\r\n\r\n".utf8)
            while true {
                if let end = bytes.firstRange(of: blank) {
                    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                    let length =
                        head.split(separator: "\r\n").lazy
                        .first { $0.lowercased().hasPrefix("content-length:") }
                        .flatMap { Int($0.drop { $0 != ":" }.dropFirst(2)) } ?? 0
                    while bytes.count < end.upperBound + length { guard receive() else { return nil } }
                    return String(decoding: bytes, as: UTF8.self)
                }
                guard receive() else { return nil }
            }
        }

        func write(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        func write(_ text: String) { write(Array(text.utf8)) }

        /// Waits until the client hangs up.
        func waitForEnd() { while request() != nil {} }

        /// Waits for so many milliseconds; false where the client hung up meanwhile.
        func isOpen(for milliseconds: Int32) -> Bool {
            var state = pollfd(fd: descriptor, events: hangUp, revents: 0)
            return poll(&state, 1, milliseconds) == 0
        }

        /// Ends the connection by a reset instead of a farewell.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
    }

    let port: Int
    private let listener: Int32
    private let count = Mutex(0)

    /// Connections that were accepted.
    var accepted: Int { count.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard bound else { throw SocketError() }
        thread { [weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    // Here, where nobody can be about to use its number.
                    close(listener)
                    return
                }
                self?.count.withLock { $0 += 1 }
                thread {
                    serve(Connection(descriptor: descriptor))
                    close(descriptor)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    struct SocketError: Error {}
}

private func thread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { box in
            Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
            return nil
        }, box)
    pthread_detach(thread)
}
