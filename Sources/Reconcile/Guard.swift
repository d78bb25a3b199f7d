import Model

/// The deletion guard (sync.md): many deletions at once are more often an accident than a wish.
public struct DeletionGuard: Sendable, Equatable {
    /// Tasks that exist now, before the plan is carried out.
    public var existing: Int
    /// Deletions of the plan that nobody was asked about yet, on the server and here.
    public var onServer: Int
    public var here: Int
    /// Changed files whose time is older than the one that was verified.
    public var wentBack: Int
    /// Deletions of the last hour that went through unasked.
    public var lastHour: Int

    public init(existing: Int, onServer: Int, here: Int, wentBack: Int = 0, lastHour: Int = 0) {
        self.existing = existing
        self.onServer = onServer
        self.here = here
        self.wentBack = wentBack
        self.lastHour = lastHour
    }

    /// More than this many files that went back in time are guarded.
    public static let wentBackLimit = 10

    public var guardsDeletions: Bool {
        let planned = onServer + here
        guard planned > 0 else { return false }
        let gone = planned + lastHour
        let before = existing + lastHour
        return gone > 10 && gone * 4 > before || before >= 3 && gone >= before
    }

    public var guardsWentBack: Bool { wentBack > Self.wentBackLimit }

    /// The number that `--allow-deletions` must name; 0: nothing is held.
    public var count: Int {
        (guardsDeletions ? onServer + here : 0) + (guardsWentBack ? wentBack : 0)
    }
}
