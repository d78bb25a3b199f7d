/// Lines of a file as bytes. A line ends with LF, CRLF or a lone CR, as in Markdown and YAML.
struct TaskFileLine: Equatable {
    /// Without the line end.
    let text: Range<Int>
    /// Empty at the end of a file without one.
    let ending: Range<Int>

    var range: Range<Int> { text.lowerBound..<ending.upperBound }
}

extension Array where Element == UInt8 {
    /// The line that begins at `start`.
    func line(at start: Int) -> TaskFileLine {
        var end = start
        while end < count, self[end] != UInt8(ascii: "\n"), self[end] != UInt8(ascii: "\r") { end += 1 }
        return TaskFileLine(text: start..<end, ending: end..<lineEnd(at: end))
    }

    /// The index behind the line end at `index`, or `index` where there is none.
    func lineEnd(at index: Int) -> Int {
        guard index < count else { return index }
        switch self[index] {
        case UInt8(ascii: "\n"): return index + 1
        case UInt8(ascii: "\r"):
            return index + 1 < count && self[index + 1] == UInt8(ascii: "\n") ? index + 2 : index + 1
        default: return index
        }
    }

    func lines(in range: Range<Int>) -> [TaskFileLine] {
        var lines: [TaskFileLine] = []
        var start = range.lowerBound
        while start < range.upperBound {
            lines.append(line(at: start))
            start = lines.last!.range.upperBound
        }
        return lines
    }

    /// The start of the line that holds `index`, not before `limit`.
    func lineStart(of index: Int, from limit: Int) -> Int {
        var start = index
        while start > limit, self[start - 1] != UInt8(ascii: "\n"), self[start - 1] != UInt8(ascii: "\r") { start -= 1 }
        return start
    }

    func isBlank(_ range: Range<Int>) -> Bool { self[range].allSatisfy(isBlankByte) }

    /// The first line end in the file; LF where there is none.
    var firstLineEnd: [UInt8] {
        Array(self[line(at: 0).ending].isEmpty ? [UInt8(ascii: "\n")] : self[line(at: 0).ending])
    }
}

/// A blank or a tab, which together make a blank line.
func isBlankByte(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

/// Some bytes of a file replaced by others.
struct ByteEdit: Equatable {
    let range: Range<Int>
    let bytes: [UInt8]
}

extension Array where Element == ByteEdit {
    /// Applies edits whose ranges don't overlap; of several at one place the earlier comes first.
    func applied(to bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var position = 0
        let sorted = enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, edit) in sorted {
            out.append(contentsOf: bytes[position..<edit.range.lowerBound])
            out.append(contentsOf: edit.bytes)
            position = edit.range.upperBound
        }
        return out + bytes[position...]
    }
}

/// For each line of `new` the line of `old` that stays as it, in ascending order; nil for a new line.
///
/// The longest common subsequence where it is cheap; in long texts first the lines that are there once on both sides.
func matchedLines<Line: Hashable>(_ old: [Line], _ new: [Line]) -> [Int?] {
    var matches = [Int?](repeating: nil, count: new.count)
    var gaps = [(0..<old.count, 0..<new.count)]
    while let (olds, news) = gaps.popLast() {
        var (a, b) = (olds, news)
        while let i = a.first, let j = b.first, old[i] == new[j] {
            matches[j] = i
            (a, b) = (a.dropFirst(), b.dropFirst())
        }
        while let i = a.last, let j = b.last, old[i] == new[j] {
            matches[j] = i
            (a, b) = (a.dropLast(), b.dropLast())
        }
        if a.isEmpty || b.isEmpty { continue }
        if a.count * b.count <= 250_000 {
            longestCommonSubsequence(old, a, new, b, into: &matches)
            continue
        }
        let anchors = uniqueCommonLines(old, a, new, b)
        if anchors.isEmpty { continue }
        var start = (a.lowerBound, b.lowerBound)
        for (i, j) in anchors {
            matches[j] = i
            gaps.append((start.0..<i, start.1..<j))
            start = (i + 1, j + 1)
        }
        gaps.append((start.0..<a.upperBound, start.1..<b.upperBound))
    }
    return matches
}

private func longestCommonSubsequence<Line: Hashable>(
    _ old: [Line], _ olds: Range<Int>, _ new: [Line], _ news: Range<Int>, into matches: inout [Int?]
) {
    let width = news.count + 1
    /// How long it is from old line `i` and new line `j` on, at `i * width + j`.
    var lengths = [Int32](repeating: 0, count: (olds.count + 1) * width)
    for i in olds.indices.reversed() {
        for j in news.indices.reversed() {
            let at = (i - olds.lowerBound) * width + j - news.lowerBound
            lengths[at] = old[i] == new[j] ? lengths[at + width + 1] + 1 : max(lengths[at + width], lengths[at + 1])
        }
    }
    var (i, j) = (olds.lowerBound, news.lowerBound)
    while i < olds.upperBound, j < news.upperBound {
        let at = (i - olds.lowerBound) * width + j - news.lowerBound
        if old[i] == new[j] {
            matches[j] = i
            (i, j) = (i + 1, j + 1)
        } else if lengths[at + width] >= lengths[at + 1] {
            i += 1
        } else {
            j += 1
        }
    }
}

/// The longest ascending run of lines that are there exactly once in both ranges.
private func uniqueCommonLines<Line: Hashable>(
    _ old: [Line], _ olds: Range<Int>, _ new: [Line], _ news: Range<Int>
) -> [(Int, Int)] {
    var places: [Line: (count: Int, index: Int)] = [:]
    for i in olds { places[old[i], default: (0, i)].count += 1 }
    var counts: [Line: Int] = [:]
    for j in news { counts[new[j], default: 0] += 1 }
    let pairs = news.compactMap { j -> (Int, Int)? in
        guard counts[new[j]] == 1, let place = places[new[j]], place.count == 1 else { return nil }
        return (place.index, j)
    }
    // Longest increasing subsequence: `tails[n]` ends the best run of n + 1 pairs.
    var tails: [Int] = []
    var before = [Int?](repeating: nil, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
        var (low, high) = (0, tails.count)
        while low < high {
            let middle = (low + high) / 2
            if pairs[tails[middle]].0 < pair.0 { low = middle + 1 } else { high = middle }
        }
        before[index] = low > 0 ? tails[low - 1] : nil
        if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var run: [(Int, Int)] = []
    var index = tails.last
    while let current = index {
        run.append(pairs[current])
        index = before[current]
    }
    return run.reversed()
}
