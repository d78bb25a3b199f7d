#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension SystemError {
    /// Another program listens on this port.
    public var isInUse: Bool { code == EADDRINUSE }
}

/// A socket that listens, and does not wait.
struct ListeningSocket {
    let descriptor: Int32
    let port: Int

    init(address: String, port: Int) throws(SystemError) {
        let place = "\(address):\(port)"
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_family = AF_UNSPEC
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard (0...65535).contains(port), getaddrinfo(address, String(port), &hints, &found) == 0, let found else {
            throw SystemError(code: EINVAL, path: place, call: "getaddrinfo")
        }
        defer { freeaddrinfo(found) }
        let info = found.pointee
        let descriptor = socket(info.ai_family, info.ai_socktype, 0)
        guard descriptor >= 0 else { throw .last("socket", place) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // A port whose old connections are still winding down is free again at once.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 128) == 0 else {
            let error = SystemError.last("bind", place)
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        self.port = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
            // The port stands at the same place in both kinds of addresses.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int($0.pointee.sin_port.bigEndian) }
        }
    }

    /// The next connection that waits; nil where there is none.
    func accept() throws(SystemError) -> Int32? {
        while true {
            #if canImport(Darwin)
                let descriptor = Darwin.accept(self.descriptor, nil, nil)
            #else
                let descriptor = Glibc.accept(self.descriptor, nil, nil)
            #endif
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                var yes: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return descriptor
            }
            switch errno {
            case EAGAIN, EWOULDBLOCK: return nil
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw .last("accept", "")
            default: continue
            }
        }
    }
}
