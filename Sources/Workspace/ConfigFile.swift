import Libraries
import Model

extension Config {
    /// Reads the configuration of the workspace at `root` (absolute). Throws `ConfigError`.
    public static func load(root: String) throws(ConfigError) -> Config {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try OpenFile(path: root + "/" + path.string).read()
        } catch {
            guard error.isMissing else { throw ConfigError("can't be read: \(error.reason)") }
            throw ConfigError("is missing; \"otask init --demo\" in the workspace lays it down again")
        }
        guard let text = Text(utf8: bytes) else { throw ConfigError("is not UTF-8") }
        return try Config(parsing: text)
    }

    /// Writes the configuration of the workspace at `root`, whose `.otask` must be there: another file, flushed, then
    /// renamed over the old one.
    public func save(root: String) throws(SystemError) {
        let folder = try OpenFolder(path: root + "/.otask")
        let temporary = FileName(IgnoreRules.temporaryPrefix.string + "config")
        if try folder.status(temporary) != nil { try folder.unlink(temporary) }
        let file = try folder.create(temporary)
        try file.write(source.utf8)
        try file.sync()
        try folder.rename(temporary, to: folder, "config.yaml")
        try folder.sync()
    }
}
