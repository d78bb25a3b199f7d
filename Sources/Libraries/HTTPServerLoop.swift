#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The sockets of a server, on the one thread that serves them.
final class HTTPServerLoop: @unchecked Sendable {
    private let socket: ListeningSocket
    private let limits: HTTPServer.Limits
    private let mailbox: HTTPServerMailbox
    private let handler: HTTPServer.Handler
    /// A pipe whose only message is that the mailbox has one.
    private let wake: (reading: Int32, writing: Int32)
    private var connections: [UInt64: Connection] = [:]
    private var lastNumber: UInt64 = 0

    private struct Connection {
        let descriptor: Int32
        var reader: HTTPRequestReader
        var unsent: ArraySlice<UInt8> = []
        /// The method of the request that is being answered, and whether another may follow it.
        var answering: (method: String, keepsAlive: Bool)?
        var closesWhenSent = false
        /// When something last came or went, in nanoseconds.
        var lastMoved: Int64
    }

    init(
        socket: ListeningSocket, limits: HTTPServer.Limits, mailbox: HTTPServerMailbox,
        handler: @escaping HTTPServer.Handler
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last("pipe", "the HTTP server") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wake = (ends[0], ends[1])
        self.socket = socket
        self.limits = limits
        self.mailbox = mailbox
        self.handler = handler
        let writing = ends[1]
        mailbox.open {
            var byte: UInt8 = 1
            write(writing, &byte, 1)
        }
    }

    /// Serves until the mailbox says stop.
    func run() {
        var stopAt: Int64?
        while true {
            let mail = mailbox.take()
            for answer in mail.answers { send(answer) }
            if mail.isStopping, stopAt == nil { stopAt = System.now() + 1_000_000_000 }
            if let stopAt {
                for (number, connection) in connections where connection.answering == nil && connection.unsent.isEmpty {
                    close(number)
                }
                if connections.isEmpty || System.now() >= stopAt { break }
            }
            wait(isStopping: stopAt != nil)
        }
        for number in connections.keys { close(number) }
        mailbox.close()
        _ = (closeDescriptor(wake.reading), closeDescriptor(wake.writing), closeDescriptor(socket.descriptor))
        mailbox.hasStopped()
    }

    /// Waits for something to happen on a socket, and does what follows from it.
    private func wait(isStopping: Bool) {
        var polled = [pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0)]
        let takesMore = !isStopping && connections.count < limits.connections
        polled.append(pollfd(fd: takesMore ? socket.descriptor : -1, events: Int16(POLLIN), revents: 0))
        let numbers = Array(connections.keys)
        for number in numbers {
            let connection = connections[number]!
            // While an answer is under way nothing is read: what comes waits in the socket. A client that hangs up then
            // is found out when the answer is written.
            var events = connection.unsent.isEmpty ? 0 : Int16(POLLOUT)
            if connection.answering == nil, !connection.closesWhenSent { events |= Int16(POLLIN) }
            polled.append(pollfd(fd: events == 0 ? -1 : connection.descriptor, events: events, revents: 0))
        }
        guard poll(&polled, nfds_t(polled.count), isStopping ? 50 : 1_000) >= 0 else { return }

