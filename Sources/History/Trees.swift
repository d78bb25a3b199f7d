import Libraries
import Model

/// A file that differs between two states; nil where a state has none at this path.
struct TreeDifference: Hashable {
    let path: Text
    let old: GitID?
    let new: GitID?
}

/// New contents by their paths, arranged in folders.
struct TreeChanges {
    /// Nil: the file is gone.
    private(set) var files: [Text: GitID?] = [:]
    private(set) var folders: [Text: TreeChanges] = [:]

    /// The last one of a path counts.
    mutating func set(_ path: Text, _ content: GitID?) { set(path.components.map(stored)[...], content) }

    private mutating func set(_ components: ArraySlice<Text>, _ content: GitID?) {
        guard let name = components.first else { return }
        if components.count == 1 {
            files[name] = .some(content)
        } else {
            folders[name, default: TreeChanges()].set(components.dropFirst(), content)
        }
    }
}

extension GitRepository {
    /// The folder `tree` with these changes; nil where nothing is left in it. Only folders with changes are read and written.
    func updated(_ tree: GitID?, _ changes: TreeChanges) throws(HistoryError) -> GitID? {
        let before = try folder(tree)
        var entries = before
        // A folder may take the place of a file, and the other way round: what goes, goes first.
        for (name, content) in changes.files where content == nil {
            if entries[name]?.isFolder == false { entries[name] = nil }
        }
        for (name, changes) in changes.folders {
            let folder = entries[name].flatMap { $0.isFolder ? $0.id : nil }
            let updated = try updated(folder, changes)
            if let updated {
                entries[name] = Entry(id: updated, isFolder: true)
            } else if entries[name]?.isFolder == true {
                entries[name] = nil
            }
        }
        for (name, content) in changes.files {
            if let content = content ?? nil { entries[name] = Entry(id: content, isFolder: false) }
        }
        if entries == before { return tree }
        if entries.isEmpty { return nil }
        return try writing { () throws(GitError) in try write(entries: entries.map { ($0.key.string, $0.value) }) }
    }

    /// The files that differ, by their paths.
    func differences(
        _ old: GitID?, _ new: GitID?, below path: Text = ""
    ) throws(HistoryError) -> [TreeDifference] {
        if old == new { return [] }
        var found: [TreeDifference] = []
        let before = try folder(old)
        let after = try folder(new)
        for name in Set(before.keys).union(after.keys) {
            let (a, b) = (before[name], after[name])
            if a == b { continue }
            let path = path.appending(shown(name))
            let files = (a.flatMap { $0.isFolder ? nil : $0.id }, b.flatMap { $0.isFolder ? nil : $0.id })
            if files != (nil, nil) { found.append(TreeDifference(path: path, old: files.0, new: files.1)) }
            let folders = (a.flatMap { $0.isFolder ? $0.id : nil }, b.flatMap { $0.isFolder ? $0.id : nil })
            if folders != (nil, nil) { found += try differences(folders.0, folders.1, below: path) }
        }
        return path.isEmpty ? found.sorted { $0.path < $1.path } : found
    }

    /// Every file below a folder.
    func files(_ tree: GitID?) throws(HistoryError) -> [(path: Text, content: GitID)] {
        try differences(nil, tree).compactMap { difference in difference.new.map { (difference.path, $0) } }
    }

    /// The content of one file.
    func content(of path: Text, _ tree: GitID?) throws(HistoryError) -> GitID? {
        var folder = tree
        let components = path.components.map(stored)
        for component in components.dropLast() {
            guard let entry = try self.folder(folder)[component], entry.isFolder else { return nil }
            folder = entry.id
        }
        guard let last = components.last, let entry = try self.folder(folder)[last], !entry.isFolder else { return nil }
        return entry.id
    }

    private func folder(_ tree: GitID?) throws(HistoryError) -> [Text: Entry] {
        guard let tree else { return [:] }
        let entries = try reading { () throws(GitError) in try self.entries(of: tree) }
        return Dictionary(entries.map { (Text($0.name), $0.entry) }, uniquingKeysWith: { first, _ in first })
    }

    /// Copies a folder with all that is in it.
    func copy(folder tree: GitID, from other: GitRepository) throws(HistoryError) {
        if has(tree) { return }
        for (_, entry) in try reading({ () throws(GitError) in try other.entries(of: tree) }) {
            if entry.isFolder {
                try copy(folder: entry.id, from: other)
            } else {
                try writing { () throws(GitError) in try copy(entry.id, from: other) }
            }
        }
        try writing { () throws(GitError) in try copy(tree, from: other) }
    }
}

/// git takes no folder called `git~1`, which is `.git` on other systems: it gets a `%`, as does one called so with any
/// number of them.
private func stored(_ name: Text) -> Text { isReserved(name) ? name + "%" : name }

private func shown(_ name: Text) -> Text {
    name.hasSuffix("%") && isReserved(name) ? Text(Substring(name.utf8.dropLast())) : name
}

private func isReserved(_ name: Text) -> Bool {
    var bytes = name.bytes[...]
    while bytes.last == UInt8(ascii: "%") { bytes = bytes.dropLast() }
    return bytes.count == 5 && String(decoding: bytes, as: UTF8.self).lowercased() == "git~1"
}
