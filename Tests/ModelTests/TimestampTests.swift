import Testing

@testable import Model

@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("2026-11-30T10:00:00.123456+00:00", 1_796_032_800, 123_456_000),
            ("2026-11-30T11:30:00.1+01:30", 1_796_032_800, 100_000_000),
            ("2026-11-30 04:00:00.123456789-06", 1_796_032_800, 123_456_789),
            ("2024-02-29t23:59:60z", 1_709_251_200, 0),
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("9999-12-31T23:59:59Z", 253_402_300_799, 0),
            ("2000-02-29T00:00:00Z", 951_782_400, 0),
        ] as [(Text, Int64, Int64)])
    func `a time is read as an instant`(text: Text, seconds: Int64, nanoseconds: Int64) throws {
        let time = try #require(Timestamp(text))
        #expect(time.seconds == seconds)
        #expect(time.nanoseconds == nanoseconds)
    }

    @Test(
        arguments: [
            "", "2026-11-30", "2026-11-30T10:00:00", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T10:60:00Z", "2026-11-30T10:00:00.Z",
            "2026-11-30T10:00:00.1234567890Z", "2026-11-30T10:00:00Z ", "2026-11-30T10:00:00+24:00",
            "2026-11-30T10:00:00+0100",
            "infinity", "26-11-30T10:00:00Z",
        ] as [Text])
    func `another text is no time`(text: Text) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `times are ordered as instants, not as texts`() throws {
        let ordered = [
            "2026-11-30T12:00:00+03:00", "2026-11-30T09:30:00.05Z", "2026-11-30T09:30:00.123Z",
            "2026-11-30T09:30:00.1230001Z", "2026-11-30T08:30:01-01:00",
        ].compactMap { Timestamp(Text($0)) }
        #expect(ordered.count == 5)
        #expect(ordered.sorted() == ordered)
        #expect(Timestamp("2026-11-30T09:30:00.100Z") == Timestamp("2026-11-30T10:30:00.1+01:00"))
    }

    @Test func `an instant has the years 1678 to 2261`() throws {
        #expect(
            try #require(Timestamp("2026-11-30T10:00:00.5Z")).instant == Instant(nanoseconds: 1_796_032_800_500_000_000)
        )
        #expect(try #require(Timestamp("9999-12-31T23:59:59Z")).instant == nil)
        #expect(try #require(Timestamp("0001-01-01T00:00:00Z")).instant == nil)
    }
}
