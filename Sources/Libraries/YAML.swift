import CYAML

/// A node of a YAML document as it stands in the text: nothing is resolved, aliases and tags are only named.
public struct YAMLNode: Sendable, Equatable {
    public enum ScalarStyle: Sendable, Equatable {
        case plain, singleQuoted, doubleQuoted
        /// Literal (`|`) or folded (`>`).
        case block
    }

    public struct Pair: Sendable, Equatable {
        public let key: YAMLNode
        public let value: YAMLNode
    }

    public enum Kind: Sendable, Equatable {
        /// The value in UTF-8, with escapes and folding undone.
        case scalar([UInt8], ScalarStyle)
        case sequence([YAMLNode], flow: Bool)
        /// The pairs in their order; a key may be there twice.
        case mapping([Pair], flow: Bool)
        case alias
    }

    public let kind: Kind
    /// In full: `tag:yaml.org,2002:float` for `!!float`.
    public let tag: String?
    public let hasAnchor: Bool
    /// The bytes from the first of tag, anchor or value to the last of the value, without white space and comments
    /// behind it. Empty, and just behind the indicator, for a value that isn't there.
    public let range: Range<Int>

    /// Deeper nesting than this is an error: no text may overflow the stack.
    public static let maximumDepth = 100

    /// Reads one document (YAML 1.1, as libyaml does) in valid UTF-8; nil for a text without any. Ranges are indices of
    /// the slice.
    public static func parse(_ text: ArraySlice<UInt8>) throws(YAMLError) -> YAMLNode? {
        if let offset = firstForbiddenCharacter(text) {
            throw YAMLError(message: "control characters are not allowed", offset: offset)
        }
        return try text.withUnsafeBufferPointer { buffer throws(YAMLError) in
            var reader = YAMLReader(buffer, base: text.startIndex)
            defer { reader.close() }
            return try reader.document()
        }
    }

    /// libyaml counts bytes, not characters, where it meets one of these; so they are found here. An ASCII control
    /// character, DEL, C1 but NEL, U+FFFE and U+FFFF (YAML 1.1, c-printable).
    private static func firstForbiddenCharacter(_ text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { index in
            let byte = text[index]
            func following(_ distance: Int) -> UInt8 { index + distance < text.endIndex ? text[index + distance] : 0 }
            switch byte {
            case 0x20...0x7E, 0x09, 0x0A, 0x0D: return false
            case 0..<0x20, 0x7F: return true
            case 0xC2: return following(1) < 0xA0 && following(1) != 0x85
            case 0xEF: return following(1) == 0xBF && following(2) >= 0xBE
            default: return false
            }
        }
    }
}

/// Why a text is no YAML.
public struct YAMLError: Error, Equatable, Sendable {
    /// In libyaml's words.
    public let message: String
    /// The index of the byte.
    public let offset: Int
}

/// libyaml's events, made into nodes.
private struct YAMLReader {
    private let text: UnsafeBufferPointer<UInt8>
    private let base: Int
    /// On the heap: libyaml keeps a pointer from the parser to itself.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// libyaml's marks count code points; this one and its byte are the last that were asked for.
    private var point = 0
    private var byte = 0

    init(_ text: UnsafeBufferPointer<UInt8>, base: Int) {
        self.text = text
        self.base = base
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else { fatalError("out of memory") }
        // With the encoding given, a BOM at the start isn't taken away and is counted like any other character.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    func close() {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    mutating func document() throws(YAMLError) -> YAMLNode? {
        try skip()
        var event = try next()
        defer { yaml_event_delete(&event) }
        if event.type == YAML_STREAM_END_EVENT { return nil }
        let root = try node(try next(), depth: 0)
        try skip()
        var end = try next()
        defer { yaml_event_delete(&end) }
        if end.type != YAML_STREAM_END_EVENT {
            throw YAMLError(message: "a second document begins", offset: offset(end.start_mark))
        }
        return root
    }

