import Model
import Testing

@testable import Reconcile

@Suite struct PlacesTests {
    private func candidate(_ letter: Character, _ path: Text?, title: Text = "Milk", minute: Int = 0) -> PlaceCandidate
    {
        PlaceCandidate(
            id: Ids.of(letter), path: path, title: title,
            createdAt: Text("2026-11-30T10:\(minute < 10 ? "0" : "")\(minute):00+00:00"))
    }

    /// By the letter of the id, for the eye.
    private func assign(_ rows: [PlaceCandidate]) -> [Character: Text] {
        Dictionary(uniqueKeysWithValues: Places.assign(rows).map { ($0.description.first!, $1) })
    }

    @Test func `a task lies at its path, else at a slug of its title`() {
        #expect(
            assign([candidate("a", "home/Paint"), candidate("b", nil, title: "Buy milk!")])
                == ["a": "home/Paint", "b": "buy-milk"])
    }

    @Test(arguments: ["../x", "/x", ".x", "a\u{0}", "a\\b", "con", "a.", ""] as [Text])
    func `a bad path falls back to the slug`(path: Text) {
        #expect(assign([candidate("a", path)]) == ["a": "milk"])
    }

    @Test func `a slug that is a reserved name gets a hyphen and four characters of the id`() {
        #expect(assign([candidate("a", nil, title: "CON")]) == ["a": "con-aaaa"])
    }

    @Test func `the one created first has it, then the smaller id; the others get four characters, whatever the order`()
    {
        let rows = [
            candidate("c", "milk", minute: 5), candidate("b", "Milk", minute: 5), candidate("a", nil, minute: 7),
        ]
        for rows in [rows, rows.reversed()] {
            #expect(assign(rows) == ["b": "Milk", "c": "milk-cccc", "a": "milk-aaaa"])
        }
    }

    @Test func `creation is compared as instants`() {
        var early = candidate("b", "milk")
        early.createdAt = "2026-11-30T12:00:00.1+02:00"
        var late = candidate("a", "milk")
        late.createdAt = "2026-11-30T10:00:00.123456+00:00"
        #expect(assign([late, early]) == ["b": "milk", "a": "milk-aaaa"])
        late.createdAt = "infinity"
        #expect(assign([late, early]) == ["b": "milk", "a": "milk-aaaa"])
    }

    @Test func `four characters, eight, all`() {
        let taken = [candidate("a", "milk"), candidate("b", "milk", minute: 1)]
        #expect(
            assign(taken + [candidate("c", "milk-bbbb", minute: 9)]) == [
                "a": "milk", "b": "milk-bbbbbbbb", "c": "milk-bbbb",
            ])
        let all = Ids.of("b").text
        let more = taken + [candidate("c", "milk-bbbb"), candidate("d", "milk-BBBBBBBB")]
        #expect(assign(more)["b"] == "milk-" + all)
        #expect(assign(more + [candidate("e", "milk-" + all)])["b"] == "milk-" + all + "-2")
    }

    @Test func `a suffix never drives a task from its own path`() {
        let rows = [candidate("a", "milk"), candidate("b", "milk", minute: 1), candidate("c", "milk-bbbb", minute: 2)]
        #expect(assign(rows)["c"] == "milk-bbbb")
    }

    @Test func `a name too long for its suffix gives up its end`() {
        let long = Text(String(repeating: "\u{E9}", count: 126))
        let place = assign([candidate("a", long), candidate("b", long)])["b"]!
        #expect(place == Text(String(repeating: "\u{E9}", count: 123) + "-bbbb"))
        #expect(Names.isSafe(place))
    }

    @Test func `a task and the folder of its name are no clash`() {
        #expect(assign([candidate("a", "home"), candidate("b", "home/fence")]) == ["a": "home", "b": "home/fence"])
    }

    @Test func `twenty thousand tasks of one title are placed in a moment, each at its own`() {
        var random = SystemRandomNumberGenerator()
        let rows = (0..<20_000).map { number in
            PlaceCandidate(
                id: ItemID(using: &random), path: number % 2 == 0 ? nil : Text("notes/\(number)"), title: "Milk",
                createdAt: "2026-11-30T10:00:00+00:00")
        }
        let places = Places.assign(rows)
        #expect(Set(places.values.map(Names.foldedKey)).count == rows.count)
    }
}

@Suite struct SettledPlacesTests {
    private let now = Instant(seconds: 100_000)

    private func settle(
        _ wanted: [Character: Text], current: [Character: Text] = [:], occupied: [Text] = [],
        former: [FormerPlace] = [],
        ignored: @escaping (Text) -> Bool = { _ in false }
    ) -> (places: [Character: Text], notFollowed: [Character]) {
        func ids(_ places: [Character: Text]) -> [ItemID: Text] {
            Dictionary(uniqueKeysWithValues: places.map { (Ids.of($0), $1) })
        }
        let settled = Places.settle(
            PlaceGround(
                wanted: ids(wanted), current: ids(current), occupied: Set(occupied.map(Names.foldedKey)),
                former: former,
                ignored: ignored, now: now))
        return (
            Dictionary(uniqueKeysWithValues: settled.places.map { ($0.description.first!, $1) }),
            settled.notFollowed.map { $0.description.first! }.sorted()
        )
    }

