/// The number of single-letter insertions, deletions, replacements and swaps of neighbours that lead from one word to
/// the other (optimal string alignment).
public func editDistance(_ a: some StringProtocol, _ b: some StringProtocol) -> Int {
    let a = Array(a.utf8)
    let b = Array(b.utf8)
    var before: [Int] = []
    var previous = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var best = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
            row.append(best)
        }
        before = previous
        previous = row
    }
    return previous[b.count]
}

/// The words that a mistyped one may mean, nearest first: at most a third of its letters wrong, or a word it begins.
public func suggestions(for word: String, among words: [String]) -> [String] {
    guard !word.isEmpty else { return [] }
    let near = words.compactMap { candidate -> (word: String, distance: Int)? in
        if word.utf8.count >= 2, candidate.hasPrefix(word) { return (candidate, 0) }
        let distance = editDistance(word, candidate)
        return distance <= max(1, word.utf8.count / 3) ? (candidate, distance) : nil
    }
    guard let best = near.map(\.distance).min() else { return [] }
    return near.filter { $0.distance == best }.map(\.word).prefix(3).map(\.self)
}
