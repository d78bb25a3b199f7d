import Libraries
import Model

/// What is kept of displaced and removed files, in `.otask/displaced/` or, where that is another device, beside their targets.
extension FileWriter {
    static let displacedFolder: Text = ".otask/displaced"
    static let displacedPrefix = IgnoreRules.temporaryPrefix + "displaced-"

    /// Where a displaced file lies that could not leave its device.
    static func beside(_ target: Text, _ name: Text) -> Text { target.parent.appending(displacedPrefix + name) }

    private func openDisplaced() throws(SystemError) -> OpenFolder {
        let own = try root.folder(".otask")
        do throws(SystemError) { try own.makeFolder("displaced") } catch { if !error.exists { throw error } }
        return try own.folder("displaced")
    }

    /// Moves a file to the displaced ones under `name`; its path there, or nil where it is gone.
    func moveAside(_ spot: Spot, to name: Text) throws -> Text? {
        do throws(SystemError) {
            do throws(SystemError) {
                try spot.folder.move(spot.name, to: openDisplaced(), FileName(name.string), support: support)
                return Self.displacedFolder.appending(name)
            } catch {
                if !error.isOtherDevice { throw error }
                let beside = Self.beside(spot.path, name)
                try spot.folder.move(
                    spot.name, to: spot.folder, FileName(beside.lastComponent.string), support: support)
                return beside
            }
        } catch {
            if error.isMissing { return nil }
            throw PathProblem.writing(spot.path, error)
        }
    }

    /// Keeps the file at `path`, which stood at `target`. Without a `digest` it is taken of what the file holds.
    func keep(_ path: Text, of target: Text, digest: Digest?) throws -> Displaced {
        try effects.check(.keep(target))
        let spot = try spot(path)
        let held = try doing(target) { () throws(SystemError) -> Digest? in
            if let digest { return digest }
            return try steadyDigest(spot.folder, spot.name)
        }
        // A file that is being written has no digest yet: whatever it holds later counts as new bytes.
        let kept = held ?? Digest(of: [])
        let at = now()
        let name = Displaced.name(kept, at: at, random: random())
        guard let aside = try moveAside(spot, to: name) else {
            throw PathProblem(
                .missing, target, "the old file vanished while it was replaced; its text is in the history")
        }
        return Displaced(path: aside, target: target, digest: kept, at: at)
    }

    /// Keeps a second name of the file, or a copy where the file system has no hard links.
    func keepCopy(of spot: Spot, digest: Digest) throws -> Displaced {
        try effects.check(.keep(spot.path))
        let at = now()
        let name = Displaced.name(digest, at: at, random: random())
        let path: Text = try doing(spot.path) { () throws(SystemError) in
            let folder = try openDisplaced()
            if support != .plain {
                do throws(SystemError) {
                    try spot.folder.link(spot.name, to: folder, FileName(name.string))
                    return Self.displacedFolder.appending(name)
                } catch {
                    if !error.isUnsupported && !error.isDenied && !error.isOtherDevice { throw error }
                }
            }
            let copy = try folder.create(FileName(name.string), mode: 0o600)
            try copy.write(spot.folder.open(spot.name).read())
            try copy.sync()
            return Self.displacedFolder.appending(name)
        }
        return Displaced(path: path, target: spot.path, digest: digest, at: at)
    }

    /// The bytes of a displaced file, if a program that still had it open has written to it since. Nil otherwise, also while it is being
    /// written: look again later.
    public func revisit(_ displaced: Displaced) throws -> [UInt8]? {
        guard let bytes = try steadyBytes(displaced.path), Digest(of: bytes) != displaced.digest else { return nil }
        return bytes
    }

    /// The bytes of a file that stood still while it was read; nil for anything else.
    func steadyBytes(_ path: Text) throws -> [UInt8]? {
        let spot = try spot(path)
        return try doing(path) { () throws(SystemError) in
            do throws(SystemError) {
                let file = try spot.folder.open(spot.name)
                let before = try file.status()
                guard before.kind == .file else { return nil }
                let bytes = try file.read()
                return try file.status() == before ? bytes : nil
            } catch {
                if error.isMissing { return nil }
                throw error
            }
        }
    }

    /// Deletes a displaced file.
    public func discard(_ displaced: Displaced) throws { try delete(displaced.path) }

    /// The path of a displaced file with this content, if `.otask/displaced/` has one.
    public func displaced(with digest: Digest) throws -> Text? {
        try doing(Self.displacedFolder) { () throws(SystemError) in
            let folder = try openDisplaced()
            let prefix = Text("\(digest).")
            for entry in try folder.entries() where entry.name.bytes.starts(with: prefix.utf8) {
                if try steadyDigest(folder, entry.name) == digest {
                    return Self.displacedFolder.appending(Text(entry.name.shown))
                }
            }
            return nil
        }
    }

    /// Where a text that no file holds any more can be kept among the displaced files.
    public func displacedPath(for bytes: [UInt8]) -> Text {
        Self.displacedFolder.appending(Displaced.name(Digest(of: bytes), at: now(), random: random()))
    }

    /// Deletes what was displaced before `date` from `.otask/displaced/`. `revisit` it first.
    public func prune(before date: Instant) throws {
        let entries = try doing(Self.displacedFolder) { () throws(SystemError) in try openDisplaced().entries() }
        for entry in entries {
            let name = Text(entry.name.shown)
            guard let displaced = Displaced.date(ofName: name), displaced < date else { continue }
            try delete(Self.displacedFolder.appending(name))
        }
    }
}
