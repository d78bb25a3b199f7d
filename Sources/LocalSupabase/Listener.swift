import Libraries
import Model

/// A server over HTTP, for clients outside this process.
///
/// ```swift
/// let listener = try Listener(server: server, port: 0)
/// print(listener.url)
/// await listener.stop()
/// ```
public final class Listener: Sendable {
    private let http: HTTPServer

    public var port: Int { http.port }
    /// What clients take for the project's address.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Listens on 127.0.0.1; port 0 takes a free one. `observe` hears of each request once it was answered, the response
    /// nil where the connection was cut. Throws `SystemError`, whose `isInUse` tells of a port that is taken.
    public init(
        server: LocalSupabase, port: Int = 0,
        observe: @escaping @Sendable (HTTPRequest, HTTPResponse?) -> Void = { _, _ in }
    ) throws(SystemError) {
        http = try HTTPServer(port: port) { request in
            let request = HTTPRequest(
                method: request.method, target: request.target, headers: request.headers, body: request.body)
            do {
                let response = try await server.handle(request)
                observe(request, response)
                return HTTPServer.Response(status: response.status, headers: response.headers, body: response.body)
            } catch {
                observe(request, nil)
                throw error
            }
        }
    }

    /// Lets answers that are under way end for up to a second, then closes.
    public func stop() async { await http.stop() }
}