        if polled[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 512)
            while read(wake.reading, &bytes, bytes.count) > 0 {}
        }
        if polled[1].revents != 0 { accept() }
        let now = System.now()
        for (number, polled) in zip(numbers, polled.dropFirst(2)) where connections[number] != nil {
            if polled.revents & Int16(POLLOUT) != 0 { flush(number) }
            if polled.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 { receive(number) }
            if let connection = connections[number], connection.answering == nil,
                Double(now - connection.lastMoved) > limits.patience * 1e9
            {
                close(number)
            }
        }
    }

    private func accept() {
        while connections.count < limits.connections {
            // Without descriptors the connection stays in the queue until one is closed.
            guard let accepted = try? socket.accept() else { return }
            lastNumber += 1
            connections[lastNumber] = Connection(
                descriptor: accepted, reader: HTTPRequestReader(limits: limits), lastMoved: System.now())
        }
    }

    private func receive(_ number: UInt64) {
        guard let descriptor = connections[number]?.descriptor, connections[number]?.answering == nil else { return }
        var buffer = [UInt8](repeating: 0, count: 262_144)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) { return }
        guard count > 0 else { return close(number) }
        connections[number]?.lastMoved = System.now()
        buffer.withUnsafeBytes { connections[number]?.reader.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        proceed(number)
    }

    /// Does what the bytes that are there ask for.
    private func proceed(_ number: UInt64) {
        while connections[number] != nil, connections[number]?.answering == nil,
            connections[number]?.closesWhenSent == false
        {
            do throws(HTTPRefusal) {
                guard let step = try connections[number]?.reader.next() else { return }
                switch step {
                case .incomplete: return
                case .awaitsContinue: queue(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), number)
                case .request(let request, let keepsAlive):
                    connections[number]?.answering = (request.method, keepsAlive)
                    Task(executorPreference: HandlerThreads.shared) { [handler, mailbox] in
                        mailbox.post(
                            HTTPServerMailbox.Answer(connection: number, response: try? await handler(request)))
                    }
                }
            } catch {
                let body = Array("\(error.reason)\n".utf8)
                let response = HTTPServer.Response(
                    status: error.status, headers: ["content-type": "text/plain; charset=utf-8"], body: body)
                connections[number]?.closesWhenSent = true
                queue(Self.bytes(of: response, closes: true, hasBody: true), number)
            }
        }
    }

    private func send(_ answer: HTTPServerMailbox.Answer) {
        guard let answering = connections[answer.connection]?.answering else { return }
        guard let response = answer.response else { return close(answer.connection) }
        let isHead = answering.method == "HEAD"
        let promised = response.headers["content-length"].flatMap { Int($0) } ?? response.body.count
        let closes = !answering.keepsAlive || (!isHead && promised > response.body.count)
        connections[answer.connection]?.answering = nil
        connections[answer.connection]?.closesWhenSent = closes
        queue(Self.bytes(of: response, closes: closes, hasBody: !isHead), answer.connection)
        proceed(answer.connection)
    }

    private static func bytes(of response: HTTPServer.Response, closes: Bool, hasBody: Bool) -> [UInt8] {
        var headers = response.headers
        // These have no body, and no length (RFC 9110, section 8.6).
        if headers["content-length"] == nil, response.status >= 200, response.status != 204, response.status != 304 {
            headers["content-length"] = String(response.body.count)
        }
        if closes { headers["connection"] = "close" }
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(response.status) \(reason(response.status))\r\n\(lines)\r\n".utf8)
            + (hasBody ? response.body : [])
    }

    /// The phrase that goes with a status, for people who look at the wire.
    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 500: "Internal Server Error"
        default: "Status"
        }
    }

    private func queue(_ bytes: [UInt8], _ number: UInt64) {
        guard var connection = connections[number] else { return }
        connection.unsent = connection.unsent.isEmpty ? bytes[...] : connection.unsent + bytes
        connections[number] = connection
        flush(number)
    }

    /// Writes as much as the socket takes.
    private func flush(_ number: UInt64) {
        guard let descriptor = connections[number]?.descriptor else { return }
        while let unsent = connections[number]?.unsent, !unsent.isEmpty {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = unsent.withUnsafeBytes { sendBytes(descriptor, $0.baseAddress, $0.count, flags) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return }
            guard count > 0 else { return close(number) }
            connections[number]?.unsent = unsent.dropFirst(count)
            connections[number]?.lastMoved = System.now()
        }
        if connections[number]?.closesWhenSent == true { close(number) }
    }

    private func close(_ number: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        _ = closeDescriptor(connection.descriptor)
    }
}

// Under names that the methods above don't hide.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}
