import Libraries
import Model

/// The one writer of a workspace: `flock` on `.otask/lock`. It dies with its process and is not inherited by children.
public final class WorkspaceLock: Sendable {
    private let file: OpenFile

    private init(file: OpenFile) { self.file = file }

    public struct Busy: Error, Hashable, Sendable, CustomStringConvertible {
        /// The other process and its command, as it wrote them; empty where it had not yet.
        public var holder: Text

        public var description: String {
            let who = holder.isEmpty ? "another otask" : "otask \(holder)"
            return "\(who) is working in this workspace; wait for it, or for longer with --wait"
        }
    }

    /// Takes the lock, trying again every 50 ms for `wait` seconds.
    /// - Parameters:
    ///   - command: what this process does, for another's message only.
    ///   - sleep: waits that many seconds.
    /// - Throws: `Busy`; `PathProblem` where `.otask/lock` can't be opened.
    public static func acquire(
        root: OpenFolder, command: Text, wait: Double, sleep: (Double) -> Void = System.sleep
    ) throws -> WorkspaceLock {
        let path: Text = ".otask/lock"
        do {
            let file = try root.folder(".otask").openOrCreate("lock")
            var waited = 0.0
            while try !file.tryLock() {
                if waited >= wait {
                    throw Busy(holder: Text(String(decoding: try file.read(limit: 4096), as: UTF8.self)))
                }
                sleep(pause)
                waited += pause
            }
            try file.truncate()
            try file.write("\(command) (process \(System.processID()))".utf8)
            return WorkspaceLock(file: file)
        } catch let error as SystemError {
            throw PathProblem.writing(path, error)
        }
    }

    private static let pause = 0.05

    /// Gives the lock back; also done when the value goes away.
    public func release() {
        try? file.truncate()
        file.unlock()
    }

    /// Who works in a workspace now, as far as can be told without taking the lock.
    public struct Holder: Hashable, Sendable {
        public var command: Text
        public var since: Instant
    }

    /// The holder that the lock's file names, if its process is alive on this host.
    public static func holder(
        root: OpenFolder, isAlive: (Int32) -> Bool = System.isAlive
    ) -> Holder? {
        guard let folder = try? root.folder(".otask"), let file = try? folder.open("lock"),
            let bytes = try? file.read(limit: 4096), let status = try? file.status(),
            let text = Text(utf8: bytes), let number = text.string.split(separator: " (process ").last,
            let process = Int32(number.dropLast()), isAlive(process)
        else { return nil }
        let command = text.string.split(separator: " (process ").dropLast().joined(separator: " (process ")
        return Holder(command: Text(command), since: Instant(nanoseconds: status.modified))
    }
}
