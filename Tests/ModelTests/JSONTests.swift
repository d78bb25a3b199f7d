import Model
import Testing

struct JSONTests {
    @Test(arguments: [
        ("1.50", "1.5"), ("100", "1e2"), ("1E+2", "100.0"), ("-0", "0"), ("0e5", "0.0"), ("10e-1", "1"),
        ("1e99999999999999999999", "1e99999999999999999999"),
    ]) func `numbers are equal by value, however they are written`(a: String, b: String) throws {
        let (a, b) = (try JSON(parsing: Array(a.utf8)), try JSON(parsing: Array(b.utf8)))
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
    }

    @Test(arguments: [
        ("1", "-1"), ("1e2", "1e3"), ("0.1", "0.10000000000000001"), ("1", "1e99999999999999999999"),
        ("1e99999999999999999999", "1e-99999999999999999999"), ("10e9223372036854775807", "0"),
    ]) func `numbers of other values differ`(a: String, b: String) throws {
        #expect(try JSON(parsing: Array(a.utf8)) != JSON(parsing: Array(b.utf8)))
    }

    @Test(arguments: [
        "10e9223372036854775807", "1.5e-9223372036854775808", "1e99999999999999999999", "9223372036854775808",
    ])
    func `a number that no integer holds is none`(text: String) throws {
        #expect(try JSON(parsing: Array(text.utf8)).integer == nil)
    }
}
