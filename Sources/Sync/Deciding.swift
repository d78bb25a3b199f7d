import Journal
import Model
import Reconcile
import Workspace

extension View {
    /// Takes over what the matching found: places, moves, bases of old saves, what isn't followed.
    mutating func learn(
        _ seen: Seen, _ folder: TaskFolder, homeChanged: Bool, now: Instant, keptHere: [Text: Digest]
    ) {
        for item in matching.items { learn(item, seen, homeChanged: homeChanged, now: now, keptHere: keptHere) }
        for frozen in matching.frozen {
            known[frozen.id]?.frozen = frozen.reason
            known[frozen.id]?.place = frozen.place
        }
        for id in matching.laidDownAgain {
            known[id]?.place = nil
            known[id]?.isMoved = false
            known[id]?.cleanDigest = nil
        }
        for remark in matching.problems {
            problems.append(
                ProblemItem(id: remark.id, path: folder.file(of: remark.place), problem: remark.text, line: nil))
        }
    }

    private mutating func learn(
        _ item: Matched, _ seen: Seen, homeChanged: Bool, now: Instant, keptHere: [Text: Digest]
    ) {
        let sighting = item.sighting
        if item.kind == .formerPlace {
            guard case .former(let former) = item.ground, case .task(_, let content) = sighting.reading else { return }
            absorptions.append(
                Absorption(
                    id: item.id, content: content, ground: former.values,
                    source: .file(place: item.place, digest: sighting.digest)))
            return
        }
        // A dismissed new file is kept here only, until it changes.
        if known[item.id] == nil, keptHere[item.place] == sighting.digest { return }
        let isReserved = known[item.id] != nil && known[item.id]?.base == nil
        var task = known[item.id] ?? KnownTask(id: item.id, place: item.place)
        task.place = item.place
        task.frozen = nil
        task.identity = sighting.stamp.identity
        if case .renamed = item.kind, !isReserved { task.isMoved = true }
        // It was moved to where it isn't followed, and from there to here: a person's move all the same.
        if item.kind == .returned, known[item.id]?.frozen != nil, !isReserved { task.isMoved = true }

        let content: TaskContent
        let hasIDLine: Bool
        switch sighting.reading {
        case .clean:
            content = TaskContent(task.base?.values ?? [:])
            hasIDLine = task.hasIDLine
            task.modified = sighting.stamp.modified
        case .task(let id, let parsed):
            content = parsed
            hasIDLine = id == item.id
            if let verified = task.modified, task.cleanDigest != sighting.digest, sighting.stamp.modified < verified {
                wentBack.insert(item.id)
            }
            if item.ground == .base, !homeChanged, let earlier = task.beforePull, let base = task.base {
                var after = base.contentValues
                for field in base.unagreed { after[field] = earlier.values[field] }
                undone[item.id] = StaleBuffer.restoring(parsed.fields, before: earlier.values, after: after)
            }
            switch item.ground {
            case .base where homeChanged && task.base.map({ !$0.says(parsed) }) ?? false: task.base = nil
            case .base: break
            case .beforeID:
                // An older save: what it was made from is its base from now on.
                if let earlier = task.beforeID, let base = task.base { task.base = base.goingBack(to: earlier.values) }
            case .none: task.base = nil
            case .former: break
            }
            if let earlier = task.beforeID, hasIDLine || now - earlier.since > 7 * 86_400 { task.beforeID = nil }
            task.hasIDLine = hasIDLine
            task.cleanDigest = task.base?.says(parsed) == true ? sighting.digest : nil
            if task.cleanDigest != nil { task.modified = sighting.stamp.modified }
        case .problem:
            known[item.id] = known[item.id].map { _ in task }
            return
        }
        // Most are as they were, and then nothing is copied.
        if known[item.id] != task { known[item.id] = task }
        local[item.id] = LocalTask(
            id: item.id, place: item.place, path: task.localPath, content: content, kind: item.kind,
            stamp: sighting.stamp, digest: sighting.digest, fileContent: content, hasIDLine: hasIDLine)
    }

    /// Merges text that was saved elsewhere into the task it belongs to.
    mutating func absorb() {
        for absorption in absorptions {
            guard var task = local[absorption.id] else { continue }
            let merged = absorption.merged(into: task.content, base: known[absorption.id]?.base)
            task.content = merged.content
            known[absorption.id]?.base = merged.base
            local[absorption.id] = task
        }
    }

    /// Reconciles every task.
    mutating func decide(_ folder: TaskFolder) {
        let gone = Set(matching.gone)
        let held = Set(matching.unknown).union(matching.frozen.map(\.id))
        let waiting = Set(matching.items.filter { local[$0.id] == nil && $0.kind != .formerPlace }.map(\.id))
            .union(matching.problems.compactMap(\.id))
        for id in Set(known.keys).union(remote.keys) {
            let state: TaskState.Local
            if held.contains(id) || waiting.contains(id) {
                state = .unknown
            } else if let task = local[id] {
                state = .present(task.content, path: task.path)
            } else if gone.contains(id) {
                state = .deleted
            } else {
                state = .none
            }
            // By its id line, or, where ids stand in the journal, laid down again by an undo.
            let wantedBack =
                local[id]?.kind == .wantedBack
                || local[id] != nil && self.state.known[id].map { $0.base == nil } ?? false
                    && self.state.gone.contains(id)
            let plan = reconcile(
                TaskState(
                    id: id, base: known[id]?.base, local: state, remote: .init(remote[id]), wantedBack: wantedBack))
            if plan.action != .nothing { plans[id] = plan }
            if case .deletedElsewhere(let day) = plan.action {
                problems.append(
                    ProblemItem(
                        id: id, path: folder.file(of: place(of: id)),
                        problem: """
                            this task was deleted on \(Text(String(day.string.prefix(10)))), and this file says something else: \
                            `otask changes retry` brings it back, removing the file agrees
                            """, line: nil))
            }
        }
    }

    /// Counts what the deletion guard looks at.
    mutating func count(lastHour: Int) {
        let unasked = plans.values.filter(isUnaskedDeletion)
        let onServer = unasked.filter { $0.action == .sendDeletion }.count
        let liveRows = remote.values.filter { $0.deletedAt == nil }.count
        let onlyHere = local.keys.filter { remote[$0].map { $0.deletedAt != nil } ?? true }.count
        guarding = DeletionGuard(
            existing: settled.counts.files + liveRows + onlyHere, onServer: onServer, here: unasked.count - onServer,
            wentBack: wentBack.count,
            lastHour: lastHour)
    }
}

extension KnownTask {
    /// The local value of `path`: the base's as long as a person hasn't moved the file, wherever it lies.
    var localPath: JSON {
        guard let place else { return .null }
        guard !isMoved, let base, !base.unagreed.contains(.path), let path = base.values[.path]?.text,
            Names.isSafe(path)
        else {
            return .string(place)
        }
        return .string(path)
    }
}

extension Base {
    /// The base of a text that was made from these earlier values.
    func goingBack(to values: FieldValues) -> Base {
        var base = Base(values: values, unagreed: unagreed.intersection([.path]))
        base.values[.path] = self.values[.path]
        return base
    }
}
