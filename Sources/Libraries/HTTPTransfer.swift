import CCurl

/// One request under way, as libcurl has it. Once it was given to a loop, only the loop's thread touches it.
final class HTTPTransfer: @unchecked Sendable {
    typealias Outcome = Result<HTTPClient.Response, HTTPClientError>

    /// What libcurl calls it.
    let easy: OpaqueHandle
    private let limits: HTTPClient.Limits
    private var list: UnsafeMutablePointer<curl_slist>?
    private let body: UnsafeMutableBufferPointer<UInt8>
    private let words: UnsafeMutablePointer<CChar>
    private var status = 0
    private var headers: [(name: String, value: String)] = []
    private var headerBytes = 0
    /// Bytes of the body that libcurl took.
    private var sent = 0
    /// The blank line after the headers came.
    private var hasAllHeaders = false
    private var answer: [UInt8] = []
    /// Why the transfer was stopped from within.
    private var problem: String?
    private var ended: (@Sendable (Outcome) -> Void)?

    /// A handle of libcurl: `void *`.
    typealias OpaqueHandle = UnsafeMutableRawPointer

    init(_ request: HTTPClient.Request, limits: HTTPClient.Limits) throws(HTTPClientError) {
        if let problem = otask_curl_load() {
            throw .unreachable("no requests can be sent: \(String(cString: problem))")
        }
        for (name, value) in request.headers {
            // A line end would begin another header, or the body.
            guard (name + value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw .unreachable("the header \(name) holds a line end or a control character")
            }
        }
        guard let easy = otask_curl_easy_init() else { throw .unreachable("no memory for a request") }
        self.easy = easy
        self.limits = limits
        body = .allocate(capacity: request.body.count)
        _ = body.initialize(from: request.body)
        words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(request)
    }

    deinit {
        otask_curl_easy_cleanup(easy)
        otask_curl_slist_free_all(list)
        body.deallocate()
        words.deallocate()
    }

    /// Before it is given to a loop.
    func whenEnded(_ body: @escaping @Sendable (Outcome) -> Void) { ended = body }

    /// Tells how it ended, once.
    func end(_ outcome: Outcome) {
        ended?(outcome)
        ended = nil
    }

    private func configure(_ request: HTTPClient.Request) {
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_CONNECTTIMEOUT_MS, limits.connecting)
        set(CURLOPT_LOW_SPEED_LIMIT, limits.bytesPerSecond)
        set(CURLOPT_LOW_SPEED_TIME, limits.stalledSeconds)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Requests side by side share a connection that can carry them all.
        set(CURLOPT_PIPEWAIT, 1)
        // All encodings that this libcurl knows.
        set(CURLOPT_ACCEPT_ENCODING, "")

        switch (request.method, request.body.isEmpty) {
        case ("GET", true): set(CURLOPT_HTTPGET, 1)
        case ("HEAD", true): set(CURLOPT_NOBODY, 1)
        case ("DELETE", true): set(CURLOPT_CUSTOMREQUEST, "DELETE")
        default:
            set(CURLOPT_POST, 1)
            set(CURLOPT_CUSTOMREQUEST, request.method)
            set(CURLOPT_POSTFIELDSIZE_LARGE, body.count)
            // A body that is read can't be sent twice: libcurl would repeat a request by itself when a connection that
            // it had used before is cut, and a sign-up that got through must not become a second account.
            otask_curl_set_pointer(easy, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque())
            otask_curl_set_sink(easy, CURLOPT_READFUNCTION) { room, size, count, this in
                HTTPTransfer.of(this).giveBody(room, size * count)
            }
        }
        // An empty `Expect` keeps libcurl from waiting a second for a server that doesn't know it; without a type of its
        // own it would call a body a form.
        var lines = ["Expect:"]
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines { list = otask_curl_slist_append(list, line) }
        otask_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list)

        let this = Unmanaged.passUnretained(self).toOpaque()
        otask_curl_set_pointer(easy, CURLOPT_PRIVATE, this)
        otask_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, words)
        otask_curl_set_pointer(easy, CURLOPT_HEADERDATA, this)
        otask_curl_set_sink(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            HTTPTransfer.of(this).takeHeader(bytes, size * count)
        }
        otask_curl_set_pointer(easy, CURLOPT_WRITEDATA, this)
        otask_curl_set_sink(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            HTTPTransfer.of(this).takeBody(bytes, size * count)
        }
    }

    private func set(_ option: CURLoption, _ number: Int) { otask_curl_set_number(easy, option, curl_off_t(number)) }
    private func set(_ option: CURLoption, _ text: String) { otask_curl_set_text(easy, option, text) }

    private func number(_ info: CURLINFO) -> Int {
        var number: curl_off_t = 0
        return otask_curl_get_number(easy, info, &number) == CURLE_OK ? Int(number) : 0
    }

    /// The transfer that libcurl was given as `pointer`.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTPTransfer {
        Unmanaged<HTTPTransfer>.fromOpaque(pointer!).takeUnretainedValue()
    }

    /// The transfer of a handle.
    static func of(easy: OpaqueHandle) -> HTTPTransfer {
        var pointer: UnsafeMutableRawPointer?
        otask_curl_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
        return of(pointer)
    }
}

