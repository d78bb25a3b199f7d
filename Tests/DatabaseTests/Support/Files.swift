#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The absolute path of a file of this project.
func projectPath(_ path: String) -> String {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    return folder.appending(path: path).path
}

func readFile(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: projectPath(path))), as: UTF8.self)
}

/// The names in a folder of this project, in their order.
func fileNames(in folder: String, endingWith end: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: projectPath(folder)).filter { $0.hasSuffix(end) }.sorted()
}
