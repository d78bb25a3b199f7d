import CTemplate

/// What users are given: the files of `template/`, which ship inside the program.
public enum Template {
    /// The bytes of a file, by its path in `template/`; nil where there is none of that name.
    public static func file(_ path: String) -> [UInt8]? {
        var index = 0
        while let file = otask_template(index) {
            if String(cString: file.pointee.path) == path {
                return Array(UnsafeBufferPointer(start: file.pointee.bytes, count: file.pointee.count))
            }
            index += 1
        }
        return nil
    }

    /// The paths of all files, in the order of the list.
    public static var paths: [String] {
        var paths: [String] = []
        while let file = otask_template(paths.count) { paths.append(String(cString: file.pointee.path)) }
        return paths
    }
}
