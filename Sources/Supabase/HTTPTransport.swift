import Libraries
import Model

/// The network's way to a project. Nothing is loaded or started before the first request.
///
/// A redirect is answered as it came: the token goes to the project's own address and nowhere else.
public final class HTTPTransport: Transport {
    private let address: String
    private let agent: String
    private let limits: HTTPClient.Limits
    private let surroundings: HTTPSurroundings
    private let client = Mutex<HTTPClient?>(nil)

    /// - Parameters:
    ///   - agent: what `User-Agent` says, as `otask/1.0`.
    ///   - environment: where proxies and trusted certificates are named (see `HTTPSurroundings`).
    public init(
        project: Project, agent: String, environment: [String: String],
        limits: HTTPClient.Limits = HTTPClient.Limits()
    ) {
        address = project.url.string
        self.agent = agent
        self.limits = limits
        surroundings = HTTPSurroundings(environment: environment)
    }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        do throws(HTTPClientError) {
            var headers = request.headers
            headers["user-agent"] = agent
            let response = try await opened().perform(
                HTTPClient.Request(
                    method: request.method, url: address + request.target,
                    headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, body: request.body))
            // The project itself never answers this.
            if response.status == 407 {
                throw HTTPClientError.unreachable(
                    "the proxy of the environment wants a name and a password, as in http://name:password@host:port")
            }
            return HTTPResponse(
                status: response.status,
                headers: Dictionary(
                    response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" }),
                body: response.body)
        } catch {
            throw switch error {
            case .unreachable(let reason): .unreachable(reason)
            case .cut, .cancelled: .cut
            case .timedOut: .timedOut
            case .badAnswer(let reason): .garbled(reason)
            }
        }
    }

    private func opened() throws(HTTPClientError) -> HTTPClient {
        try client.withLock { client throws(HTTPClientError) in
            if let client { return client }
            let opened = try HTTPClient(limits: limits, surroundings: surroundings)
            client = opened
            return opened
        }
    }
}
