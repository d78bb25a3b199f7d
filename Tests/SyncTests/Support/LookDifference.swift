import Model
import Reconcile

@testable import Sync

extension Device {
    /// How a look that passes over settled tasks differs from one at everything; nil: not at all.
    /// - Parameter passedOver: is told how many files were passed over.
    func lookDifference(_ passedOver: (Int) -> Void) throws -> String? {
        let engine = try engine()
        func picture(all: Bool) throws -> [String] {
            try engine.reading(all: all) { journal, view in
                let status = try engine.status(journal, view)
                passedOver(view.settled.counts.files)
                // Sorted: two of one path may come in either order.
                return
                    (["\(status.counts) guard \(view.guarding)"] + status.waiting.map { "waiting \($0)" }
                    + status.conflicts.map { "conflict \($0)" } + status.refused.map { "refused \($0)" }
                    + status.problems.map { "problem \($0)" } + status.notFollowed.map { "not followed \($0)" }
                    + view.telling + (try engine.tasks(journal, view).map { "task \($0.comparable)" })).sorted()
            }
        }
        let (all, past) = try (picture(all: true), picture(all: false))
        if all == past { return nil }
        return """
            \(name): looking past settled tasks differs
            without: \(all.filter { !past.contains($0) })
            with: \(past.filter { !all.contains($0) })
            """
    }
}

extension View {
    /// What it plans and has to say, without the ids that each look makes anew.
    fileprivate var telling: [String] {
        let plans = plans.values.filter { $0.action != .forget && !($0.action == .merge && $0.fields.isEmpty) }
            .map { plan in
                "plan \(place(of: plan.id)) \(plan.action) \(plan.fields.sorted { $0.key < $1.key })"
            }
        let notices = matching.notices.map { "notice \($0.place) \($0.text)" }
        return plans + notices + absorptions.map { "absorption \($0.id) \($0.source)" }
    }
}

extension TaskSummary {
    /// With its own keys in one order.
    fileprivate var comparable: String {
        "\(path) \(id.map(\.description) ?? "-") \(title) \(done) \(photos) \(waiting) \(updated) \(notes) "
            + "\(properties.sorted { $0.key < $1.key })"
    }
}
