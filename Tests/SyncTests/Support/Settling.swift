import Model
import Testing

@testable import Sync

extension World {
    /// A server with two devices that both have these files.
    static func withTwo(_ files: [String: String] = [:]) async throws -> (world: World, a: Device, b: Device) {
        let world = try World()
        let (a, b) = (try await world.device("a"), try await world.device("b"))
        for (place, text) in files { a.write(place, text) }
        try await a.sync()
        try await b.sync()
        return (world, a, b)
    }
}

/// Both devices come to the same, and then a sync does nothing.
func settle(_ a: Device, _ b: Device, _ location: SourceLocation = #_sourceLocation) async throws {
    for device in [a, b, a, b] {
        let report = try await device.sync()
        #expect(report.failure == nil, sourceLocation: location)
    }
    #expect(try a.contents() == (try b.contents()), sourceLocation: location)
    for device in [a, b] {
        let report = try await device.sync()
        #expect(report.requests == 1, "\(device.name)", sourceLocation: location)
        #expect(report.sent == Tally(), "\(device.name)", sourceLocation: location)
        #expect(report.received == Tally(), "\(device.name)", sourceLocation: location)
        #expect(report.conflicts.isEmpty, "\(device.name)", sourceLocation: location)
        #expect(report.waiting.isEmpty, "\(device.name)", sourceLocation: location)
        #expect(report.guarded == nil, "\(device.name)", sourceLocation: location)
    }
}

/// Whether a request calls this function of the database.
func calls(_ function: String) -> @Sendable (HTTPRequest) -> Bool {
    { $0.target.hasSuffix("/rpc/" + function) }
}

extension Device {
    func intercept(_ way: Way?) { onTheWay.withLock { $0 = way } }

    /// No request gets through; nil tries are counted.
    func loseNetwork(_ isLost: Bool) {
        let noWay: Way = { _, _ in throw ConnectionRefused() }
        intercept(isLost ? noWay : nil)
    }

    /// Lets one answer be changed.
    func change(answersOf function: String, _ change: @escaping @Sendable (inout [Text: JSON]) -> Void) {
        intercept { request, server in
            var answer = try await server(request)
            guard calls(function)(request), answer.status == 200, var members = try JSON(parsing: answer.body).object
            else { return answer }
            change(&members)
            answer.body = JSON.object(members).serialized
            answer.headers["content-length"] = nil
            return answer
        }
    }

    /// What was overwritten or removed, and is kept.
    var displaced: [String] {
        let folder = root + "/.otask/displaced"
        return Shell.entries(folder).compactMap {
            Shell.read(folder + "/" + $0).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Every file below the workspace with its bytes, sessions and SQLite's side files apart.
    func disk() -> [String: [UInt8]] {
        var all: [String: [UInt8]] = [:]
        for file in Shell.files(below: root)
        where !file.hasSuffix("-wal") && !file.hasSuffix("-shm") && !file.hasSuffix("lock") {
            all[file] = Shell.read(root + "/" + file)
        }
        return all
    }
}

struct ConnectionRefused: Error {}
