import Model
import Testing

@testable import Supabase

struct RetryTests {
    static let now = Instant(seconds: 784_111_777 - 20)

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 20),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
            ("-1", nil), ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Now 1994 08:49:37 GMT", nil),
            ("", nil), ("99999999999999", nil), ("Sun, 06 Nov 1994 25:00:00 GMT", nil),
        ] as [(String, Double?)])
    func `Retry-After is read in seconds and as an HTTP date`(text: String, seconds: Double?) {
        #expect(Retry.seconds(retryAfter: text, now: Self.now) == seconds)
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Mon, 30 Nov 2026 10:00:00 GMT", 1_796_032_800),
        ] as [(String, Int64)])
    func `HTTP dates count leap years`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: 0..<5)
    func `full jitter lies between nothing and a span that doubles`(repeats: Int) {
        let span = Double(1 << repeats)
        for random in [0, 0.25, 0.999] {
            #expect(Retry.delay(repeats: repeats, after: nil, left: 60, random: random) == span * random)
        }
    }

    @Test func `the jitter comes on top of what the server asks for, within what is left`() {
        #expect(Retry.delay(repeats: 1, after: 10, left: 60, random: 0.5) == 11)
        #expect(Retry.delay(repeats: 4, after: 58, left: 60, random: 0.5) == 60)
        #expect(Retry.delay(repeats: 0, after: 61, left: 60, random: 0.5) == nil)
        #expect(Retry.delay(repeats: 0, after: nil, left: -1, random: 0.5) == nil)
    }

    @Test func `Retry-After is honoured`() async throws {
        try await Scene.with([.status(429, headers: ["retry-after": "20"]), .page()]) { scene in
            _ = try await scene.service.pullChanges(since: 0)
            #expect(scene.clock.waits == [20.5])
        }
    }

    @Test func `a server that asks for more than is left of the minute isn't waited for`() async throws {
        try await Scene.with([.status(503, headers: ["retry-after": "3600"])]) { scene in
            #expect(
                await scene.pullFailure() == .passing(code: nil, message: "status 503 without an explanation"))
            #expect(scene.clock.waits.isEmpty)
        }
    }

    @Test func `no try starts after 60 seconds`() async throws {
        let asks = Answer.status(503, headers: ["retry-after": "25"])
        try await Scene.with([asks, asks, asks, asks]) { scene in
            #expect(await scene.pullFailure() != nil)
            #expect(scene.clock.waits == [25.5, 26])
            #expect(await scene.transport.requests.count == 3)
        }
    }
}
