import Testing

@testable import Reconcile

/// sync.md, "Deletion guard".
struct GuardTests {
    @Test(arguments: [
        (DeletionGuard(existing: 1, onServer: 1, here: 0), 0),  // the only task can go without a word
        (DeletionGuard(existing: 2, onServer: 2, here: 0), 0),
        (DeletionGuard(existing: 3, onServer: 3, here: 0), 3),  // all of three
        (DeletionGuard(existing: 3, onServer: 0, here: 3), 3),
        (DeletionGuard(existing: 14, onServer: 12, here: 0), 12),  // more than a quarter and more than ten
        (DeletionGuard(existing: 14, onServer: 10, here: 0), 0),
        (DeletionGuard(existing: 44, onServer: 11, here: 0), 0),  // a quarter is not more than a quarter
        (DeletionGuard(existing: 43, onServer: 11, here: 0), 11),
        (DeletionGuard(existing: 1000, onServer: 100, here: 100), 0),
        (DeletionGuard(existing: 1000, onServer: 150, here: 101), 251),
        (DeletionGuard(existing: 20, onServer: 6, here: 0, lastHour: 6), 6),  // together with the last hour
        (DeletionGuard(existing: 20, onServer: 0, here: 0, lastHour: 30), 0),  // nothing planned, nothing held
        (DeletionGuard(existing: 100, onServer: 1, here: 0, wentBack: 11), 11),
        (DeletionGuard(existing: 100, onServer: 0, here: 0, wentBack: 10), 0),
        (DeletionGuard(existing: 12, onServer: 12, here: 0, wentBack: 11), 23),
    ])
    func `the guard names how many it holds`(_ guarding: DeletionGuard, _ count: Int) {
        #expect(guarding.count == count)
    }
}
