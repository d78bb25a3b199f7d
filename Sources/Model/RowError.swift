/// Why a value from the server (or the journal) is no row, page, change or answer.
public struct RowError: Error, Hashable, CustomStringConvertible {
    /// The member that is missing or wrong, with its table: `tasks.version`.
    public let member: Text
    /// What it should be: `a whole number`.
    public let expected: String

    public init(_ member: Text, expected: String) {
        self.member = member
        self.expected = expected
    }

    public var description: String { "\(member) is not \(expected)" }
}

/// Reads members of a JSON object, each error named after the member.
struct MemberReader {
    private let members: [Text: JSON]
    private let name: Text

    /// `name` is what the object is called in errors.
    init(_ json: JSON, _ name: Text) throws(RowError) {
        guard let members = json.object else { throw RowError(name, expected: "an object") }
        self.members = members
        self.name = name
    }

    private func error(_ key: Text, _ expected: String) -> RowError { RowError(name + "." + key, expected: expected) }

    /// The member as `convert` reads it.
    private func read<Value>(
        _ key: Text, _ expected: String, _ convert: (JSON) -> Value?
    ) throws(RowError) -> Value {
        guard let member = members[key], let value = convert(member) else { throw error(key, expected) }
        return value
    }

    func text(_ key: Text) throws(RowError) -> Text { try read(key, "a text") { $0.text } }
    func bool(_ key: Text) throws(RowError) -> Bool { try read(key, "true or false") { $0.bool } }
    func integer(_ key: Text) throws(RowError) -> Int64 { try read(key, "a whole number") { $0.integer } }
    func id(_ key: Text) throws(RowError) -> ItemID { try read(key, "a UUID") { $0.text.flatMap { ItemID($0) } } }
    func array(_ key: Text) throws(RowError) -> [JSON] { try read(key, "a list") { $0.array } }
    func object(_ key: Text) throws(RowError) -> [Text: JSON] { try read(key, "an object") { $0.object } }

    func texts(_ key: Text) throws(RowError) -> [Text] {
        try read(key, "a list of texts") { json in
            guard let values = json.array else { return nil }
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        }
    }

    func ids(_ key: Text) throws(RowError) -> [ItemID] {
        let texts = try texts(key)
        let ids = texts.compactMap { ItemID($0) }
        guard ids.count == texts.count else { throw error(key, "a list of UUIDs") }
        return ids
    }

    /// This reader, or nil where the member is null: `reader.orNull("path")?.text("path")`. The member must be there.
    func orNull(_ key: Text) throws(RowError) -> MemberReader? {
        guard let member = members[key] else { throw error(key, "there") }
        return member.isNull ? nil : self
    }
}
