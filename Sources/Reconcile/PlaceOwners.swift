import Model

extension KnownTask {
    /// The task of each place. Two have one place where a person moved a file over another, until the deletion of the other
    /// was sent: then the file there tells whose it is by its inode, else by its bytes; else it is the one that was moved.
    public static func owners(
        _ tasks: some Sequence<KnownTask>, file: (Text) -> (stamp: FileStamp, digest: Digest)?
    ) -> [Text: KnownTask] {
        func rank(_ task: KnownTask, _ place: Text) -> Int {
            let file = file(place)
            if task.identity != nil, task.identity == file?.stamp.identity { return 0 }
            if task.cleanDigest != nil, task.cleanDigest == file?.digest { return 1 }
            return task.isMoved ? 2 : 3
        }
        var owners: [Text: KnownTask] = [:]
        for task in tasks {
            guard let place = task.place else { continue }
            guard let other = owners.updateValue(task, forKey: place) else { continue }
            if (rank(other, place), other.id) < (rank(task, place), task.id) { owners[place] = other }
        }
        return owners
    }
}
