import RequestLists
import Testing

@Suite("Requests and the answers that they must get")
struct RequestTests {
    @Test("push_changes", arguments: try Scenario.load("push"))
    func push(_ scenario: Scenario) async throws { try await Bench().run(scenario) }

    @Test("pull_changes", arguments: try Scenario.load("pull"))
    func pull(_ scenario: Scenario) async throws { try await Bench().run(scenario) }

    @Test("photos", arguments: try Scenario.load("photos"))
    func photos(_ scenario: Scenario) async throws { try await Bench().run(scenario) }

    @Test("plain reads", arguments: try Scenario.load("reads"))
    func reads(_ scenario: Scenario) async throws { try await Bench().run(scenario) }

    @Test("plain writes", arguments: try Scenario.load("writes"))
    func writes(_ scenario: Scenario) async throws { try await Bench().run(scenario) }

    @Test("accounts and sessions", arguments: try Scenario.load("auth"))
    func auth(_ scenario: Scenario) async throws { try await Bench().run(scenario) }
}
