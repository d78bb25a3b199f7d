import Journal
import Model
import Workspace

/// The three things that are done to one file of a person's, each noted in the journal before and after, so that it can be
/// stopped anywhere. What is overwritten or removed stays in `.otask/displaced/`.
struct FileActs {
    let journal: Journal
    let disk: Disk

    enum Outcome: Hashable {
        case done(FileStamp)
        /// The file isn't what was expected, or something is there already: it is as it was.
        case changedMeanwhile
    }

    /// Puts `bytes` in the place of a file that holds what was seen.
    func replace(_ path: Text, with bytes: [UInt8], expecting expected: Digest, id: ItemID?, values: FieldValues?)
        throws -> Outcome
    {
        let staged = try disk.writer.stage(bytes, at: path)
        try disk.writer.flush([staged])
        let record = staged.replacing(expected, item: id)
        try journal.commit { writer in try writer.put(record) }
        let outcome: Outcome
        let displaced: Displaced?
        switch try disk.writer.exchange(staged, expecting: expected) {
        case .written(let stamp, let old, _): (outcome, displaced) = (.done(stamp), old)
        case .changedMeanwhile(let ours): (outcome, displaced) = (.changedMeanwhile, ours)
        }
        try disk.writer.flushFolders(of: [path])
        try finish(record, displaced, id: id, values: values)
        return outcome
    }

    /// Lays down a file where nothing is.
    func lay(_ path: Text, _ bytes: [UInt8], id: ItemID?) throws -> Outcome {
        let staged = try disk.writer.stage(bytes, at: path)
        try disk.writer.flush([staged])
        let record = staged.placing(item: id)
        try journal.commit { writer in try writer.put(record) }
        let outcome: Outcome
        switch try disk.writer.place(staged) {
        case .written(let stamp): outcome = .done(stamp)
        case .occupied: outcome = .changedMeanwhile
        }
        try disk.writer.flushFolders(of: [path])
        try finish(record, nil, id: id, values: nil)
        return outcome
    }

    /// Moves a file to `.otask/displaced/`, if it still holds what was seen. False: it is as it was.
    func takeAway(_ path: Text, expecting expected: Digest, id: ItemID?, values: FieldValues?) throws -> Bool {
        let removal = disk.writer.removal(of: path, expecting: expected, item: id)
        try journal.commit { writer in try writer.put(removal) }
        let displaced: Displaced?
        let isRemoved: Bool
        switch try disk.writer.remove(removal) {
        case .removed(let old): (displaced, isRemoved) = (old, true)
        case .changedMeanwhile(let newer): (displaced, isRemoved) = (newer, false)
        case .absent: (displaced, isRemoved) = (nil, false)
        }
        try disk.writer.flushFolders(of: [path])
        try finish(removal, displaced, id: id, values: values)
        if isRemoved { try disk.writer.removeEmptyFolders(above: path, within: disk.taskFolder.path) }
        return isRemoved
    }

    private func finish(_ record: PendingWrite, _ displaced: Displaced?, id: ItemID?, values: FieldValues?) throws {
        try journal.commit { writer in
            try writer.removePendingWrite(temporary: record.temporary)
            if let displaced { try writer.put(DisplacedRecord(displaced: displaced, id: id, values: values)) }
        }
    }
}
