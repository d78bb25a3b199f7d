import RequestLists
import Testing

/// The same lists, asked of the server itself and over HTTP.
@Suite("Requests and the answers that they must get")
struct RequestTests {
    @Test("push_changes", arguments: try Scenario.load("push"), [false, true])
    func push(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("pull_changes", arguments: try Scenario.load("pull"), [false, true])
    func pull(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("photos", arguments: try Scenario.load("photos"), [false, true])
    func photos(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("plain reads", arguments: try Scenario.load("reads"), [false, true])
    func reads(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("plain writes", arguments: try Scenario.load("writes"), [false, true])
    func writes(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("what was recorded from PostgREST", arguments: try Scenario.load("recorded"), [false, true])
    func recorded(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }

    @Test("accounts and sessions", arguments: try Scenario.load("auth"), [false, true])
    func auth(_ scenario: Scenario, wired: Bool) async throws { try await Bench(wired: wired).run(scenario) }
}
