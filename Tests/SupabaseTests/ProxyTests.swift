import Libraries
import Model
import Testing

@testable import Supabase

struct ProxyTests {
    /// Sends one request to a project, with this environment.
    private static func outcome(_ url: String, _ environment: [String: String]) async throws -> Result<
        HTTPResponse, TransportError
    > {
        await HTTPTransportTests.outcome(try HTTPTransportTests.transport(url, environment: environment))
    }

    private static func reason(_ outcome: Result<HTTPResponse, TransportError>) -> String {
        if case .failure(.unreachable(let reason)) = outcome { reason } else { "not unreachable: \(outcome)" }
    }

    @Test func `requests go through the proxy that the environment names`() async throws {
        let script = WireScript([Reply(.status(200, "through"))])
        let proxy = try RawServer { script.serve($0) }
        let outcome = try await Self.outcome("http://project.invalid", ["http_proxy": proxy.url])
        #expect(HTTPTransportTests.isStatus(200, "\"through\"")(outcome))
        #expect(script.targets == ["POST http://project.invalid/rest/v1/rpc/x"])
    }

    @Test func `over https a proxy is asked for a tunnel and sees no header of the request`() async throws {
        let script = WireScript([.cut(after: Array("HTTP/1.1 403 Forbidden\r\n\r\n".utf8))])
        let proxy = try RawServer { script.serve($0) }
        let outcome = try await Self.outcome("https://project.invalid", ["https_proxy": proxy.url])
        #expect(Self.reason(outcome).hasPrefix("the proxy of the environment refuses the connection ("))
        #expect(script.targets == ["CONNECT project.invalid:443"])
        #expect(script.requests.allSatisfy { !$0.contains("/rest/v1") })
    }

    @Test(arguments: ["127.0.0.1,project.invalid", "*", "PROJECT.invalid", ".invalid"])
    func `hosts that the environment exempts are asked without the proxy`(exempt: String) async throws {
        let proxy = try RawServer { _ in }
        let outcome = try await Self.outcome(
            "http://project.invalid", ["all_proxy": proxy.url, "no_proxy": exempt])
        #expect(Self.reason(outcome).hasPrefix("could not resolve host: project.invalid"))
        #expect(proxy.accepted == 0)
    }

    @Test func `a server on this machine is asked without a proxy`() async throws {
        let proxy = try RawServer { _ in }
        let script = WireScript([])
        let server = try RawServer { script.serve($0) }
        let outcome = try await Self.outcome(server.url, ["http_proxy": proxy.url, "no_proxy": "example.org"])
        #expect(HTTPTransportTests.isStatus(200, "null")(outcome))
        #expect(proxy.accepted == 0)
    }

    @Test func `the password of a proxy is not told, whatever is wrong with it`() async throws {
        let gone = try RawServer { _ in }.port
        let script = WireScript([Reply(.status(407))])
        let asking = try RawServer { script.serve($0) }
        for proxy in [
            "http://name:s3cret@127.0.0.1:\(gone)", "http://name:s3cret@nobody.invalid:80",
            "odd://name:s3cret@127.0.0.1:1",
            "http://name:s3cret@127.0.0.1:\(asking.port)", "name:s3cret@ho st:1",
        ] {
            let reason = Self.reason(try await Self.outcome("http://project.invalid", ["http_proxy": proxy]))
            #expect(!reason.contains("s3cret"))
            #expect(!reason.hasPrefix("not unreachable"), "\(proxy): \(reason)")
        }
        #expect(script.requests.count == 1)
        #expect(asking.accepted == 1)
    }
}
