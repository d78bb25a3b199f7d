/// One thing of a task that is merged on its own. The order is the one in which fields are told to people.
public enum Field: Hashable, Sendable, Comparable {
    case title
    case notes
    case done
    /// Where the task lies: relative to the task folder, without `.md`.
    case path
    /// A key of the person's own in the front matter.
    case property(Text)

    /// The name in messages, JSON and the journal: `title`, …, `properties.tags`.
    public var name: Text {
        switch self {
        case .title: "title"
        case .notes: "notes"
        case .done: "done"
        case .path: "path"
        case .property(let key): "properties." + key
        }
    }

    /// The field of a `name`; nil for any other text.
    public init?(name: Text) {
        switch name {
        case "title": self = .title
        case "notes": self = .notes
        case "done": self = .done
        case "path": self = .path
        default:
            guard name.hasPrefix("properties.") else { return nil }
            self = .property(Text(Substring(name.utf8.dropFirst("properties.".utf8.count))))
        }
    }

    private var order: Int {
        switch self {
        case .title: 0
        case .notes: 1
        case .done: 2
        case .path: 3
        case .property: 4
        }
    }

    public static func < (a: Field, b: Field) -> Bool {
        if case .property(let a) = a, case .property(let b) = b { return a < b }
        return a.order < b.order
    }
}

/// The values of some fields. A field that is not there has no value: a removed own key.
public typealias FieldValues = [Field: JSON]

/// What a task says, whatever form it has: a file, a row, the base.
public struct TaskContent: Hashable, Sendable {
    public var title: Text
    /// With LF, without line ends at the very end.
    public var notes: Text
    public var done: Bool
    /// The person's own keys.
    public var properties: [Text: JSON]

    public init(title: Text, notes: Text = "", done: Bool = false, properties: [Text: JSON] = [:]) {
        self.title = title
        self.notes = notes
        self.done = done
        self.properties = properties
    }

    /// The content as fields, without `path`.
    public var fields: FieldValues {
        var fields: FieldValues = [.title: .string(title), .notes: .string(notes), .done: .bool(done)]
        for (key, value) in properties { fields[.property(key)] = value }
        return fields
    }

    /// Reads fields back; what is missing is empty.
    public init(_ fields: FieldValues) {
        self.init(
            title: fields[.title]?.text ?? "", notes: fields[.notes]?.text ?? "", done: fields[.done]?.bool ?? false)
        for case (.property(let key), let value) in fields { properties[key] = value }
    }
}

extension Dictionary where Key == Field, Value == JSON {
    /// As one JSON object, keyed by `Field.name`.
    public var json: JSON { .object(Dictionary<Text, JSON>(uniqueKeysWithValues: map { ($0.key.name, $0.value) })) }

    /// Reads `json` back; names that are no field are passed over.
    public init(json: JSON) {
        self.init()
        for (name, value) in json.object ?? [:] {
            if let field = Field(name: name) { self[field] = value }
        }
    }
}
