import Model

/// What decides a live task's wanted place; all of it from the Remote tree.
public struct PlaceCandidate: Hashable, Sendable {
    public var id: ItemID
    public var path: Text?
    public var title: Text
    /// As the server wrote it (RFC 3339); compared as an instant.
    public var createdAt: Text

    public init(id: ItemID, path: Text?, title: Text, createdAt: Text) {
        self.id = id
        self.path = path
        self.title = title
        self.createdAt = createdAt
    }
}

/// Where tasks lie.
public enum Places {
    /// The place each live task of the server wants: the same on every device, whatever the order of `rows`.
    public static func assign(_ rows: [PlaceCandidate]) -> [ItemID: Text] {
        var places: [ItemID: Text] = [:]
        places.reserveCapacity(rows.count)
        var taken: Set<Text> = []
        taken.reserveCapacity(rows.count)
        var later: [(id: ItemID, wanted: Text)] = []
        // Whoever has a place by itself comes before all who need a suffix: a suffix never drives a task from its `path`.
        for row in inOrderOfCreation(rows) {
            let wanted = wantedPlace(of: row)
            if taken.insert(Names.foldedKey(wanted)).inserted {
                places[row.id] = wanted
            } else {
                later.append((row.id, wanted))
            }
        }
        for (id, wanted) in later {
            places[id] = firstSuffixed(wanted, id) { taken.insert(Names.foldedKey($0)).inserted }
        }
        return places
    }

    private static func wantedPlace(of row: PlaceCandidate) -> Text {
        if let path = row.path, Names.isSafe(path) { return path }
        let slug = Names.slug(of: row.title)
        return Names.isReserved(slug) ? suffixed(slug, row.id, characters: 4) : slug
    }

    /// Created first, then the smaller id. A time that can't be read comes last.
    private static func inOrderOfCreation(_ rows: [PlaceCandidate]) -> [PlaceCandidate] {
        rows.map { (row: $0, created: Timestamp($0.createdAt)) }
            .sorted { a, b in
                switch (a.created, b.created) {
                case (let first?, let second?) where first != second: first < second
                case (.some, nil): true
                case (nil, .some): false
                default: a.row.id < b.row.id
                }
            }
            .map(\.row)
    }

    /// The first of the places with a suffix that `isFree`: four characters of the id, eight, all, then numbered. Only
    /// another task's own path could have been made to look like those, so there is an end.
    private static func firstSuffixed(_ place: Text, _ id: ItemID, _ isFree: (Text) -> Bool) -> Text {
        if let candidate = alternatives(to: place, id).first(where: isFree) { return candidate }
        var number = 2
        while true {
            let candidate = suffixed(place, "-\(id)-\(number)")
            if isFree(candidate) { return candidate }
            number += 1
        }
    }

    /// The places that stand in for one that is taken, in their order.
    public static func alternatives(to place: Text, _ id: ItemID) -> [Text] {
        [4, 8, 36].map { suffixed(place, id, characters: $0) }
    }

    private static func suffixed(_ place: Text, _ id: ItemID, characters: Int) -> Text {
        suffixed(place, "-" + id.description.prefix(characters))
    }

    /// A name that would become too long gives up its end, whole characters.
    private static func suffixed(_ place: Text, _ suffix: String) -> Text {
        var name = place.lastComponent.string
        while name.utf8.count + suffix.utf8.count > Names.longestStem { name.removeLast() }
        return place.parent.appending(Text(name + suffix))
    }

