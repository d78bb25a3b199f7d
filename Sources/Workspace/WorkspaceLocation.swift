import Libraries
import Model

/// Where the workspace is, found as git does.
public enum WorkspaceLocation {
    /// The nearest folder upward from `directory` (absolute) that has `.otask`, not across a mount; then `OTASK_DIR`; then what
    /// `configured` (the default of the user's configuration) says. Nil where none says anything. The last two are taken as they
    /// are: that `.otask` is missing there is for the caller to say.
    public static func find(
        from directory: String, environment: [String: String], configured: () -> String?
    ) -> String? {
        if let found = upward(from: directory, look: look) { return found }
        if let named = environment["OTASK_DIR"], !named.isEmpty { return named }
        return configured()
    }

    struct Sight {
        var device: UInt64
        var hasWorkspace: Bool
    }

    private static func look(_ path: String) -> Sight? {
        guard let folder = try? OpenFolder(path: path), let status = try? folder.status() else { return nil }
        return Sight(device: status.device, hasWorkspace: (try? folder.status(".otask"))??.kind == .folder)
    }

    static func upward(from directory: String, look: (String) -> Sight?) -> String? {
        var path = directory
        var device: UInt64?
        while let sight = look(path), device == nil || sight.device == device {
            if sight.hasWorkspace { return path }
            device = sight.device
            guard path != "/", let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return nil
    }
}
