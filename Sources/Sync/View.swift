import Journal
import Model
import Reconcile
import Workspace

/// All that one decision is made from, and the decision: what the journal knew, what the disk shows, which file is which
/// task, and what is to happen to each. Made anew whenever something may have moved; nothing in it is stored as such.
struct View {
    var folder: TaskFolder
    /// What the journal held.
    var state: JournalState
    /// The journal's tasks, with what the matching found out.
    var known: [ItemID: KnownTask]
    var remote: [ItemID: TaskRow]
    /// `Places.assign` of the live rows.
    var wanted: [ItemID: Text]
    var snapshot: Snapshot
    /// Files of tasks about which both sides agree, which were passed over: they are in none of the other lists.
    var settled: SettledFiles
    var matching: Matching
    var local: [ItemID: LocalTask]
    var absorptions: [Absorption]
    var plans: [ItemID: TaskPlan]
    var problems: [ProblemItem]
    /// Known tasks whose changed file has a time older than the one that was verified.
    var wentBack: Set<ItemID>
    /// Tasks whose save undoes just what the last pull wrote, with that put back.
    var undone: [ItemID: FieldValues]
    var guarding: DeletionGuard
    /// Ids whose deletion was made by name.
    var byName: Set<ItemID>
}

extension View {
    /// Whether a plan deletes something that nobody was asked about yet.
    func isUnaskedDeletion(_ plan: TaskPlan) -> Bool {
        switch plan.action {
        case .sendDeletion: !byName.contains(plan.id)
        case .removeFile(let allowed): !allowed
        default: false
        }
    }

    /// The place of a task for people: where its file is, was, or would be.
    func place(of id: ItemID) -> Text {
        local[id]?.place ?? known[id]?.place ?? wanted[id] ?? remote[id]?.path ?? id.text
    }
}
