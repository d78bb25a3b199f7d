/// Colours of a terminal, or none. Colour never says what words don't say too.
struct Style: Sendable {
    var isColoured: Bool

    static let plain = Style(isColoured: false)

    /// Whether to colour what goes to a stream: `--color` first, then NO_COLOR (no-color.org), then whether it is a
    /// terminal that can.
    init(choice: String?, variables: [String: String], isTerminal: Bool) {
        switch choice {
        case "always": isColoured = true
        case "never": isColoured = false
        default:
            let refused = variables["NO_COLOR"].map { !$0.isEmpty } ?? false
            isColoured = isTerminal && !refused && variables["TERM"] != "dumb"
        }
    }

    init(isColoured: Bool) { self.isColoured = isColoured }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }
    func cyan(_ text: String) -> String { wrap(text, "36") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
