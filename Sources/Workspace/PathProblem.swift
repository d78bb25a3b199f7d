import Libraries
import Model

/// Something about one path that a person has to look at; everything else goes on (law 7).
public struct PathProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        case symlink
        /// A pipe, socket or device.
        case special
        case badName
        /// Differs from another file only by case or form.
        case twin
        /// Can't be listed, looked at or read.
        case unreadable
        /// A folder on another device: a mount.
        case otherDevice
        case missing
        /// The file or its folder doesn't let itself be written.
        case readOnly
        case nameTooLong
        /// The disk or the quota is full: nothing more is written in this run.
        case full
        /// The file system failed otherwise.
        case failed
    }

    public var kind: Kind
    /// As in the call that found it; bytes that are not UTF-8 are shown as U+FFFD.
    public var path: Text
    /// What is wrong, and the way out.
    public var text: Text

    public init(_ kind: Kind, _ path: Text, _ text: Text) {
        self.kind = kind
        self.path = path
        self.text = text
    }

    public var description: String { "\(path): \(text)" }
}

extension PathProblem {
    /// What is neither a file nor a folder is reported and not followed.
    static func ofKind(_ kind: FileKind, _ path: Text) -> PathProblem? {
        switch kind {
        case .file: nil
        case .folder:
            PathProblem(.special, path, "a folder stands where a file was; rename it or move it elsewhere")
        case .symlink:
            PathProblem(
                .symlink, path,
                "is a symlink, which otask doesn't follow; put the file or folder itself here, or name it in .otaskignore"
            )
        case .special:
            PathProblem(
                .special, path, "is neither a file nor a folder; move it elsewhere, or name it in .otaskignore")
        }
    }

    static func unreadable(_ path: Text, _ error: SystemError) -> PathProblem {
        PathProblem(
            .unreadable, path, "can't be read (\(error.reason)); see to its permissions, or name it in .otaskignore")
    }

    static func otherDevice(_ path: Text) -> PathProblem {
        PathProblem(
            .otherDevice, path,
            "is on another device than the folder above it, so it is left out; name it in .otaskignore, or move its files"
        )
    }

    /// What kept `path` from being written.
    static func writing(_ path: Text, _ error: SystemError) -> PathProblem {
        if error.isFull {
            return PathProblem(.full, path, "the disk or the quota is full; make room, then run `otask sync`")
        }
        if error.isNameTooLong {
            return PathProblem(.nameTooLong, path, "the name is too long for this file system; rename the task")
        }
        if error.isDenied {
            return PathProblem(
                .readOnly, path, "the file or its folder can't be written (\(error.reason)); see to its permissions")
        }
        if error.isNoFolder {
            return PathProblem(
                .symlink, path,
                "something above it is a symlink or no folder, and otask follows none; move it elsewhere")
        }
        if error.isOtherDevice {
            return PathProblem(.otherDevice, path, "can't be moved to another device; move it by hand")
        }
        return PathProblem(
            .failed, path, "can't be written: \(error.reason) (\(error.call)); see whether the disk is in order")
    }
}

extension OpenFile {
    /// The digest of the content, in constant memory.
    func digest() throws(SystemError) -> Digest {
        let digest = FileDigest()
        try readChunks {
            digest.update($0)
            return true
        }
        return Digest(bytes: digest.finish())
    }
}
