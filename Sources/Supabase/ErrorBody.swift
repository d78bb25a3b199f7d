import Model

/// What an error answer says, in the shape of PostgREST, of either version of Auth, of OAuth or of the gateway.
/// An answer that is none of these (HTML, empty) has no code, and a message that names its status.
struct ErrorBody: Hashable {
    let code: Text?
    let message: Text

    init(_ response: HTTPResponse) {
        let json = try? JSON(parsing: response.body)
        func text(_ key: Text) -> Text? { json?[key]?.text.flatMap { $0.isEmpty ? nil : $0 } }
        // In the older shape of Auth `code` is the status, a number.
        code =
            text("error_code") ?? text("code") ?? response.headers["x-sb-error-code"].map { Text($0) } ?? text("error")
        message =
            text("msg") ?? text("message") ?? text("error_description") ?? text("error")
            ?? "status \(String(response.status)) without an explanation"
    }
}