// MARK: - What comes

extension HTTPTransfer {
    /// One line of the headers; another number than `count` stops the transfer.
    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerBytes += count
        guard headerBytes <= limits.headers else {
            return stop("the answer's headers are larger than \(limits.headers) bytes")
        }
        let raw = UnsafeRawBufferPointer(start: bytes, count: count)
        let line = String(decoding: raw, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // Headers of an interim answer, or of the proxy, came before.
            headers = []
            hasAllHeaders = false
        } else if let colon = line.firstIndex(of: ":") {
            let name = line[..<colon]
            let value = line[line.index(after: colon)...].trimmingBlanks
            headers.append((String(name), String(value)))
        } else if line.allSatisfy(\.isNewline) {
            hasAllHeaders = true
        }
        return count
    }

    /// Fills `room` with what comes next of the request's body; how many bytes that are.
    private func giveBody(_ room: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let part = UnsafeRawBufferPointer(body)[sent...].prefix(count)
        UnsafeMutableRawBufferPointer(start: room, count: count).copyBytes(from: part)
        sent += part.count
        return part.count
    }

    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard answer.count + count <= limits.answer else {
            return stop("the answer is larger than \(limits.answer >> 20) MiB")
        }
        answer.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func stop(_ reason: String) -> Int {
        problem = reason
        return 0
    }

    /// What libcurl's result comes to.
    func outcome(_ code: CURLcode) -> Outcome {
        if let problem { return .failure(.badAnswer(problem)) }
        if code == CURLE_OK {
            // libcurl takes a connection that ends within the headers for a whole answer.
            guard hasAllHeaders else { return .failure(.cut("the connection was cut in the headers")) }
            return .success(
                HTTPClient.Response(status: number(CURLINFO_RESPONSE_CODE), headers: headers, body: answer))
        }
        let said = String(cString: words)
        let reason = said.isEmpty ? String(cString: otask_curl_easy_strerror(code)) : said
        let hasAnswerBegun = headerBytes > 0
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            return .failure(hasAnswerBegun ? .cut("the answer stalled") : .timedOut)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SEND_FAIL_REWIND:
            return .failure(.cut("the connection was cut (\(reason.firstLowered))"))
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            return .failure(.badAnswer("the answer is no HTTP that can be read (\(reason.firstLowered))"))
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .failure(
                .unreachable(
                    "its certificate isn't trusted, so nothing was sent (\(reason.firstLowered)); is the address right, "
                        + "and this machine's clock?"))
        case CURLE_SSL_CONNECT_ERROR:
            return .failure(
                .unreachable("no secure connection (\(reason.firstLowered)); does this address speak https?"))
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .failure(.unreachable("the proxy of the environment can't be used (\(reason.firstLowered))"))
        default:
            return .failure(.unreachable(reason.firstLowered))
        }
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: SubSequence {
        let isBlank = { (character: Character) in character == " " || character == "\t" || character.isNewline }
        var rest = self[...]
        while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }
}

extension String {
    /// For the middle of a sentence; abbreviations stay as they are.
    fileprivate var firstLowered: String {
        guard let first, let second = dropFirst().first, second.isLowercase else { return self }
        return first.lowercased() + dropFirst()
    }
}
