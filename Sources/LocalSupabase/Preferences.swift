import Model

/// The `prefer` header (PostgREST, *Prefer header*): the first of a name counts.
struct Preferences {
    enum Return: String { case minimal, headersOnly = "headers-only", representation }
    enum Resolution: String { case merge = "merge-duplicates", ignore = "ignore-duplicates" }

    private(set) var returning: Return?
    private(set) var resolution: Resolution?
    private(set) var missingIsDefault: Bool?
    private(set) var count: String?
    private(set) var isStrict = false
    private(set) var maxAffected: Int?

    init(header: String?) throws(RestError) {
        var unknown: [String] = []
        var seen: Set<String> = []
        for token in (header ?? "").split(separator: ",") {
            let text = token.filter { $0 != " " }
            let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else {
                unknown.append(text)
                continue
            }
            guard seen.insert(sides[0]).inserted else { continue }
            if !take(sides[0], sides[1]) { unknown.append(text) }
        }
        if isStrict, !unknown.isEmpty {
            throw RestError(
                "PGRST122", "Invalid preferences given with handling=strict",
                details: "Invalid preferences: " + unknown.joined(separator: ", "))
        }
    }

    /// Whether the preference is known.
    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "return": returning = Return(rawValue: value)
        case "resolution": resolution = Resolution(rawValue: value)
        case "missing": missingIsDefault = ["default": true, "null": false][value]
        case "count": count = ["exact", "planned", "estimated"].contains(value) ? value : nil
        case "handling": isStrict = value == "strict"
        case "max-affected": maxAffected = Int(value)
        case "tx", "timezone": break
        default: return false
        }
        return true
    }

    /// The header `preference-applied`, for those preferences that a call of this kind looks at.
    func applied(to method: String) -> String? {
        var tokens: [String] = []
        if method == "POST" {
            if let resolution { tokens.append("resolution=\(resolution.rawValue)") }
            if let missingIsDefault { tokens.append("missing=\(missingIsDefault ? "default" : "null")") }
        }
        if method != "GET", method != "HEAD", let returning { tokens.append("return=\(returning.rawValue)") }
        if let count { tokens.append("count=\(count)") }
        if isStrict { tokens.append("handling=strict") }
        if isStrict, let maxAffected, ["PATCH", "DELETE"].contains(method) {
            tokens.append("max-affected=\(maxAffected)")
        }
        return tokens.isEmpty ? nil : tokens.joined(separator: ", ")
    }
}
