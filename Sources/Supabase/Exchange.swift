import Model

/// Requests to one project: the headers that all of them have, and where a failure is answered, what kind it is.
struct Exchange: Sendable {
    let project: Project
    let transport: any Transport

    /// Sends `body` as JSON with the project's key and, for data and user calls, the token of a session.
    func send(
        _ method: String, _ target: String, body: JSON? = nil, token: Text? = nil, headers: [String: String] = [:]
    ) async throws(TransportError) -> HTTPResponse {
        var headers = headers
        headers["apikey"] = project.publishableKey.string
        headers["accept"] = "application/json"
        if body != nil { headers["content-type"] = "application/json" }
        if let token { headers["authorization"] = "Bearer \(token)" }
        return try await transport.send(
            HTTPRequest(method: method, target: target, headers: headers, body: body?.serialized ?? []))
    }
}

extension HTTPResponse {
    var isSuccess: Bool { (200..<300).contains(status) }

    /// Where a redirect leads, by host alone: the rest may hold a secret.
    var redirectInWords: String {
        guard let location = headers["location"], let scheme = location.firstRange(of: "://") else {
            return "a redirect (status \(status)), which is not followed"
        }
        let host = location[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let origin = "\(location[..<scheme.lowerBound])://\(host.split(separator: "@").last ?? "")"
        return "a redirect to \(origin), which is not followed"
    }

    /// What the body is, without a word of what stands in it: that may be a secret.
    var bodyInWords: String {
        let type = headers["content-type"]?.prefix { $0 != ";" } ?? "no content type"
        return "status \(status), \(body.count) bytes of \(type)"
    }
}
