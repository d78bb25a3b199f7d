import LocalSupabase
import Model
import Testing

@testable import Sync

/// sync.md, "In flight": answers that never came, before or after the change was applied.
struct InFlightScenarioTests {
    enum Loss: CaseIterable { case before, after }
    enum Meanwhile: CaseIterable { case nothing, editedHere, editedThere, deletedHere, deletedThere, movedThere }

    /// All tries of one push are lost.
    private func lose(_ loss: Loss, _ world: World) async {
        await world.server.addFault(loss == .before ? .dropBefore : .dropAfter, times: 6, on: calls("push_changes"))
    }

    @Test(arguments: Loss.allCases, Meanwhile.allCases)
    func `an insert whose answer was lost is never doubled`(_ loss: Loss, _ meanwhile: Meanwhile) async throws {
        let (world, a, b) = try await World.withTwo(["other": "# Other\n", "more": "# More\n", "third": "# Third\n"])
        let phone = try await RestClient(world)
        a.write("one", "# One\n\nnotes\n")
        await lose(loss, world)
        #expect(try await a.sync().waiting.map(\.state) == [.later])
        await world.server.removeFaults()
        let isThere = loss == .after
        #expect(try await phone.titles().contains("One") == isThere)
        try await b.sync()
        switch meanwhile {
        case .nothing: break
        case .editedHere: a.replace("one", "notes", "edited")
        case .editedThere: b.replace("one", "notes", "edited")
        case .deletedHere: a.remove("one")
        case .deletedThere: b.remove("one")
        case .movedThere: if isThere { b.move("one", "sub/one") }
        }
        if isThere { try await b.sync() }
        try await settle(a, b)
        let contents = try a.contents()
        let ones = contents.filter { $0.value.title == "One" }
        let isDeleted = meanwhile == .deletedHere || meanwhile == .deletedThere && isThere
        #expect(ones.count == (isDeleted ? 0 : 1))
        if !isDeleted {
            let isEdited = meanwhile == .editedHere || meanwhile == .editedThere && isThere
            #expect(ones.first?.value.notes == (isEdited ? "edited" : "notes"))
        }
        #expect(try await phone.titles().count == contents.count)
    }

