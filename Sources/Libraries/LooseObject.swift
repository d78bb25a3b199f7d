import CGit2
import CZlib

extension GitRepository {
    /// Throws where an object is a file of its own that is cut short or holds something else: libgit2 1.5 may never come back
    /// from reading one that ends too early, as a power cut may leave it.
    func check(_ id: GitID) throws(GitError) {
        let file: [UInt8]
        do throws(SystemError) {
            let (folder, name) = try loose(id)
            file = try folder.open(name).read()
        } catch {
            // In a pack, or not there: libgit2 finds that out. What may not be read it would take for missing.
            if error.isMissing { return }
            throw GitError(message: "\(id): \(error.reason)", isMissing: false)
        }
        if !isWholeStream(file) { throw GitError(message: "\(id) is cut short", isMissing: false) }
    }

    /// Removes the file of a damaged object, to make room for a sound one.
    func removeLoose(_ id: GitID) {
        guard let (folder, name) = try? loose(id) else { return }
        try? folder.unlink(name)
    }

    private func loose(_ id: GitID) throws(SystemError) -> (folder: OpenFolder, name: FileName) {
        let digits = id.description
        let folder = try OpenFolder(path: path).folder(at: "objects/" + digits.prefix(2))
        return (folder, FileName(String(digits.dropFirst(2))))
    }
}

/// Whether these bytes are all that zlib made of something, and no more.
private func isWholeStream(_ bytes: [UInt8]) -> Bool {
    var stream = z_stream()
    guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return false }
    defer { inflateEnd(&stream) }
    var input = bytes
    var room = [UInt8](repeating: 0, count: 1 << 14)
    return input.withUnsafeMutableBufferPointer { input in
        room.withUnsafeMutableBufferPointer { room in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            while true {
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                let code = inflate(&stream, Z_NO_FLUSH)
                if code == Z_STREAM_END { return stream.avail_in == 0 }
                // More room is needed, or there is nothing more to read.
                if code != Z_OK || stream.avail_out != 0 { return false }
            }
        }
    }
}
