import Model

/// Cuts changes into what one call takes.
public enum Batches {
    public static let maximumCount = 500
    /// Bytes of the JSON of a batch.
    public static let maximumBytes = 900_000

    /// At most 500 changes or 900 KB of JSON each, in order; a single larger change alone.
    public static func split(_ changes: [Change]) -> [[Change]] {
        var batches: [[Change]] = []
        var batch: [Change] = []
        var bytes = frame
        for change in changes {
            let size = change.json.serialized.count
            let comma = batch.isEmpty ? 0 : 1
            if !batch.isEmpty, batch.count == maximumCount || bytes + comma + size > maximumBytes {
                batches.append(batch)
                batch = []
                bytes = frame
            }
            bytes += size + (batch.isEmpty ? 0 : 1)
            batch.append(change)
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }

    /// Bytes around the changes: `{"changes":[]}`.
    private static let frame = #"{"changes":[]}"#.utf8.count
}
