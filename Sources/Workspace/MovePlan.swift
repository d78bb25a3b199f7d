import Libraries
import Model

/// A file's way from one path to another, for the journal before its first rename.
public struct Move: Hashable, Sendable {
    public var from: Text
    public var to: Text
    /// Used only where the move can't be one rename.
    public var temporary: Text
    /// The file that moves, so that a later run can tell where it is: inode, and birth time where there is one.
    public var inode: UInt64
    public var birth: Int64?

    public init(from: Text, to: Text, temporary: Text, inode: UInt64, birth: Int64?) {
        self.from = from
        self.to = to
        self.temporary = temporary
        self.inode = inode
        self.birth = birth
    }
}

/// The renames that bring about moves.
public enum MovePlan {
    public struct Step: Hashable, Sendable {
        public var from: Text
        public var to: Text
        /// Which of the moves.
        public var move: Int

        public init(from: Text, to: Text, move: Int) {
            self.from = from
            self.to = to
            self.move = move
        }
    }

    /// An order of renames in which no target is taken by a file that has yet to move. Only cycles and changes of case go
    /// through the temporary names.
    public static func order(_ moves: [Move], foldedKey: (Text) -> Text) -> [Step] {
        let sources = moves.map { foldedKey($0.from) }
        let targets = moves.map { foldedKey($0.to) }
        // How many files that have yet to move stand at a key, and who waits for it.
        var standing: [Text: Int] = [:]
        var waiting: [Text: [Int]] = [:]
        for index in moves.indices {
            standing[sources[index], default: 0] += 1
            waiting[targets[index], default: []].append(index)
        }
        var steps: [Step] = []
        var location = moves.map(\.from)
        var isDone = [Bool](repeating: false, count: moves.count)
        var ready = Array(moves.indices)

        func isFree(_ index: Int) -> Bool {
            let isOwn = sources[index] == targets[index] && location[index] == moves[index].from
            return standing[targets[index], default: 0] == (isOwn ? 1 : 0)
        }
        func go(_ index: Int, to path: Text) {
            steps.append(Step(from: location[index], to: path, move: index))
            if location[index] == moves[index].from {
                standing[sources[index]]! -= 1
                ready += waiting[sources[index]] ?? []
            }
            location[index] = path
        }
        var next = 0
        while true {
            while next < ready.count {
                let index = ready[next]
                next += 1
                if isDone[index] || !isFree(index) { continue }
                isDone[index] = true
                if sources[index] == targets[index] { go(index, to: moves[index].temporary) }
                go(index, to: moves[index].to)
            }
            // All that is left waits for one another.
            guard let index = moves.indices.first(where: { !isDone[$0] && location[$0] == moves[$0].from }) else {
                return steps
            }
            go(index, to: moves[index].temporary)
        }
    }
}
