import Testing

@testable import Libraries

struct HTTPPaceTests {
    /// What is moved in one second, and what is said at its end.
    private static func verdicts(_ steps: [(bytes: Int, isWaiting: Bool)]) -> [HTTPPace.Verdict] {
        var pace = HTTPPace(limits: HTTPClient.Limits())
        let start = ContinuousClock.now
        var moved = 0
        var verdicts = [pace.weigh(.init(moved: 0, isWaiting: false), at: start)]
        for (second, step) in steps.enumerated() {
            moved += step.bytes
            verdicts.append(
                pace.weigh(.init(moved: moved, isWaiting: step.isWaiting), at: start + .seconds(second + 1)))
        }
        return verdicts
    }

    private static func seconds(_ count: Int, _ bytes: Int, isWaiting: Bool = false) -> [(bytes: Int, isWaiting: Bool)]
    {
        Array(repeating: (bytes, isWaiting), count: count)
    }

    @Test(arguments: [1_024, 1_025, 5_000, 1 << 30])
    func `what moves fast enough goes on for as long as it takes`(bytesPerSecond: Int) {
        #expect(Self.verdicts(Self.seconds(10_000, bytesPerSecond)).allSatisfy { $0 == .goesOn })
    }

    @Test(arguments: [0, 1, 500, 1_000])
    func `what moves more slowly stalls after thirty seconds`(bytesPerSecond: Int) {
        let verdicts = Self.verdicts(Self.seconds(30, bytesPerSecond))
        #expect(verdicts.dropLast().allSatisfy { $0 == .goesOn })
        #expect(verdicts.last == .stalled)
    }

    @Test func `what stops after it was fast stalls thirty seconds later`() {
        let verdicts = Self.verdicts(Self.seconds(100, 1 << 20) + Self.seconds(30, 0))
        #expect(verdicts.firstIndex(of: .stalled) == 130)
    }

    @Test func `a server that has the request may be silent for a minute, counted from then`() {
        let slow = Self.verdicts(Self.seconds(20, 500) + Self.seconds(61, 0, isWaiting: true))
        #expect(slow.allSatisfy { $0 == .goesOn })
        let silent = Self.verdicts(Self.seconds(20, 500) + Self.seconds(62, 0, isWaiting: true))
        #expect(silent.firstIndex(of: .unanswered) == 82)
    }

    @Test func `an answer that begins after a minute has its own thirty seconds`() {
        let verdicts = Self.verdicts(Self.seconds(60, 0, isWaiting: true) + Self.seconds(29, 10))
        #expect(verdicts.allSatisfy { $0 == .goesOn })
    }
}

struct HTTPSurroundingsTests {
    @Test(
        arguments: [
            ([:], "", ""), (["http_proxy": "http://a"], "http://a", ""), (["HTTP_PROXY": "http://a"], "", ""),
            (["HTTPS_PROXY": "http://b"], "", "http://b"),
            (["https_proxy": "http://a", "HTTPS_PROXY": "http://b"], "", "http://a"),
            (["all_proxy": "socks5h://c"], "socks5h://c", "socks5h://c"),
            (["ALL_PROXY": "x", "http_proxy": "y"], "y", "x"),
            (["http_proxy": ""], "", ""),
        ] as [([String: String], String, String)])
    func `proxies are read as curl reads them`(environment: [String: String], http: String, https: String) {
        let surroundings = HTTPSurroundings(environment: environment)
        #expect(surroundings.proxy(for: "http://example.org/") == http)
        #expect(surroundings.proxy(for: "HTTPS://example.org/") == https)
    }

    @Test(
        arguments: [
            ([:], "localhost,127.0.0.1,::1"), (["NO_PROXY": "example.org"], "example.org,localhost,127.0.0.1,::1"),
            (["no_proxy": "*"], "*"),
        ] as [([String: String], String)])
    func `this machine is exempt`(environment: [String: String], exceptions: String) {
        #expect(HTTPSurroundings(environment: environment).exceptions == exceptions)
    }
}
