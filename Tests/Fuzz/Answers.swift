import Model

/// Any bytes are JSON or no JSON; what was read can be written and read again; whatever it is, it is a page of the feed, an
/// answer to a change, a row of a task, or told as none.
@Sendable func answer(_ bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes) else { return }
    require((try? JSON(parsing: json.serialized)) == json, "what was read is written as the same value")
    // By value, which reads every number in it.
    _ = json.hashValue
    _ = json.integer
    if let page = try? FeedPage(json: json, since: 7) {
        require(page.next >= 0, "a cursor counts from 0")
        for row in page.rows { _ = try? TaskRow(json: row.json) }
    }
    _ = try? ChangeAnswer(json: json)
    _ = try? TaskRow(json: json)
}