    private mutating func next() throws(YAMLError) -> yaml_event_t {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it can't be read"
            throw YAMLError(message: problem, offset: offset(parser.pointee.problem_mark))
        }
        return event
    }

    /// Passes over an event that says nothing: the start of the stream, the end of a document.
    private mutating func skip() throws(YAMLError) {
        var event = try next()
        yaml_event_delete(&event)
    }

    private mutating func offset(_ mark: yaml_mark_t) -> Int {
        if mark.index < point { (point, byte) = (0, 0) }
        while point < mark.index, byte < text.count {
            byte += 1
            while byte < text.count, text[byte] & 0xC0 == 0x80 { byte += 1 }
            point += 1
        }
        return base + byte
    }

    /// The node that this event begins; the event is freed.
    private mutating func node(_ event: yaml_event_t, depth: Int) throws(YAMLError) -> YAMLNode {
        var event = event
        defer { yaml_event_delete(&event) }
        let start = offset(event.start_mark)
        if depth > YAMLNode.maximumDepth { throw YAMLError(message: "it is nested too deep", offset: start) }
        switch event.type {
        case YAML_SCALAR_EVENT:
            return scalar(event, start: start, end: offset(event.end_mark))
        case YAML_SEQUENCE_START_EVENT:
            let data = event.data.sequence_start
            let flow = data.style == YAML_FLOW_SEQUENCE_STYLE
            let (items, end) = try children(until: YAML_SEQUENCE_END_EVENT, depth: depth)
            let last = flow ? end : items.last?.range.upperBound ?? end
            return YAMLNode(
                kind: .sequence(items, flow: flow), tag: string(data.tag), hasAnchor: data.anchor != nil,
                range: start..<max(start, last))
        case YAML_MAPPING_START_EVENT:
            let data = event.data.mapping_start
            let flow = data.style == YAML_FLOW_MAPPING_STYLE
            let (nodes, end) = try children(until: YAML_MAPPING_END_EVENT, depth: depth)
            let last = flow ? end : nodes.last?.range.upperBound ?? end
            let pairs = stride(from: 0, to: nodes.count, by: 2).map {
                YAMLNode.Pair(key: nodes[$0], value: nodes[$0 + 1])
            }
            return YAMLNode(
                kind: .mapping(pairs, flow: flow), tag: string(data.tag), hasAnchor: data.anchor != nil,
                range: start..<max(start, last))
        default:
            return YAMLNode(kind: .alias, tag: nil, hasAnchor: false, range: start..<offset(event.end_mark))
        }
    }

    private mutating func children(
        until end: yaml_event_type_t, depth: Int
    ) throws(YAMLError) -> (nodes: [YAMLNode], end: Int) {
        var nodes: [YAMLNode] = []
        while true {
            var event = try next()
            if event.type == end {
                defer { yaml_event_delete(&event) }
                return (nodes, offset(event.end_mark))
            }
            nodes.append(try node(event, depth: depth + 1))
        }
    }

    private func scalar(_ event: yaml_event_t, start: Int, end: Int) -> YAMLNode {
        let data = event.data.scalar
        var (start, end) = (start, end)
        let style: YAMLNode.ScalarStyle
        switch data.style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: style = .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: style = .doubleQuoted
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE:
            style = .block
            // libyaml's end takes in the blank lines after it.
            while end > start + 1, isWhite(before: end) { end -= 1 }
        default:
            style = .plain
            // A value that isn't there stands where the next thing begins, be it lines below (`? key`).
            while start == end, end > base, isWhite(before: end) { (start, end) = (end - 1, end - 1) }
        }
        let value = Array(UnsafeBufferPointer(start: data.value, count: data.length))
        return YAMLNode(
            kind: .scalar(value, style), tag: string(data.tag), hasAnchor: data.anchor != nil, range: start..<end)
    }

    private func isWhite(before index: Int) -> Bool {
        let byte = text[index - 1 - base]
        return byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }
}
