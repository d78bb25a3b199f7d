import Model

/// Why one change can't go through as it is.
public struct ItemFailure: Hashable, Sendable {
    public enum Kind: Sendable {
        /// Not to be sent again as it is.
        case refused
        /// To be tried again later, on its own.
        case later
    }

    public var kind: Kind
    public var code: Text?
    public var message: Text

    public init(kind: Kind, code: Text?, message: Text) {
        self.kind = kind
        self.code = code
        self.message = message
    }
}

/// What became of one change of a batch.
public enum PushOutcome: Hashable, Sendable {
    case answered(ChangeAnswer)
    case failed(ItemFailure)
    /// Not known: it may have been applied, and its record in flight stays.
    case unanswered
}

/// What became of a batch.
public struct PushResult: Hashable, Sendable {
    /// One for each change, in their order.
    public var outcomes: [PushOutcome]
    /// Why some are unanswered; nil where none is.
    public var stopped: ServiceError?
}

extension SyncService {
    /// Sends one of `Batches.split`. A batch that is refused as a whole, or whose tries are used up though the server
    /// answers `pull_changes`, is halved, down to the item. Where both halves of the first split fail in the same
    /// way, it isn't an item: then the server counts as unreachable. (Not so where size or time was the reason: smaller
    /// is what helps.)
    public func push(_ batch: [Change]) async -> PushResult {
        guard !batch.isEmpty else { return PushResult(outcomes: [], stopped: nil) }
        var push = Push(changes: batch) { changes async throws(ServiceError) in
            try await pushChanges(changes)
        } answers: { () async throws(ServiceError) in
            _ = try await pullChanges(since: 0, maxRows: 1)
        }
        return await push.run()
    }
}

/// The halving of one batch, apart from what sends it.
struct Push {
    private let changes: [Change]
    private let send: ([Change]) async throws(ServiceError) -> [ChangeAnswer]
    /// Throws where the server doesn't answer a page of the feed.
    private let answers: () async throws(ServiceError) -> Void
    private var outcomes: [PushOutcome]

    init(
        changes: [Change], send: @escaping ([Change]) async throws(ServiceError) -> [ChangeAnswer],
        answers: @escaping () async throws(ServiceError) -> Void
    ) {
        self.changes = changes
        self.send = send
        self.answers = answers
        outcomes = Array(repeating: .unanswered, count: changes.count)
    }

    mutating func run() async -> PushResult {
        do throws(ServiceError) {
            let all = changes.indices
            if let reason = try await attempt(all) {
                if all.count == 1 {
                    give(up: all.lowerBound, reason)
                } else {
                    try await firstSplit(all)
                }
            }
            return PushResult(outcomes: outcomes, stopped: nil)
        } catch {
            return PushResult(outcomes: outcomes, stopped: error)
        }
    }

    /// Why a part of the batch was not taken, though the server answers.
    private enum Reason: Hashable {
        /// 413 or 57014.
        case tooLarge(ItemFailure)
        case refused(ItemFailure)
        /// The tries were used up.
        case passing(ItemFailure)

        var failure: ItemFailure {
            switch self {
            case .tooLarge(let failure), .refused(let failure), .passing(let failure): failure
            }
        }

        /// Whether both came for the same reason: messages may name different things.
        func isLike(_ other: Reason) -> Bool {
            switch (self, other) {
            case (.refused(let a), .refused(let b)), (.passing(let a), .passing(let b)): a.code == b.code
            default: false
            }
        }
    }

    /// Sends a part. Nil: its outcomes are known. Throws what halving doesn't help against.
    private mutating func attempt(_ part: Range<Int>) async throws(ServiceError) -> Reason? {
        do throws(ServiceError) {
            for (index, answer) in zip(part, try await send(Array(changes[part]))) {
                outcomes[index] = .answered(answer)
            }
            return nil
        } catch {
            switch error {
            case .splittable("57014", _, let message):
                return .tooLarge(ItemFailure(kind: .later, code: "57014", message: message))
            case .splittable(let code, 413, let message):
                let words: Text = "too large for the server: \(message)"
                return .tooLarge(ItemFailure(kind: .refused, code: code ?? "413", message: words))
            case .splittable(let code, let status, let message):
                return .refused(ItemFailure(kind: .refused, code: code ?? Text(String(status)), message: message))
            case .passing(let code, let message):
                try await answers()
                return .passing(ItemFailure(kind: .later, code: code, message: message))
            default: throw error
            }
        }
    }

    private mutating func give(up index: Int, _ reason: Reason) { outcomes[index] = .failed(reason.failure) }

    /// The second half is sent before the first is cut further, since only both together tell whether it is an item.
    private mutating func firstSplit(_ part: Range<Int>) async throws(ServiceError) {
        let (first, second) = Self.halves(part)
        let firstReason = try await attempt(first)
        let secondReason = try await attempt(second)
        if let firstReason, let secondReason, firstReason.isLike(secondReason) {
            throw .unreachable("it takes no change at all: \(firstReason.failure.message)")
        }
        if let firstReason { try await divide(first, firstReason) }
        if let secondReason { try await divide(second, secondReason) }
    }

    /// Cuts a part that failed, down to the item.
    private mutating func divide(_ part: Range<Int>, _ reason: Reason) async throws(ServiceError) {
        if part.count == 1 { return give(up: part.lowerBound, reason) }
        let (first, second) = Self.halves(part)
        if let reason = try await attempt(first) { try await divide(first, reason) }
        if let reason = try await attempt(second) { try await divide(second, reason) }
    }

    private static func halves(_ part: Range<Int>) -> (Range<Int>, Range<Int>) {
        let middle = part.lowerBound + part.count / 2
        return (part.lowerBound..<middle, middle..<part.upperBound)
    }
}
