import Model

/// A Supabase project, as a client knows it.
public struct Project: Hashable, Sendable {
    /// `https://abcd.supabase.co`, without a slash at the end.
    public let url: Text
    /// A publishable key (`sb_publishable_…`) or a legacy key of the role `anon`.
    public let publishableKey: Text

    /// Throws where `url` is none of http(s), or `key` is one that no client may have.
    /// Keys: https://supabase.com/docs/guides/api/api-keys
    public init(url: Text, publishableKey key: Text) throws(ProjectError) {
        var url = url
        while url.hasSuffix("/") { url.string.removeLast() }
        let rest = ["https://", "http://"].lazy.compactMap { scheme in
            url.string.lowercased().hasPrefix(scheme) ? url.string.dropFirst(scheme.count) : nil
        }.first
        guard let rest, !rest.isEmpty, !rest.hasPrefix("/"),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains(where: { "?#@\\\"<>".contains($0) })
        else { throw .badURL(url) }
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .badKey }
        guard !key.hasPrefix("sb_secret_"), AccessToken(key)?.role != "service_role" else { throw .secretKey }
        self.url = url
        self.publishableKey = key
    }
}

/// Why a project can't be used. No case holds the key.
public enum ProjectError: Error, Hashable, CustomStringConvertible {
    case badURL(Text)
    case badKey
    case secretKey

    public var description: String {
        switch self {
        case .badURL(let url):
            "\(url) is not the address of a project: it looks like https://abcd.supabase.co, without a user or query"
        case .badKey: "the key is empty or holds blanks: copy the publishable key from the project's API settings"
        case .secretKey:
            "this is a secret key (service role): it bypasses every rule and must not be on this machine; "
                + "use the publishable key, and replace the secret one if it was shared"
        }
    }
}