    /// Where each task's file is to be on this device now.
    public static func settle(_ ground: PlaceGround) -> Settled {
        var settled = Settled(places: [:], notFollowed: [])
        var taken = ground.occupied
        func stay(_ id: ItemID, _ place: Text) {
            settled.places[id] = place
            taken.insert(Names.foldedKey(place))
        }

        // A file that isn't on the server yet keeps its place until it is.
        for (id, place) in ground.current where ground.wanted[id] == nil { stay(id, place) }

        // Whoever can't have its place stays where it is, and so takes that place from whoever wants it. One that has its
        // place keeps it, also beside another file that differs only by case.
        let held = heldPlaces(ground)
        var moving: [Wish] = []
        for wish in ground.wanted.map({ Wish(id: $0.key, place: $0.value) }).sorted(by: { $0.id < $1.id }) {
            let isIgnored = ground.ignored(wish.place)
            let current = ground.current[wish.id]
            if isIgnored { settled.notFollowed.insert(wish.id) }
            if let current, isIgnored || current == wish.place || held.refuses(wish.key, wish.id) {
                stay(wish.id, current)
            } else if !isIgnored {
                moving.append(wish)
            }
        }

        // Wanted places never clash with each other (`assign`): only what was taken above, or is held, stands in the way.
        var later: [Wish] = []
        for wish in moving {
            if !held.refuses(wish.key, wish.id), taken.insert(wish.key).inserted {
                settled.places[wish.id] = wish.place
            } else {
                later.append(wish)
            }
        }
        for wish in later {
            let place = firstSuffixed(wish.place, wish.id) { place in
                let key = Names.foldedKey(place)
                return !held.refuses(key, wish.id) && !taken.contains(key)
            }
            if !ground.ignored(place) {
                stay(wish.id, place)
            } else {
                settled.notFollowed.insert(wish.id)
                if let current = ground.current[wish.id] { stay(wish.id, current) }
            }
        }
        return settled
    }

    private struct Wish {
        let id: ItemID
        let place: Text
        let key: Text

        init(id: ItemID, place: Text) {
            self.id = id
            self.place = place
            key = Names.foldedKey(place)
        }
    }

    private static func heldPlaces(_ ground: PlaceGround) -> HeldPlaces {
        let recent = ground.former.filter { $0.wasEditedLately && ground.now - $0.since < 3600 }
        return HeldPlaces(
            owners: Dictionary(
                recent.sorted { $0.since < $1.since }.map { (Names.foldedKey($0.place), $0.id) },
                uniquingKeysWith: { $1 }))
    }

    /// Folded keys of former places whose hour isn't over, and the task that was there, which alone may have them.
    private struct HeldPlaces {
        let owners: [Text: ItemID]

        func refuses(_ key: Text, _ id: ItemID) -> Bool { owners[key].map { $0 != id } ?? false }
    }
}

/// What this device has, against which wanted places are settled.
public struct PlaceGround {
    /// `Places.assign` of the live rows. Leave out a task that isn't followed here (frozen).
    public var wanted: [ItemID: Text]
    /// The places of the tasks' files here. One without a wanted place (not on the server yet, or frozen) keeps it.
    public var current: [ItemID: Text]
    /// Folded keys of the places of files here that are no task (unreadable, waiting, not matched).
    public var occupied: Set<Text>
    public var former: [FormerPlace]
    /// Whether a place would be under an ignore rule, or is of no task (`profile`, the photo folder).
    public var ignored: (Text) -> Bool
    public var now: Instant

    public init(
        wanted: [ItemID: Text], current: [ItemID: Text] = [:], occupied: Set<Text> = [], former: [FormerPlace] = [],
        ignored: @escaping (Text) -> Bool = { _ in false }, now: Instant
    ) {
        self.wanted = wanted
        self.current = current
        self.occupied = occupied
        self.former = former
        self.ignored = ignored
        self.now = now
    }
}

public struct Settled: Equatable, Sendable {
    public static let nothing = Settled(places: [:], notFollowed: [])

    /// Every task of `wanted` and `current`, but those that can't be laid down.
    public var places: [ItemID: Text]
    /// Tasks whose wanted place is under an ignore rule: one with a file here stays there (it is in `places`), one
    /// without isn't laid down.
    public var notFollowed: Set<ItemID>
}
