import Model
import Testing

@testable import Supabase

struct BatchesTests {
    @Test func `a batch has at most 500 changes, in order`() {
        let changes = (0..<1_201).map { Scene.change($0) }
        let batches = Batches.split(changes)
        #expect(batches.map(\.count) == [500, 500, 201])
        #expect(batches.flatMap { $0 } == changes)
    }

    @Test func `a batch has at most 900 KB of JSON, and a single larger change goes alone`() {
        let sizes = [300_000, 300_000, 290_000, 10, 1_500_000, 10, 899_000, 2_000]
        let changes = sizes.enumerated().map { Scene.change($0, notes: $1) }
        let batches = Batches.split(changes)
        #expect(batches.map(\.count) == [4, 1, 2, 1])
        #expect(batches.flatMap { $0 } == changes)
        for batch in batches where batch.count > 1 {
            let body: JSON = ["changes": .array(batch.map(\.json))]
            #expect(body.serialized.count <= Batches.maximumBytes)
        }
    }

    @Test func `a batch may have 900 KB to the byte`() {
        let empty: JSON = ["changes": .array([Scene.change(0).json, Scene.change(1).json])]
        let room = Batches.maximumBytes - empty.serialized.count
        #expect(Batches.split([Scene.change(0, notes: room), Scene.change(1)]).count == 1)
        #expect(Batches.split([Scene.change(0, notes: room + 1), Scene.change(1)]).count == 2)
    }

    @Test func `no change makes no batch`() { #expect(Batches.split([]).isEmpty) }
}

/// A server that refuses a batch in which one of some changes stands.
private actor PickyServer {
    let bad: Set<Int>
    let error: Answer
    private(set) var pushes: [[Int]] = []
    private(set) var pulls = 0
    private let pull: Answer

    init(bad: Set<Int>, error: Answer, pull: Answer = .page()) {
        self.bad = bad
        self.error = error
        self.pull = pull
    }

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        if request.target.hasSuffix("pull_changes") {
            pulls += 1
            return try pull.get()
        }
        let changes = try JSON(parsing: request.body)["changes"]?.array ?? []
        let numbers = changes.compactMap { $0["change_id"]?.text }.compactMap { Int($0.string.suffix(12)) }
        pushes.append(numbers)
        if !bad.isDisjoint(with: numbers) { return try error.get() }
        let answers = changes.map { change -> JSON in
            ["change_id": change["change_id"]!, "status": "applied", "code": nil, "message": nil, "row": nil]
        }
        return try Answer.status(200, .array(answers)).get()
    }
}

