/// What both sides last agreed on about one task, field by field. It has no version: versions belong to the remote row.
public struct Base: Hashable, Sendable {
    public var values: FieldValues
    /// Fields that were never agreed on (the two sides differed when they first met): without a base, a difference is a
    /// conflict. A field that is neither here nor in `values` was agreed to be absent.
    public var unagreed: Set<Field>

    public init(values: FieldValues, unagreed: Set<Field> = []) {
        self.values = values
        self.unagreed = unagreed
    }
}
