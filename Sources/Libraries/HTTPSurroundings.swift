/// What the environment says about the way to a server: proxies, by the rules of curl
/// (https://curl.se/libcurl/c/libcurl-env.html), and whose certificates are trusted.
///
/// A difference: a server on this machine is asked without a proxy, which would look for it on its own.
public struct HTTPSurroundings: Hashable, Sendable {
    /// For `http://`; nil: none.
    public var httpProxy: String?
    /// For `https://`; nil: none.
    public var httpsProxy: String?
    /// Hosts that are asked without a proxy, separated by commas; `*` for all.
    public var exceptions: String
    /// A file of certificates in PEM that are trusted; nil: those of the system.
    public var certificates: String?

    /// Reads `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy` (all but the first also in upper case, in which a
    /// request to a CGI could set it) and `SSL_CERT_FILE`.
    public init(environment: [String: String] = [:]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first.flatMap { $0.isEmpty ? nil : $0 }
        }
        let other = value("all_proxy", "ALL_PROXY")
        httpProxy = value("http_proxy") ?? other
        httpsProxy = value("https_proxy", "HTTPS_PROXY") ?? other
        let named = value("no_proxy", "NO_PROXY")
        exceptions =
            named == "*" ? "*" : ([named].compactMap { $0 } + ["localhost", "127.0.0.1", "::1"]).joined(separator: ",")
        certificates = value("SSL_CERT_FILE")
    }

    /// The proxy for a request to `url`, the exceptions left aside; empty for none.
    func proxy(for url: String) -> String {
        (url.lowercased().hasPrefix("https:") ? httpsProxy : httpProxy) ?? ""
    }
}
