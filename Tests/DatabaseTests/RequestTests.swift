import RequestLists
import Testing

/// The same lists as the embedded server answers. What can't be asked of the database alone stands in `notAsked`, with
/// the reason: nothing is left out unsaid.
@Suite("Requests and the answers that the SQL gives")
struct DatabaseRequestTests {
    @Test("push_changes", arguments: try Scenario.load("push"))
    func push(_ scenario: Scenario) throws { try run(scenario) }

    @Test("pull_changes", arguments: try Scenario.load("pull"))
    func pull(_ scenario: Scenario) throws { try run(scenario) }

    @Test("photos", arguments: try Scenario.load("photos"))
    func photos(_ scenario: Scenario) throws { try run(scenario) }

    @Test("plain writes", arguments: try Scenario.load("writes"))
    func writes(_ scenario: Scenario) throws { try run(scenario) }

    @Test("plain reads", arguments: try Scenario.load("reads"))
    func reads(_ scenario: Scenario) throws { try run(scenario) }

    private func run(_ scenario: Scenario) throws {
        let bench = try RequestBench()
        try bench.run(scenario)
        #expect(bench.notRun == Self.notAsked[scenario.name] ?? [:])
    }

    /// The steps of a scenario that say something about PostgREST or the gateway alone.
    private static let notAsked: [String: [Int: String]] = [
        "GET reads the feed too, and can't call what writes": [3: "PostgREST answers PGRST101 itself"],
        "a patch bumps the version and stamps what changed, without a device": [
            7: "PostgREST answers an empty patch itself"
        ],
        "a patch is refused for what it changes alone": [
            3: "the extension pg-safeupdate refuses it",
            4: "the extension pg-safeupdate refuses it",
            5: "PostgREST answers PGRST124 itself",
        ],
        "a single object is exactly one row": [5: "PostgREST answers PGRST107 itself"],
        "an insert is refused: a scalar": [1: "PostgREST answers PGRST102 itself"],
        "an insert is refused: an unknown column": [1: "PostgREST answers PGRST204 itself"],
        "an insert is refused: uneven keys": [1: "PostgREST answers PGRST102 itself"],
        "arguments that no function takes are 404": [
            1: "PostgREST answers PGRST202 itself",
            2: "PostgREST answers PGRST202 itself",
        ],
        "columns= lets keys differ": [1: "PostgREST fills in defaults"],
        "filter and=(done.is.true,title.eq.T3)": [2: "PostgREST parses trees of conditions"],
        "filter created_at=eq.2026-11-30T11:00:00.123456%2B01:00": [
            2: "it is about the embedded server's clock, which stands still"
        ],
        "filter created_at=gte.2026-11-30T10:00:00Z": [
            2: "it is about the embedded server's clock, which stands still"
        ],
        "filter created_at=lt.2026-11-30T10:00:00%2B00:00": [
            2: "it is about the embedded server's clock, which stands still"
        ],
        "filter not.or=(title.eq.T3,title.eq.t4)": [2: "PostgREST parses trees of conditions"],
        "filter or=(not.and(done.is.true,title.eq.T3),id.eq.{t3})": [2: "PostgREST parses trees of conditions"],
        "filter or=(title.eq.%22%C3%9Cn%C3%AFcode,%20%5C%22quotes%5C%22%20%26%20(parens)%22,title.eq.T3)": [
            2: "PostgREST parses trees of conditions"
        ],
        "filter or=(title.eq.T3,and(done.is.false,path.eq.a))": [2: "PostgREST parses trees of conditions"],
        "filter or=(title.ilike.*milk*,notes.ilike.*lines*)": [2: "PostgREST parses trees of conditions"],
        "filter or=(title.not.eq.T3,done.is.true)": [2: "PostgREST parses trees of conditions"],
        "half a surrogate pair or broken JSON fails the whole call": [
            1: "PostgREST answers PGRST102 itself",
            2: "PostgREST answers PGRST102 itself",
        ],
        "order, limit and offset": [
            7: "PostgREST pages and counts",
            8: "PostgREST pages and counts",
            9: "PostgREST pages and counts",
            11: "PostgREST answers PGRST103 itself",
            12: "HEAD is PostgREST's",
        ],
        "other paths, tables and accounts": [
            2: "PostgREST answers PGRST205 itself",
            3: "PostgREST answers PGRST125 itself",
            6: "PostgREST answers PGRST122 itself",
            7: "the gateway and PostgREST read keys and tokens",
        ],
        "refused: done=is.maybe": [1: "PostgREST answers PGRST100 itself"],
        "refused: limit=-1": [1: "PostgREST answers PGRST103 itself"],
        "refused: or=(title.eq.T3": [1: "PostgREST answers PGRST100 itself"],
        "refused: select=id,photos(name)": [1: "PostgREST answers PGRST127 itself"],
        "refused: title=eq": [1: "PostgREST answers PGRST100 itself"],
        "refused: title=foo.1": [1: "PostgREST answers PGRST100 itself"],
        "without a session, or with a token that is no good, nothing is told": [
            2: "PostgREST answers PGRST301 itself",
            3: "PostgREST answers PGRST301 itself",
            5: "PostgREST answers PGRST303 itself",
        ],
    ]
}
