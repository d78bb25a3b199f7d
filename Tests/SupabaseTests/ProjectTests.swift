import Model
import Testing

@testable import Supabase

struct ProjectTests {
    static let publishable: Text = "sb_publishable_0123456789abcdefghijkl_01234567"

    @Test(arguments: [
        ("https://abcd.supabase.co", "https://abcd.supabase.co"),
        ("https://abcd.supabase.co//", "https://abcd.supabase.co"),
        ("http://127.0.0.1:54321", "http://127.0.0.1:54321"), ("https://example.org/base/", "https://example.org/base"),
    ])
    func `an address is taken without the slash at its end`(url: String, kept: String) throws {
        #expect(try Project(url: Text(url), publishableKey: Self.publishable).url == Text(kept))
    }

    @Test(arguments: [
        "", "abcd.supabase.co", "ftp://abcd", "https://", "https:///x", "https://user:pass@host", "https://host?x=1",
        "https://host#x", "https://ho st", "https://host\nx",
    ])
    func `what is no address of a project is refused`(url: String) {
        #expect(throws: ProjectError.badURL(Text(url == "https://" ? "https:" : url))) {
            try Project(url: Text(url), publishableKey: Self.publishable)
        }
    }

    @Test func `a secret key is refused, in both its forms, and the error doesn't show it`() {
        for key: Text in ["sb_secret_abcdefgh", Scene.token("x", role: "service_role")] {
            #expect(throws: ProjectError.secretKey) {
                try Project(url: "https://abcd.supabase.co", publishableKey: key)
            }
            #expect(!"\(ProjectError.secretKey)".contains(key.string))
        }
    }

    @Test func `a publishable key and a legacy anon key are taken`() throws {
        for key in [Self.publishable, Scene.token("x", role: "anon")] {
            #expect(try Project(url: "https://abcd.supabase.co", publishableKey: key).publishableKey == key)
        }
    }

    @Test(arguments: ["", "with blank", "line\nend"])
    func `an empty or broken key is refused`(key: String) {
        #expect(throws: ProjectError.badKey) {
            try Project(url: "https://abcd.supabase.co", publishableKey: Text(key))
        }
    }
}

struct AccessTokenTests {
    @Test(arguments: ["", "a.b", "a.b.c.d", "a.!!!.c", "a.AAAAA.c", "..", "a.bnVsbA.c"])
    func `what is no token has no claims`(text: String) { #expect(AccessToken(Text(text)) == nil) }

    @Test(arguments: 0..<70)
    func `base64url is read at every length`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ 251) }
        #expect(AccessToken.decodeBase64URL(Array(Scene.base64URL(bytes).utf8)) == bytes)
    }
}
