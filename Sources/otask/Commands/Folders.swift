import Libraries
import Model

/// Opens the folder at an absolute path; what is missing on the way is made.
func makeFolders(_ path: String) throws(SystemError) -> OpenFolder {
    var folder = try OpenFolder(path: "/")
    for component in Text(path).components where !component.isEmpty {
        let below = (folder.path == "/" ? "" : folder.path) + "/" + component.string
        if let next = try? OpenFolder(path: below) {
            folder = next
        } else {
            try folder.makeFolder(FileName(component.string))
            folder = try OpenFolder(path: below)
        }
    }
    return folder
}
