import Testing

@testable import Libraries

struct ParallelTests {
    @Test func `work on other threads is waited for`() {
        let works = (0..<20).map { number in Parallel { (0...number).reduce(0, +) } }
        #expect(works.map { $0.wait() } == (0..<20).map { $0 * ($0 + 1) / 2 })
        #expect(works[3].wait() == 6, "the result stays")
    }
}
