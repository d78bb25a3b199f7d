import LocalSupabase
import Model
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The server as a whole")
struct ServerTests {
    @Test("the demo account is there from the first opening, and signs in with its password")
    func demo() async throws {
        let bench = try await Bench()
        let account = bench.server.demo
        let body: JSON = ["email": .string(Text(account.email)), "password": .string(Text(account.password))]
        let answer = try await bench.send(
            "POST", "/auth/v1/token?grant_type=password", as: nil, body: body.serialized)
        #expect(answer.status == 200)
        #expect(try JSON(parsing: answer.body)["user"]?["email"]?.text?.string == account.email)
    }

    @Test("without the publishable key the gateway answers, in a body without a code")
    func gateway() async throws {
        let server = try await Bench().server
        let answer = try await server.handle(HTTPRequest(method: "GET", target: "/rest/v1/tasks"))
        #expect(answer.status == 401)
        let body = try JSON(parsing: answer.body)
        #expect(body["message"] == "No API key found in request")
        #expect(body["code"] == nil)
    }

    @Test("a directory keeps accounts, keys and rows for the next opening")
    func directory() async throws {
        try await withFolder { folder in
            let first = try await Bench(directory: folder + "/a/b")
            try await first.insertTask("Paint")
            let clock = first.clock
            let second = try LocalSupabase(directory: folder + "/a/b", clock: { clock.now })
            #expect(second.publishableKey == first.server.publishableKey)
            #expect(try await first.titles(on: second) == ["Paint"])
        }
    }

