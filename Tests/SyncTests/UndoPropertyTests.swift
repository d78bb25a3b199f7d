import History
import Libraries
import Model
import Testing

@testable import Sync

/// Whatever is edited, synced, undone and redone in any order: no byte that was ever recorded is lost, git finds nothing
/// wrong, and both devices end with the same. `OTASK_SEED=n` plays one again.
struct UndoPropertyTests {
    private static let seeds: [UInt64] = {
        let variables = Console.variables()
        if let seed = variables["OTASK_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(1...(variables["OTASK_UNDOS"].flatMap { UInt64($0) } ?? 12))
    }()

    @Test(arguments: seeds) func `random sequences of edits, syncs, undos and redos lose nothing`(_ seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let pair = try await Pair(["one": "# One\n\n1\n", "two": "# Two\n\n2\n", "three": "# Three\n\n3\n"])
        var recorded: [String: Set<String>] = ["a": [], "b": []]
        for step in 0..<24 {
            let device = Bool.random(using: &random) ? pair.a : pair.b
            let place = device.own.randomElement(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                if let place { device.write(place, (device.read(place) ?? "") + "step \(step)\n") }
            case 2: device.write("new\(step)", "# New \(step)\n\nfirst \(step)\n")
            case 3: if let place { device.move(place, "moved/\(step)") }
            case 4: if let place, device.own.count > 2 { device.remove(place) }
            case 5, 6: try await device.sync()
            case 7, 8: try undo(device, .last)
            default: try undo(device, .lastUndo)
            }
            for device in [pair.a, pair.b] {
                let before = recorded[device.name] ?? []
                let now = try states(of: device)
                #expect(before.subtracting(now) == [], "seed \(seed), step \(step): a state of \(device.name) is lost")
                recorded[device.name] = now
            }
        }
        for device in [pair.a, pair.b] {
            // Undo doesn't pass the deletion guard.
            let report = try await device.sync()
            if let guarded = report.guarded { try await device.sync { $0.allowDeletions = guarded.count } }
        }
        for device in [pair.a, pair.b, pair.a, pair.b] {
            let report = try await device.sync()
            if let guarded = report.guarded { try await device.sync { $0.allowDeletions = guarded.count } }
            for conflict in report.conflicts { try device.engine().resolve(conflict.id, .mine) }
        }
        for _ in 0..<2 { for device in [pair.a, pair.b] { try await device.sync() } }
        #expect(try pair.a.readable() == pair.b.readable(), "seed \(seed)")
        #expect(try pair.a.tasks() == pair.b.tasks(), "seed \(seed)")
        for device in [pair.a, pair.b] { try expectSound(device, seed) }
    }

    private func undo(_ device: Device, _ choice: UndoChoice) throws {
        do { _ = try device.engine().undo(choice) } catch is RunFailure {}
    }

    /// What every state of the history holds, as one text each; reading them proves that they can be.
    private func states(of device: Device) throws -> Set<String> {
        let history = try device.engine().openHistory()
        var states: Set<String> = []
        try history.forEachOperation { operation in
            let files = try history.files(at: operation.revision).map { path, content in
                "\(path)=\(String(decoding: try history.bytes(content), as: UTF8.self))"
            }
            states.insert("\(operation.revision): \(files.joined(separator: "|"))")
            return true
        }
        return states
    }

    private func expectSound(_ device: Device, _ seed: UInt64) throws {
        for name in Shell.entries(device.root + "/.otask/history") where name.hasSuffix(".git") {
            let check = try ChildProcess(
                [
                    "git", "-C", device.root + "/.otask/history/" + name, "fsck", "--strict", "--no-dangling",
                    "--no-progress",
                ])
            #expect(try check.wait() == 0, "seed \(seed): git fsck of \(device.name)")
        }
    }
}
