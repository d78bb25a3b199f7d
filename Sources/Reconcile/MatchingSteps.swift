import Model

/// Works out a `Matching`. Each rule takes files and tasks that no rule before it took, so their order is their precedence;
/// within a rule, files go in order of place and tasks in order of id, so the answer never depends on the input's order.
struct Matcher {
    let input: MatchInput
    /// In order of place; files are named by their index in it.
    let files: [Sighting]
    let fileAt: [Text: Int]
    /// The known task whose place it is.
    let ownerAt: [Text: ItemID]
    /// In order of id.
    let tasks: [KnownTask]
    /// Files that bear an id. A file without the id line, and any where ids aren't read, is in none.
    let filesByID: [ItemID: [Int]]
    /// Without clean files, which are where they were. Hard links are several files of one identity. Empty where inodes say
    /// nothing.
    let filesByIdentity: [FileIdentity: [Int]]
    let formers: [Text: [FormerPlace]]
    let unknown: Set<Text>

    /// Files that are settled, one way or another.
    private(set) var settled: [Bool]
    var matches: [Matched?]
    /// The file that each task has, `formerPlace` apart.
    private(set) var fileOf: [ItemID: Int] = [:]
    /// Known tasks that are said in `problems`.
    private(set) var waiting: Set<ItemID> = []
    /// Known tasks whose file an editor with another task's old name wrote over.
    var overwritten: Set<ItemID> = []
    var result = Matching()
    private var located: [FileIdentity: Text]?

    init(_ input: MatchInput) {
        self.input = input
        files = input.sightings.sorted { $0.place < $1.place }
        tasks = input.known.values.sorted { $0.id < $1.id }
        fileAt = Dictionary(files.enumerated().map { ($1.place, $0) }, uniquingKeysWith: { first, _ in first })
        ownerAt = KnownTask.owners(tasks) { [files, fileAt] place in
            fileAt[place].map { (files[$0].stamp, files[$0].digest) }
        }.mapValues(\.id)
        var byID: [ItemID: [Int]] = [:]
        var byIdentity: [FileIdentity: [Int]] = [:]
        for (index, file) in files.enumerated() {
            if input.idsInFiles, let id = file.reading.id { byID[id, default: []].append(index) }
            if !input.homeChanged, file.reading != .clean, let identity = file.stamp.identity {
                byIdentity[identity, default: []].append(index)
            }
        }
        filesByID = byID
        filesByIdentity = byIdentity
        formers = Dictionary(grouping: input.former, by: \.place)
        unknown = Set(input.unknown)
        settled = Array(repeating: false, count: files.count)
        matches = Array(repeating: nil, count: files.count)
    }

    mutating func run() {
        keepReservedIDs()
        matchIDsAtTheirPath()
        matchIDsElsewhere()
        pairByInode()
        matchPathsWithoutID()
        matchForeignIDs()
        pairByContent()
        matchUnknownIDs()
        adoptByPlace()
        takeAsNew()
        concludeMissing()
        result.items = matches.compactMap { $0 }
        result.problems.sort { $0.place < $1.place }
        result.notices.sort { $0.place < $1.place }
        result.unmatched.sort()
    }

    // MARK: What a file and a task are to each other

    func isFree(_ file: Int) -> Bool { !settled[file] }

    /// Neither has a file yet nor waits.
    func isOpen(_ id: ItemID) -> Bool { fileOf[id] == nil && !waiting.contains(id) }

    func id(in file: Int) -> ItemID? { input.idsInFiles ? files[file].reading.id : nil }

    func hasInode(of task: KnownTask, _ file: Int) -> Bool {
        !input.homeChanged && task.identity != nil && task.identity == files[file].stamp.identity
    }

    /// The file at the task's place.
    func ownFile(of task: KnownTask) -> Int? { task.place.flatMap { fileAt[$0] } }

    func isUnknown(_ place: Text) -> Bool {
        if unknown.isEmpty { return false }
        var path = place
        while !unknown.contains(path) {
            if path.isEmpty { return false }
            path = path.parent
        }
        return true
    }

    /// Where the file of an open task lies now, under a name that is no task. The search is made once, for all of them.
    mutating func hiddenPath(of task: KnownTask) -> Text? {
        guard !input.homeChanged, let identity = task.identity else { return nil }
        if located == nil {
            let missing = tasks.filter { $0.place != nil && isOpen($0.id) }.compactMap(\.identity)
            located = input.locate(Set(missing).subtracting(files.compactMap(\.stamp.identity)))
        }
        return located?[identity]
    }

    // MARK: Taking a file

    /// Gives the file to a known task: at its place, moved there, or come back.
    mutating func give(_ file: Int, to task: KnownTask) {
        let ground = ground(of: task, file)
        if task.place == files[file].place {
            match(file, task.id, ground == .beforeID ? .older : .same, ground)
        } else if let from = task.place {
            match(file, task.id, .renamed(from: from), ground)
            note(file, "renamed from \(from).md")
        } else {
            match(file, task.id, .returned, ground)
        }
    }

    mutating func match(_ file: Int, _ id: ItemID, _ kind: MatchKind, _ ground: MergeGround) {
        settled[file] = true
        matches[file] = Matched(id: id, kind: kind, ground: ground, sighting: files[file])
        if kind != .formerPlace { fileOf[id] = file }
    }

    /// A file that becomes a new task; one that can't be read isn't one yet.
    mutating func takeAsNew(_ file: Int, id: ItemID? = nil, _ kind: MatchKind) {
        guard case .task = files[file].reading else {
            settled[file] = true
            result.unmatched.append(files[file].place)
            return
        }
        match(file, id ?? input.newID(), kind, .none)
    }

    /// A file that waits. The task of its path, if no other file was found to be that, is neither gone nor edited.
    mutating func wait(_ file: Int, _ text: Text) {
        settled[file] = true
        let owner = ownerAt[files[file].place].flatMap { isOpen($0) ? $0 : nil }
        if let owner { waiting.insert(owner) }
        result.problems.append(MatchRemark(place: files[file].place, id: owner ?? id(in: file), text: text))
    }

    mutating func note(_ file: Int, _ text: Text) {
        result.notices.append(MatchRemark(place: files[file].place, id: matches[file]?.id, text: text))
    }

    func ground(of task: KnownTask, _ file: Int) -> MergeGround {
        if task.base == nil { return .none }
        if files[file].reading == .clean || files[file].digest == task.cleanDigest { return .base }
        // What a workspace that was carried here says of a file that differs is of no worth.
        if input.homeChanged { return .none }
        // Saved without the id line that the task's file had: older than that line.
        if input.idsInFiles, task.hasIDLine, task.beforeID != nil, case .task(id: nil, _) = files[file].reading {
            return .beforeID
        }
        return .base
    }
}

extension Reading {
    /// The id that the file bears. That of a clean file isn't read: it is the one of its place.
    var id: ItemID? {
        switch self {
        case .clean: nil
        case .task(let id, _): id
        case .problem(let id): id
        }
    }
}