struct PushTests {
    /// What became of so many changes at this server: `a` applied, `r` refused, `l` later, `?` unanswered.
    private func push(_ count: Int, _ server: PickyServer) async throws -> (outcomes: String, stopped: ServiceError?) {
        var result = PushResult(outcomes: [], stopped: nil)
        try await Scene.with([]) { scene in
            let service = SyncService(
                project: scene.project, sessions: scene.keeper,
                transport: HandlerTransport { try await server.answer($0) }, timing: scene.clock.timing)
            let changes = (0..<count).map { Scene.change($0) }
            result = await service.push(changes)
            for (change, outcome) in zip(changes, result.outcomes) {
                if case .answered(let answer) = outcome { #expect(answer.changeID == change.changeID) }
            }
        }
        let letters = result.outcomes.map { outcome in
            switch outcome {
            case .answered: "a"
            case .failed(let failure): failure.kind == .refused ? "r" : "l"
            case .unanswered: "?"
            }
        }
        return (letters.joined(), result.stopped)
    }

    @Test func `a batch that goes through is one request`() async throws {
        let server = PickyServer(bad: [], error: .status(500))
        let result = try await push(8, server)
        #expect(result.outcomes == "aaaaaaaa")
        #expect(result.stopped == nil)
        #expect(await server.pushes.count == 1)
    }

    @Test(
        arguments: [
            (.status(413), "aaaaaraa"), (.code(500, "57014"), "aaaaalaa"), (.code(400, "22P05"), "aaaaaraa"),
            (.code(403, "42501"), "aaaaaraa"), (.code(500, "P0002"), "aaaaaraa"), (.status(500), "aaaaalaa"),
            (.failure(.cut), "aaaaalaa"),
        ] as [(Answer, String)])
    func `a batch is halved, down to the item, and the rest goes through`(error: Answer, outcomes: String) async throws
    {
        let result = try await push(8, PickyServer(bad: [5], error: error))
        #expect(result.outcomes == outcomes)
        #expect(result.stopped == nil)
    }

    @Test func `the halves are sent in order`() async throws {
        let server = PickyServer(bad: [5], error: .code(400, "22P05"))
        _ = try await push(8, server)
        let sent = await server.pushes
        #expect(sent == [Array(0..<8), [0, 1, 2, 3], [4, 5, 6, 7], [4, 5], [4], [5], [6, 7]])
    }

    @Test func `57014 halves at once, since it would take as long again`() async throws {
        let server = PickyServer(bad: [0], error: .code(500, "57014"))
        #expect(try await push(2, server).outcomes == "la")
        #expect(await server.pushes == [[0, 1], [0], [1]])
    }

    @Test func `if both halves of the first split fail likewise, it isn't an item: as unreachable`() async throws {
        let server = PickyServer(bad: Set(0..<8), error: .code(400, "22P05", "bad"))
        let result = try await push(8, server)
        #expect(result.outcomes == "????????")
        #expect(result.stopped == .unreachable("it takes no change at all: bad"))
        #expect(await server.pushes.count == 3)
    }

    @Test func `what is too large in both halves is cut further, since smaller helps`() async throws {
        let result = try await push(4, PickyServer(bad: [0, 3], error: .status(413)))
        #expect(result.outcomes == "raar")
        #expect(result.stopped == nil)
    }

    @Test(
        arguments: [(.status(413), "r"), (.code(500, "57014"), "l"), (.code(400, "22P05"), "r"), (.status(503), "l")]
            as [(Answer, String)])
    func `a single change fails on its own`(error: Answer, outcome: String) async throws {
        let result = try await push(1, PickyServer(bad: [0], error: error))
        #expect(result.outcomes == outcome)
        #expect(result.stopped == nil)
    }

    @Test func `tries used up halve only where the feed answers`() async throws {
        let server = PickyServer(bad: [3], error: .status(503), pull: .failure(.unreachable("no route")))
        let result = try await push(4, server)
        #expect(result.outcomes == "????")
        #expect(result.stopped == .unreachable("no route"))
        #expect(await server.pulls == 1)
    }

    @Test(
        arguments: [
            (.code(400, "OT003", "gone"), .accountGone("gone")),
            (.code(404, "PGRST202", "none"), .schemaMissing("none")),
            (.failure(.unreachable("no route")), .unreachable("no route")),
            (.text(200, "<html>"), .garbled("status 200, 6 bytes of text/html")),
        ] as [(Answer, ServiceError)])
    func `what halving doesn't help against stops the batch`(error: Answer, stopped: ServiceError) async throws {
        let server = PickyServer(bad: [0], error: error)
        let result = try await push(4, server)
        #expect(result.outcomes == "????")
        #expect(result.stopped == stopped)
        #expect(await server.pushes.count == 1)
    }

    private static func answer(_ number: Int, _ status: JSON) -> JSON {
        ["change_id": .string(Scene.id(number).text), "status": status, "code": nil, "message": nil, "row": nil]
    }

    @Test(
        arguments: [
            [], [:], [answer(2, "applied")], [answer(1, "done")], [answer(1, "applied"), answer(1, "applied")],
            "applied",
        ] as [JSON])
    func `answers that don't fit the changes sent are garbled`(body: JSON) async throws {
        try await Scene.with([.status(200, body)]) { scene in
            let result = await scene.service.push([Scene.change(1)])
            guard case .garbled? = result.stopped else {
                Issue.record("it isn't told as garbled")
                return
            }
            #expect(result.outcomes == [.unanswered])
        }
    }

    @Test func `a row of another user in an answer is dropped`() async throws {
        for (owner, kept) in [(Scene.user, true), (Scene.other, false)] {
            let answer: JSON = [
                "change_id": .string(Scene.id(1).text), "status": "conflict", "code": nil, "message": nil,
                "row": ["user_id": .string(owner.text)],
            ]
            try await Scene.with([.status(200, [answer])]) { scene in
                let answers = try await scene.service.pushChanges([Scene.change(1)])
                #expect(answers.map { $0.row != nil } == [kept])
            }
        }
    }
}