    @Test("two openings of a directory write by turns: no number of the feed is missed or given twice")
    func turns() async throws {
        try await withFolder { folder in
            let bench = try await Bench(directory: folder)
            let clock = bench.clock
            let servers = [bench.server, try LocalSupabase(directory: folder, clock: { clock.now })]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try await bench.insertTask("task \(number)", on: servers[number % 2]) }
                }
                try await group.waitForAll()
            }
            let feed = try await bench.pull(since: 0)
            let sequence = feed["rows"]!.array!.map { $0["change_seq"]!.integer! }
            #expect(sequence.count == 21)
            #expect(sequence == Array(Set(sequence)).sorted())
            #expect(sequence.suffix(20) == Array(sequence.last! - 19...sequence.last!)[...])
        }
    }

    @Test("a deleted account's rows are gone; its token is answered OT003, and reads find nothing")
    func deletedUser() async throws {
        let bench = try await Bench()
        try await bench.insertTask("Paint")
        try await bench.server.deleteUser(bench.id(of: "ann"))
        for (name, body) in [("pull_changes", #"{"since":0}"#), ("push_changes", #"{"changes":[]}"#)] {
            let answer = try await bench.send("POST", "/rest/v1/rpc/\(name)", body: Array(body.utf8))
            #expect(answer.status == 400)
            #expect(try JSON(parsing: answer.body)["code"] == "OT003")
        }
        #expect(try await bench.titles() == [])
        let insert = try await bench.send("POST", "/rest/v1/tasks", body: Array(#"{"title":"a"}"#.utf8))
        #expect(try JSON(parsing: insert.body)["code"] == "23503")
        let user = try await bench.send("GET", "/auth/v1/user")
        #expect(user.status == 403)
        #expect(try JSON(parsing: user.body)["error_code"] == "user_not_found")
    }

    @Test("restored from a backup the feed goes back, and a newer cursor is behind")
    func restore() async throws {
        try await withFolder { folder in
            let bench = try await Bench()
            try await bench.insertTask("Paint")
            try await bench.server.backUp(to: folder + "/backup")
            try await bench.insertTask("Sweep")
            let cursor = try await bench.pull(since: 0)["next"]!.integer!
            try await bench.server.restore(from: folder + "/backup")
            #expect(try await bench.titles() == ["Paint"])
            let feed = try await bench.pull(since: cursor)
            #expect(feed["behind"] == true)
            try await bench.server.restore(from: folder + "/backup")
            try await bench.insertTask("Mow")
            #expect(try await bench.pull(since: 0)["next"]!.integer == cursor)
        }
    }

    @Test("a purge empties tombstones older than 180 days, once, by an update that revives nothing")
    func purge() async throws {
        let bench = try await Bench()
        try await bench.insertTask("Paint")
        _ = try await bench.send("DELETE", "/rest/v1/tasks?title=eq.Paint")
        bench.clock.move(seconds: 180 * 86_400)
        #expect(try await bench.server.purgeTombstones() == 0)
        bench.clock.move(seconds: 1)
        #expect(try await bench.server.purgeTombstones() == 1)
        #expect(try await bench.server.purgeTombstones() == 0)
        let later = try await bench.signedInAgain()
        let row = try await later.pull(since: 0)["rows"]!.array!.last!
        #expect(row["title"] == "")
        #expect(row["deleted_at"]?.isNull == false)
        #expect(row["version"] == 3)
        #expect(try await bench.server.purgeTombstones() == 0)
    }

    @Test("objects let go 30 days ago are handed out once, and no row may name them again")
    func collected() async throws {
        var bench = try await Bench()
        let ann = bench.id(of: "ann")
        let insert = """
            [{"id":"a0000000-0000-4000-8000-000000000001","title":"Paint"}]
            """
        _ = try await bench.send("POST", "/rest/v1/tasks", body: Array(insert.utf8))
        let photo = #"{"task_id":"a0000000-0000-4000-8000-000000000001","name":"a.jpg","object_path":"\#(ann)/a.jpg"}"#
        #expect(try await bench.send("POST", "/rest/v1/photos", body: Array(photo.utf8)).status == 201)
        let replaced = #"{"object_path":"\#(ann)/b.jpg"}"#
        _ = try await bench.send("PATCH", "/rest/v1/photos?name=eq.a.jpg", body: Array(replaced.utf8))
        _ = try await bench.send("DELETE", "/rest/v1/tasks?title=eq.Paint")
        #expect(try await bench.collect() == [])
        bench.clock.move(seconds: 30 * 86_400 + 1)
        bench = try await bench.signedInAgain()
        #expect(try await bench.collect() == [.string("\(ann)/a.jpg"), .string("\(ann)/b.jpg")])
        #expect(try await bench.collect() == [])

        // The task comes back; its photo does not, since the object is gone.
        let revive = #"{"id":"a0000000-0000-4000-8000-000000000001","title":"Paint again"}"#
        let merge = ["prefer": "resolution=merge-duplicates"]
        _ = try await bench.send("POST", "/rest/v1/tasks", headers: merge, body: Array(revive.utf8))
        #expect(try await bench.titles() == ["Paint again"])
        #expect(try await bench.send("GET", "/rest/v1/photos").body == Array("[]".utf8))
        let again = try await bench.send("POST", "/rest/v1/photos", body: Array(photo.utf8))
        #expect(try JSON(parsing: again.body)["code"] == "OT002")
    }
}

@Suite("Faults")
struct FaultTests {
    @Test("a request dropped before it applied leaves nothing; one dropped after it applied is done")
    func drops() async throws {
        let bench = try await Bench()
        await bench.server.addFault(.dropBefore)
        await #expect(throws: ConnectionLost()) { try await bench.insertTask("one") }
        #expect(try await bench.titles() == [])
        await bench.server.addFault(.dropAfter)
        await #expect(throws: ConnectionLost()) { try await bench.insertTask("two") }
        #expect(try await bench.titles() == ["two"])
    }

    @Test("a fault chooses its requests, lets some through first, and happens as often as was said")
    func choice() async throws {
        let bench = try await Bench()
        await bench.server.addFault(.status(503, retryAfter: 2), skipping: 1, times: 2) { $0.method == "POST" }
        var statuses: [Int] = []
        for title in ["a", "b", "c", "d"] {
            statuses.append(try await bench.insertTask(title).status)
            #expect(try await bench.send("GET", "/rest/v1/tasks").status == 200)
        }
        #expect(statuses == [201, 503, 503, 201])
        await bench.server.addFault(.dropBefore, times: 9)
        await bench.server.removeFaults()
        #expect(try await bench.titles() == ["a", "d"])
    }

    @Test("a truncated body tells its whole length")
    func truncated() async throws {
        let bench = try await Bench()
        try await bench.insertTask("Paint")
        await bench.server.addFault(.truncate(to: 5))
        let answer = try await bench.send("GET", "/rest/v1/tasks")
        #expect(answer.body.count == 5)
        #expect(Int(answer.headers["content-length"]!)! > 5)
    }

    @Test("an expired token is answered as REST and Auth do, once")
    func expired() async throws {
        let bench = try await Bench()
        await bench.server.addFault(.expireToken)
        let rest = try await bench.send("GET", "/rest/v1/tasks")
        #expect(rest.status == 401)
        #expect(try JSON(parsing: rest.body)["code"] == "PGRST303")
        await bench.server.addFault(.expireToken)
        #expect(try await bench.send("GET", "/auth/v1/user").status == 403)
        #expect(try await bench.titles() == [])
    }

    @Test("a request that is held back lets others overtake it")
    func held() async throws {
        let bench = try await Bench()
        let overtake: @Sendable () async -> Void = {
            _ = try? await bench.insertTask("second, but first")
        }
        await bench.server.addFault(.hold(overtake)) { $0.method == "POST" }
        try await bench.insertTask("first, but second")
        #expect(try await bench.titles() == ["second, but first", "first, but second"])
    }
}

/// Runs `body` with a folder of its own, which is removed afterwards.
private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "local-supabase-\(ItemID.random())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
}

extension Bench {
    @discardableResult
    fileprivate func insertTask(_ title: String, on other: LocalSupabase? = nil) async throws -> HTTPResponse {
        let body: JSON = ["title": .string(Text(title))]
        return try await send("POST", "/rest/v1/tasks", on: other, body: body.serialized)
    }

    /// The titles of ann's live tasks, in the order of their last change.
    fileprivate func titles(on other: LocalSupabase? = nil) async throws -> [Text] {
        let answer = try await send("GET", "/rest/v1/tasks?select=title&order=change_seq", on: other)
        return try JSON(parsing: answer.body).array!.map { $0["title"]!.text! }
    }

    fileprivate func pull(since: Int64) async throws -> JSON {
        let body: JSON = ["since": .integer(since)]
        return try JSON(parsing: try await send("POST", "/rest/v1/rpc/pull_changes", body: body.serialized).body)
    }

    fileprivate func collect() async throws -> [JSON] {
        let answer = try await send("POST", "/rest/v1/rpc/collect_released", body: Array(#"{"max":10}"#.utf8))
        return try JSON(parsing: answer.body).array!.sorted { $0.text! < $1.text! }
    }
}
