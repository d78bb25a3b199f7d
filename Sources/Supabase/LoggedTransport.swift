import Libraries
import Model

/// Tells of every request that goes through another transport in one line, without a secret: no header, no body, and of
/// the query only the names that are known to be harmless.
public struct LoggedTransport: Transport {
    private let base: any Transport
    private let now: @Sendable () -> Instant
    private let log: @Sendable (String) -> Void

    public init(
        _ base: any Transport, now: @escaping @Sendable () -> Instant, log: @escaping @Sendable (String) -> Void
    ) {
        self.base = base
        self.now = now
        self.log = log
    }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let start = now()
        func tell(_ outcome: String, down: Int = 0) {
            let milliseconds = Int(((now() - start) * 1_000).rounded())
            log(
                "\(request.method) \(Self.shown(request.target)): \(outcome), \(request.body.count) bytes up, "
                    + "\(down) down, \(milliseconds) ms")
        }
        do throws(TransportError) {
            let response = try await base.send(request)
            tell("\(response.status)", down: response.body.count)
            return response
        } catch {
            tell(error.description)
            throw error
        }
    }

    /// Parameters whose values may be read by anybody: they choose, and name nothing secret.
    private static let harmless: Set<Substring> = ["grant_type", "scope", "select", "order", "limit", "offset"]

    private static func shown(_ target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return target }
        let query = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            return harmless.contains(name) || name.count == pair.count ? String(pair) : "\(name)=…"
        }
        return "\(parts[0])?\(query.joined(separator: "&"))"
    }
}
