import Libraries
import Model

/// The answer of `Scanner.findIdentities`.
public struct IdentitySearch: Hashable, Sendable {
    /// Paths relative to the workspace.
    public internal(set) var found: [FileIdentity: Text] = [:]
    /// Folders that could not be read: what wasn't found may be there, so it does not count as deleted.
    public internal(set) var unread: [Text] = []
}

extension Scanner {
    /// Looks for files by identity under every name in the workspace: hidden, ignored, with any ending; not in trash folders and not
    /// in `.otask`, nor below a mount. Only stats.
    public func findIdentities(_ wanted: Set<FileIdentity>) -> IdentitySearch {
        var search = IdentitySearch()
        search.visit(root, path: "", device: nil, wanted)
        return search
    }
}

extension IdentitySearch {
    /// - Parameter device: of `folder`; nil for the workspace itself, whose folders may each be a device of its own.
    fileprivate mutating func visit(_ folder: OpenFolder, path: Text, device: UInt64?, _ wanted: Set<FileIdentity>) {
        let entries: [OpenFolder.Entry]
        do throws(SystemError) {
            entries = try folder.entries()
        } catch {
            return unread.append(path)
        }
        for entry in entries where found.count < wanted.count {
            let name = Text(entry.name.shown)
            let entryPath = path.appending(name)
            if IgnoreRules.isTrash(name) && entry.kind != .file || entryPath == ".otask" { continue }
            do throws(SystemError) {
                guard let status = try folder.status(entry.name) else { continue }
                if status.kind == .file, let identity = status.stamp.identity, wanted.contains(identity) {
                    found[identity] = entryPath
                }
                guard status.kind == .folder, device == nil || status.device == device else { continue }
                visit(try folder.folder(entry.name), path: entryPath, device: status.device, wanted)
            } catch {
                unread.append(entryPath)
            }
        }
    }
}
