import Libraries
import Model
import Testing

@testable import Workspace

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct IgnoreRulesTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(arguments: [
        ".hidden.md", "a.md~", ".#a.md", "#a.md#", "a.md.swp", ".a.md.swo", "4913", "a.tmp", "a.jpg.part",
        "a.crdownload",
        "~$a.docx", ".~lock.a.md#", "Thumbs.db", "desktop.ini", ".otask-tmp-1a", ".trash",
    ])
    func `some names are ignored always`(_ name: String) {
        #expect(IgnoreRules.isIgnoredName(Text(name)))
        #expect(IgnoreRules(root: scratch.root).ignores("tasks/" + Text(name)))
        #expect(IgnoreRules(root: scratch.root).ignores("tasks/" + Text(name) + "/a.md"))
    }

    @Test(arguments: ["a.md", "#1.md", "a.md#", "4913.md", "tmp", "part.md", "a~b.md", "~a.md", "$a.md"])
    func `others are not`(_ name: String) {
        #expect(!IgnoreRules.isIgnoredName(Text(name)))
        #expect(!IgnoreRules(root: scratch.root).ignores("tasks/" + Text(name)))
    }

    struct Rule: Sendable {
        var rules: String
        var path: Text
        var isFolder = false
        var isIgnored: Bool
    }

    @Test(arguments: [
        Rule(rules: "drafts/", path: "tasks/drafts", isFolder: true, isIgnored: true),
        Rule(rules: "drafts/", path: "tasks/drafts", isIgnored: false),
        Rule(rules: "drafts/", path: "tasks/drafts/a.md", isIgnored: true),
        Rule(rules: "/tasks/a.md", path: "tasks/a.md", isIgnored: true),
        Rule(rules: "/a.md", path: "tasks/a.md", isIgnored: false),
        Rule(rules: "*.md\n!keep.md", path: "tasks/keep.md", isIgnored: false),
        Rule(rules: "*.md\n!keep.md", path: "tasks/other.md", isIgnored: true),
        Rule(rules: "drafts/\n!drafts/keep.md", path: "tasks/drafts/keep.md", isIgnored: true),
        Rule(rules: "tasks/**/old.md", path: "tasks/x/y/old.md", isIgnored: true),
        Rule(rules: "!.hidden.md", path: "tasks/.hidden.md", isIgnored: true),
        Rule(rules: "# nothing\n\n  \n", path: "tasks/a.md", isIgnored: false),
        Rule(rules: "\u{FEFF}a.md\r\nb.md\r\n", path: "tasks/a.md", isIgnored: true),
        Rule(rules: "\u{FEFF}a.md\r\nb.md\r\n", path: "tasks/b.md", isIgnored: true),
    ])
    func `.otaskignore has gitignore's syntax`(_ rule: Rule) throws {
        try scratch.write(".otaskignore", rule.rules)
        let rules = IgnoreRules(root: scratch.root)
        #expect(rules.problem == nil)
        #expect(rules.ignores(rule.path, isFolder: rule.isFolder) == rule.isIgnored)
    }

    @Test func `a file of rules that can't be read is told`() throws {
        try scratch.write(".otaskignore", "a.md")
        try scratch.root.setMode(".otaskignore", 0)
        #expect(withoutPrivileges { IgnoreRules(root: scratch.root).problem?.kind } == .unreadable)
        try scratch.root.unlink(".otaskignore")
        try scratch.root.makeSymlink(".otaskignore", to: "tasks")
        #expect(IgnoreRules(root: scratch.root).problem?.kind == .unreadable)
        try scratch.root.unlink(".otaskignore")
        #expect(IgnoreRules(root: scratch.root).problem == nil)
    }

    @Test func `the person's global git ignore has no say`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            try scratch.write("config/git/ignore", "global.md\n")
            try scratch.write(".otaskignore", "own.md\n")
            setenv("XDG_CONFIG_HOME", scratch.path + "/config", 1)
            let rules = IgnoreRules(root: scratch.root)
            #expect(rules.ignores("tasks/own.md"))
            #expect(!rules.ignores("tasks/global.md"))
        }
    }
}