    @Test(arguments: Loss.allCases, Meanwhile.allCases)
    func `an edit whose answer was lost applies once`(_ loss: Loss, _ meanwhile: Meanwhile) async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"])
        a.replace("one", "notes", "said")
        await lose(loss, world)
        #expect(try await a.sync().waiting.map(\.state) == [.later])
        await world.server.removeFaults()
        try await b.sync()
        switch meanwhile {
        case .nothing: break
        case .editedHere: a.replace("one", "said", "said more")
        case .editedThere: b.replace("one", "# One", "# Eins")
        case .deletedHere: a.remove("one")
        case .deletedThere: b.remove("one")
        case .movedThere: b.move("one", "sub/one")
        }
        try await b.sync()
        try await settle(a, b)
        let contents = try a.contents()
        let one = contents.first { $0.value.title == "One" || $0.value.title == "Eins" }
        switch meanwhile {
        case .nothing: #expect(one?.value.notes == "said")
        case .editedHere: #expect(one?.value.notes == "said more")
        case .editedThere: #expect(one?.value == TaskContent(title: "Eins", notes: "said"))
        case .deletedHere: #expect(one == nil)
        // Where it was applied, nobody edited after it; else the edit here wins.
        case .deletedThere: #expect((one == nil) == (loss == .after))
        case .movedThere:
            #expect(one?.key == "sub/one")
            #expect(one?.value.notes == "said")
        }
        #expect(contents.count == (one == nil ? 2 : 3))
    }

    @Test(arguments: Loss.allCases, [Meanwhile.nothing, .editedThere, .deletedThere])
    func `a deletion whose answer was lost`(_ loss: Loss, _ meanwhile: Meanwhile) async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"])
        a.remove("one")
        await lose(loss, world)
        #expect(try await a.sync().waiting.map(\.state) == [.later])
        await world.server.removeFaults()
        switch meanwhile {
        case .editedThere: b.replace("one", "notes", "edited")
        case .deletedThere: b.remove("one")
        default: break
        }
        try await b.sync()
        try await settle(a, b)
        // Edited elsewhere: the edit wins, whether the deletion had been applied or not.
        #expect(a.places.contains("one") == (meanwhile == .editedThere))
    }

    @Test func `an edit taken back before the retry is sent again, and nothing is lost`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        a.replace("one", "notes", "said")
        await lose(.after, world)
        try await a.sync()
        await world.server.removeFaults()
        a.replace("one", "said", "notes")
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "notes")
    }

    @Test func `a late request is no second change`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        a.replace("one", "notes", "first words")
        let late = Late()
        a.intercept { request, server in
            guard calls("push_changes")(request) else { return try await server(request) }
            await late.keep(request)
            throw ConnectionRefused()
        }
        #expect(try await a.sync().failure?.kind == .unreachable)
        a.intercept(nil)
        a.replace("one", "first words", "other words")
        try await settle(a, b)
        // The request arrives after all: it is based on a version that is past.
        let request = try #require(await late.request)
        _ = try await world.server.handle(request)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "other words")
    }

    @Test func `a new file's late request is no second task`() async throws {
        let (world, a, b) = try await World.withTwo()
        a.write("one", "# One\n\nfirst words\n")
        let late = Late()
        a.intercept { request, server in
            guard calls("push_changes")(request) else { return try await server(request) }
            await late.keep(request)
            throw ConnectionRefused()
        }
        #expect(try await a.sync().failure?.kind == .unreachable)
        a.intercept(nil)
        let request = try #require(await late.request)
        a.replace("one", "first words", "other words")
        // It arrives before the next run, and that run's own words come after.
        _ = try await world.server.handle(request)
        try await settle(a, b)
        #expect(b.places == ["one"])
        #expect(try b.contents()["one"]?.notes == "other words")
        _ = try await world.server.handle(request)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "other words")
    }

    @Test func `a change id belongs to one set of values`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        let said = Said()
        a.intercept { request, server in
            guard calls("push_changes")(request) else { return try await server(request) }
            await said.note(request)
            throw ConnectionRefused()
        }
        a.replace("one", "notes", "words")
        try await a.sync()
        try await a.sync()
        a.replace("one", "words", "other words")
        try await a.sync()
        let ids = await said.ids
        #expect(ids.count == 3)
        #expect(ids[0] == ids[1])
        #expect(ids[1] != ids[2])
        a.intercept(nil)
        try await settle(a, b)
    }

    @Test func `an answer that is cut in the middle counts as lost`() async throws {
        let (world, a, b) = try await World.withTwo()
        for number in 1...5 { a.write("t\(number)", "# Task \(number)\n") }
        await world.server.addFault(.truncate(to: 40), times: 1, on: calls("push_changes"))
        try await a.sync()
        try await settle(a, b)
        #expect(b.places.count == 5)
    }

    @Test func `the file is moved and edited while its insert is in flight`() async throws {
        let (world, a, b) = try await World.withTwo()
        a.write("one", "# One\n\nnotes\n")
        await lose(.after, world)
        try await a.sync()
        await world.server.removeFaults()
        a.move("one", "sub/two")
        a.replace("sub/two", "notes", "edited")
        try await settle(a, b)
        #expect(b.places == ["sub/two"])
        #expect(try b.contents()["sub/two"]?.notes == "edited")
    }
}

private actor Late {
    var request: HTTPRequest?
    func keep(_ request: HTTPRequest) { if self.request == nil { self.request = request } }
}

/// The change ids of the requests, in order.
private actor Said {
    var ids: [Text] = []
    func note(_ request: HTTPRequest) {
        let changes = (try? JSON(parsing: request.body))?["changes"]?.array ?? []
        ids += changes.compactMap { $0["change_id"]?.text }
    }
}
