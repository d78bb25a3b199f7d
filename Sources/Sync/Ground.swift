import Journal
import Libraries
import Model
import Workspace

/// What tells a workspace that stayed where it was from one that was copied, restored, carried or mounted anew, in whole or in part.
extension Disk {
    /// The journal's own file and the task folder, as identities: a journal put there by another tool speaks of files that may not
    /// have come yet, and behind a mount that is gone lies another folder. Nil where the file system keeps no birth times.
    var ground: Text? {
        let paths: [Text] = [".otask/journal.sqlite", taskFolder.path]
        let identities = paths.map { path -> FileIdentity? in
            let status =
                path.isEmpty
                ? try? root.status()
                : (try? root.folder(at: path.parent.string).status(FileName(path.lastComponent.string))) ?? nil
            guard let status, let birth = status.birth else { return nil }
            return FileIdentity(inode: status.inode, birth: birth)
        }
        guard let journal = identities[0], let tasks = identities[1] else { return nil }
        return "\(journal.inode).\(journal.birth) \(tasks.inode).\(tasks.birth)"
    }

    /// The workspace was copied, restored or carried here, or its task folder is another, since the journal last saw it.
    func isElsewhere(than state: JournalState) -> Bool {
        guard let machine = state.meta.machineID else { return false }
        if machine != self.machine || state.meta.homeIdentity != home { return true }
        return state.ground != nil && state.ground != ground
    }
}

extension Engine {
    /// Gives the journal a file of its own where it has other names, as after `cp -al`: two workspaces that write into one
    /// database destroy it, and the one that was kept as a backup would know what happened later. The caller holds the lock.
    func partJournal() throws {
        let path: Text = ".otask/journal.sqlite"
        do {
            let folder = try disk.root.folder(".otask")
            guard let status = try folder.status("journal.sqlite"), status.linkCount > 1 else { return }
            // What is still in the log belongs into the file first; closing does that.
            if let log = try folder.status("journal.sqlite-wal"), log.size > 0 {
                _ = try? Journal.open(path: root + "/" + path, now: surroundings.now())
                if let log = try folder.status("journal.sqlite-wal"), log.size > 0 { return }
            }
            let before = disk.ground
            let name = FileName(IgnoreRules.temporaryPrefix.string + "journal")
            do throws(SystemError) { try folder.unlink(name) } catch { if !error.isMissing { throw error } }
            let copy = try folder.create(name, mode: 0o600)
            try copy.write(folder.open("journal.sqlite").read())
            try copy.sync()
            try folder.rename(name, to: folder, "journal.sqlite")
            try folder.sync()
            let (journal, _) = try Journal.open(path: root + "/" + path, now: surroundings.now())
            guard try journal.fact(JournalState.groundKey) == before else { return }
            try journal.commit { [disk] writer in try writer.put(fact: disk.ground, for: JournalState.groundKey) }
        } catch let error as SystemError {
            throw PathProblem(.failed, path, "can't be parted from its other names (\(Text(error.reason)))")
        }
    }
}

extension JournalState {
    static let groundKey: Text = "ground"
}