    private func former(_ letter: Character, _ place: Text, minutesAgo: Int64, edited: Bool = true) -> FormerPlace {
        FormerPlace(
            place: place, id: Ids.of(letter), since: Instant(seconds: 100_000 - minutesAgo * 60), values: [:],
            wasEditedLately: edited)
    }

    @Test func `a file here that isn't on the server yet keeps its place until it is`() {
        #expect(settle(["a": "milk"], current: ["b": "Milk"]).places == ["a": "milk-aaaa", "b": "Milk"])
        // Then the server's places say who has it.
        #expect(
            settle(["a": "milk", "b": "milk-bbbb"], current: ["a": "milk-aaaa", "b": "milk"]).places
                == ["a": "milk", "b": "milk-bbbb"])
    }

    @Test func `a file that is no task of ours is never overwritten: the newcomer bears the suffix`() {
        #expect(settle(["a": "milk"], occupied: ["MILK"]).places == ["a": "milk-aaaa"])
        #expect(settle(["a": "milk"], occupied: ["MILK", "milk-aaaa"]).places == ["a": "milk-aaaaaaaa"])
    }

    @Test func `a task at its suffix place stays there, and takes the wanted place once it is free`() {
        #expect(settle(["a": "milk"], current: ["a": "milk-aaaa"], occupied: ["milk"]).places == ["a": "milk-aaaa"])
        #expect(settle(["a": "milk"], current: ["a": "milk-aaaa"]).places == ["a": "milk"])
    }

    @Test func `a task at its place keeps it beside a file that differs only by case`() {
        #expect(settle(["a": "milk"], current: ["a": "milk"], occupied: ["Milk"]).places == ["a": "milk"])
    }

    @Test func `a change of case or form is a move, and a task never collides with itself`() {
        #expect(settle(["a": "Caf\u{E9}"], current: ["a": "cafe\u{301}"]).places == ["a": "Caf\u{E9}"])
    }

    @Test func `swaps and chains are settled at once`() {
        #expect(
            settle(["a": "two", "b": "one"], current: ["a": "one", "b": "two"]).places == ["a": "two", "b": "one"])
        #expect(
            settle(["a": "two", "b": "three"], current: ["a": "one", "b": "two"]).places == ["a": "two", "b": "three"])
    }

    @Test func `a former path edited within the hour isn't given to another task until that hour is over`() {
        let held = [former("b", "milk", minutesAgo: 59)]
        #expect(settle(["a": "milk"], former: held).places == ["a": "milk-aaaa"])
        #expect(settle(["a": "milk"], current: ["a": "old"], former: held).places == ["a": "old"])
        #expect(settle(["b": "milk"], current: ["b": "old"], former: held).places == ["b": "milk"])
        #expect(settle(["a": "milk"], former: [former("b", "milk", minutesAgo: 60)]).places == ["a": "milk"])
        #expect(
            settle(["a": "milk"], former: [former("b", "milk", minutesAgo: 1, edited: false)]).places == ["a": "milk"])
    }

    @Test func `who stays where it is isn't driven away by one who wants that place`() {
        let held = [former("c", "milk", minutesAgo: 5)]
        #expect(
            settle(["a": "milk", "b": "old"], current: ["a": "old"], former: held).places == [
                "a": "old", "b": "old-bbbb",
            ])
    }

    @Test func `a place under an ignore rule isn't taken: a file here stays, a new one isn't laid down, both are told`()
    {
        let result = settle(["a": "drafts/one", "b": "drafts/two", "c": "three"], current: ["a": "one"]) {
            $0.hasPrefix("drafts/")
        }
        #expect(result.places == ["a": "one", "c": "three"])
        #expect(result.notFollowed == ["a", "b"])
    }

    @Test func `a suffix place under an ignore rule isn't taken either`() {
        let result = settle(["a": "milk", "b": "tea"], current: ["b": "old"], occupied: ["milk", "tea"]) {
            $0.string.contains("-")
        }
        #expect(result.places == ["b": "old"])
        #expect(result.notFollowed == ["a", "b"])
    }

    @Test func `no two tasks are settled at one place, whatever stands in the way`() {
        var random = SplitMix(seed: 7)
        let names: [Text] = ["milk", "Milk", "tea", "milk-aaaa", "old", "x/tea"]
        for _ in 0..<2000 {
            let rows = "abcdef0".map { letter in
                PlaceCandidate(
                    id: Ids.of(letter), path: names.randomElement(using: &random), title: "t",
                    createdAt: "2026-11-30T10:00:00Z")
            }
            let wanted = Places.assign(rows)
            let here = names.shuffled(using: &random).prefix(3).reduce(into: [Text: Text]()) {
                $0[Names.foldedKey($1)] = $1
            }
            let current = Dictionary(
                zip(rows.map(\.id).shuffled(using: &random), here.values.sorted()), uniquingKeysWith: { $1 })
            let settled = Places.settle(
                PlaceGround(
                    wanted: wanted, current: current, former: [former("b", "tea", minutesAgo: 3)],
                    ignored: { $0 == "old" }, now: now))
            #expect(Set(settled.places.values.map(Names.foldedKey)).count == settled.places.count)
        }
    }
}

/// A small generator with a seed (SplitMix64), so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
