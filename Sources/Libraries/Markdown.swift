import CCmark

/// Whether a Markdown text (CommonMark 0.30) begins with a heading of this level (1 to 6). The text is UTF-8. Only
/// whether: cmark's positions of headings with an underline are wrong.
public func markdownBeginsWithHeading(_ text: [UInt8], level: Int) -> Bool {
    text.withUnsafeBytes { buffer in
        guard let start = buffer.bindMemory(to: CChar.self).baseAddress,
            let document = cmark_parse_document(start, buffer.count, CMARK_OPT_DEFAULT)
        else { return false }
        defer { cmark_node_free(document) }
        guard let first = cmark_node_first_child(document) else { return false }
        return cmark_node_get_type(first) == CMARK_NODE_HEADING && cmark_node_get_heading_level(first) == Int32(level)
    }
}
