import CCurl

/// One request under way, as libcurl has it. Once it was given to a loop, only the loop's thread touches it, but for
/// `isCancelled`, which the loop guards.
final class HTTPTransfer: @unchecked Sendable {
    typealias Outcome = Result<HTTPClient.Response, HTTPClientError>

    /// What libcurl calls it.
    let easy: OpaqueHandle
    private let limits: HTTPClient.Limits
    private var list: UnsafeMutablePointer<curl_slist>?
    private let body: UnsafeMutableBufferPointer<UInt8>
    /// What libcurl says about a failure.
    let words: UnsafeMutablePointer<CChar>
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var headerBytes = 0
    /// Bytes of the body that libcurl took.
    private var sent = 0
    /// The blank line after the headers came.
    private(set) var hasAllHeaders = false
    private(set) var answer: [UInt8] = []
    /// Why the transfer was stopped from within.
    private(set) var problem: String?
    private var pace: HTTPPace
    private var ended: (@Sendable (Outcome) -> Void)?
    var isCancelled = false

    /// A handle of libcurl: `void *`.
    typealias OpaqueHandle = UnsafeMutableRawPointer

    /// libcurl has been loaded.
    init(
        _ request: HTTPClient.Request, limits: HTTPClient.Limits, surroundings: HTTPSurroundings
    ) throws(HTTPClientError) {
        guard request.url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .unreachable("the address of a request holds a character that isn't encoded")
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
        pace = HTTPPace(limits: limits)
        setWay(request, surroundings)
        setRequest(request)
        setSinks()
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

    private func setWay(_ request: HTTPClient.Request, _ surroundings: HTTPSurroundings) {
        otask_curl_set_boundaries(easy)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_CONNECTTIMEOUT_MS, limits.connecting)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Requests side by side share a connection that can carry them all, which TLS tells. Without it each would wait
        // for the first one's answer.
        if request.url.lowercased().hasPrefix("https:") { set(CURLOPT_PIPEWAIT, 1) }
        // Empty, too: else libcurl would read the environment.
        set(CURLOPT_PROXY, surroundings.proxy(for: request.url))
        set(CURLOPT_NOPROXY, surroundings.exceptions)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let certificates = surroundings.certificates { set(CURLOPT_CAINFO, certificates) }
    }

    private func setRequest(_ request: HTTPClient.Request) {
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, 1)
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
    }

    private func setSinks() {
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

    func number(_ info: CURLINFO) -> Int {
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
    /// The failure of a transfer that doesn't go on.
    func tooSlow(at now: ContinuousClock.Instant) -> HTTPClientError? {
        guard number(CURLINFO_PRETRANSFER_TIME_T) > 0 else { return nil }
        let up = number(CURLINFO_SIZE_UPLOAD_T)
        let progress = HTTPPace.Progress(
            moved: up + headerBytes + number(CURLINFO_SIZE_DOWNLOAD_T),
            isWaiting: headerBytes == 0 && up >= body.count)
        return switch pace.weigh(progress, at: now) {
        case .goesOn: nil
        case .stalled: .cut("the connection stalled")
        case .unanswered: .timedOut
        }
    }

    /// One line of the headers; another number than `count` stops the transfer.
    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerBytes += count
        guard headerBytes <= limits.headers else {
            return stop("the answer's headers are larger than \(limits.headers) bytes")
        }
        let raw = UnsafeRawBufferPointer(start: bytes, count: count)
        let line = String(decoding: raw, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // Headers of an interim answer came before.
            headers = []
            hasAllHeaders = false
        } else if hasAllHeaders {
            // What follows a body in chunks tells nothing that is wanted here.
        } else if let first = line.first, first == " " || first == "\t", let last = headers.indices.last {
            // A header over several lines, as old servers write it (RFC 9112, section 5.2).
            headers[last].value += " " + line.trimmingBlanks
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
