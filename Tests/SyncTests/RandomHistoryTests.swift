import Testing

@testable import Sync

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whatever two people, a phone, a bad line and a dying process do: at the end everybody has the same, nothing is lost
/// that nobody removed, nothing is doubled, and another sync does nothing.
///
/// `OTASK_SEED=n` replays one history and prints it; `OTASK_HISTORIES=n` plays so many.
struct RandomHistoryTests {
    static let seeds: [UInt64] = {
        if let seed = getenv("OTASK_SEED").flatMap({ UInt64(String(cString: $0)) }) { return [seed] }
        let count = getenv("OTASK_HISTORIES").flatMap { UInt64(String(cString: $0)) } ?? 300
        return Array(1...count)
    }()

    /// So many bundles, so that they use all cores.
    static let bundles = 8

    @Test(arguments: 0..<bundles)
    func `random histories end with everybody having the same`(_ bundle: Int) async throws {
        var passedOver = 0
        for seed in Self.seeds where Int(seed) % Self.bundles == bundle {
            let history = try await RandomHistory(seed: seed)
            do {
                try await history.play(steps: 10 + Int(seed % 31))
                try await history.settle()
                try await history.check()
                passedOver += history.passedOver
            } catch {
                Issue.record(
                    "OTASK_SEED=\(seed): \(error)\n\(history.story.joined(separator: "\n"))")
            }
        }
        if Self.seeds.count > Self.bundles { #expect(passedOver > 0, "no look was spared anything") }
    }
}
