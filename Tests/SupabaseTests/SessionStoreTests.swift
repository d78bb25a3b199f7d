import FoundationEssentials
import Model
import Testing

@testable import Supabase

struct SessionStoreTests {
    private func mode(_ path: String) throws -> Int {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return try #require(value as? Int)
    }

    @Test func `a session's file has mode 0600, its directory 0700, and nothing else lies there`() async throws {
        try await Scene.with([]) { scene in
            let directory = scene.directory.string
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.count == 1)
            #expect(try mode(directory) == 0o700)
            for name in names { #expect(try mode(directory + "/" + name) == 0o600) }
        }
    }

    @Test func `a session is kept for each project and account`() async throws {
        try await Scene.with([]) { scene in
            let elsewhere = try Project(url: "https://abcd.supabase.co:8443", publishableKey: "sb_publishable_key")
            let second = scene.session("second", lasting: 10, user: Scene.other)
            try scene.store.save(second, at: scene.project)
            #expect(try scene.store.accounts(at: scene.project) == [Scene.user, Scene.other])
            #expect(try scene.store.accounts(at: elsewhere).isEmpty)
            #expect(try scene.store.session(of: Scene.user, at: elsewhere) == nil)
            #expect(try scene.store.session(of: Scene.other, at: scene.project) == second)
            try scene.store.remove(Scene.other, at: scene.project)
            #expect(try scene.store.accounts(at: scene.project) == [Scene.user])
        }
    }

    @Test func `a file that isn't a session counts as none`() async throws {
        try await Scene.with([]) { scene in
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: scene.directory.string).first)
            for text in ["", "{", "[]", #"{"format":1}"#] {
                try text.write(toFile: scene.directory.string + "/" + name, atomically: false, encoding: .utf8)
                #expect(try scene.store.session(of: Scene.user, at: scene.project) == nil)
            }
        }
    }

    @Test func `a symbolic link in the place of a session is not followed`() async throws {
        try await Scene.with([]) { scene in
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: scene.directory.string).first)
            let path = scene.directory.string + "/" + name
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".moved")
            #expect(throws: SessionStoreError.self) { try scene.store.session(of: Scene.user, at: scene.project) }
            guard case .sessionFile? = await scene.sessionFailure() else {
                Issue.record("it isn't told as a trouble with the file")
                return
            }
        }
    }

    @Test func `what a crash left of a write is no session, and goes with the next write`() async throws {
        try await Scene.with([]) { scene in
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: scene.directory.string).first)
            let left = scene.directory.string + "/" + name + ".new"
            try "half".write(toFile: left, atomically: false, encoding: .utf8)
            #expect(try scene.store.accounts(at: scene.project) == [Scene.user])
            try scene.store.save(scene.session("next", lasting: 10), at: scene.project)
            #expect(scene.kept == "refresh-next")
            #expect(!FileManager.default.fileExists(atPath: left))
        }
    }

    @Test(
        arguments: [
            (["XDG_STATE_HOME": "/state", "HOME": "/home/ada"], "/state/otask/sessions"),
            (["HOME": "/home/ada"], "/home/ada/.local/state/otask/sessions"),
            (["XDG_STATE_HOME": "state", "HOME": "/home/ada"], "/home/ada/.local/state/otask/sessions"),
            (["XDG_STATE_HOME": "", "HOME": ""], nil), ([:], nil),
        ] as [([String: String], Text?)])
    func `sessions lie in the person's state directory`(environment: [String: String], directory: Text?) {
        #expect(SessionStore.directory(environment: environment) == directory)
    }
}
