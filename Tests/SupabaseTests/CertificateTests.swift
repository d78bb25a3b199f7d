import FoundationEssentials
import Libraries
import Model
import Testing

@testable import Supabase

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A directory of certificates made for one test, and servers of `openssl` that show them.
private final class Certificates {
    let directory = FileManager.default.temporaryDirectory.path + "/otask-tls-\(ItemID.random())"

    /// An authority `ca.pem`, and certificates for this machine: `known.pem` of it, `own.pem` by itself, `old.pem` of
    /// yesterday, `other.pem` for another host.
    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let status = try Console.run(
            editor: """
                cd '\(directory)' && exec >log 2>&1 && set -e
                key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
                here="subjectAltName=DNS:localhost,IP:127.0.0.1"
                openssl req -x509 $key -keyout ca.key -out ca.pem -subj '/CN=Test authority' -days 2
                openssl req -x509 $key -keyout own.key -out own.pem -subj /CN=localhost -days 2 -addext "$here"
                echo "$here" >here.ext
                echo "subjectAltName=DNS:other.example" >other.ext
                sign() {
                    openssl req -new $key -keyout $1.key -out $1.csr -subj /CN=$1
                    openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $1.pem -days $2 -extfile $3
                }
                sign known 2 here.ext
                sign old -1 here.ext
                sign other 2 other.ext
                :
                """, path: "")
        try #require(status == 0, "openssl made no certificates")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func server(_ name: String) throws -> TLSServer {
        try TLSServer(certificate: "\(directory)/\(name).pem", key: "\(directory)/\(name).key")
    }

    /// Trusts this one besides those of the system.
    func trusting(_ name: String) -> [String: String] { ["SSL_CERT_FILE": "\(directory)/\(name).pem"] }
}

/// `openssl s_server`, which answers every request with a page. It ends with the value.
private final class TLSServer {
    let port: Int
    private let process: ChildProcess

    init(certificate: String, key: String) throws {
        var pipe: [Int32] = [0, 0]
        try #require(makePipe(&pipe) == 0)
        defer { close(pipe[0]) }
        let nothing = open("/dev/null", O_RDWR)
        defer { close(nothing) }
        let words = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
        ]
        process = try ChildProcess(words, input: nothing, output: pipe[1], messages: nothing)
        close(pipe[1])
        // "ACCEPT 127.0.0.1:40001", once it listens.
        var said = ""
        var buffer = [UInt8](repeating: 0, count: 256)
        while !said.contains("ACCEPT ") || !said.hasSuffix("\n") {
            let count = read(pipe[0], &buffer, buffer.count)
            guard count > 0 else { break }
            said += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let number = said.firstRange(of: "127.0.0.1:").flatMap { Int(said[$0.upperBound...].prefix { $0.isNumber }) }
        port = number ?? 0
        try #require(port != 0, "openssl doesn't listen: \(said)")
    }

    deinit {
        kill(process.id, SIGKILL)
        _ = try? process.wait()
    }
}

/// Certificates that aren't to be trusted: nothing is sent, and a person is told what is wrong and what helps.
struct CertificateTests {
    private static func outcome(_ url: String, _ environment: [String: String]) async throws -> Result<
        HTTPResponse, TransportError
    > {
        let transport = try HTTPTransportTests.transport(url, environment: environment)
        do throws(TransportError) {
            return .success(try await transport.send(HTTPRequest(method: "GET", target: "/")))
        } catch {
            return .failure(error)
        }
    }

    @Test func `each kind of distrust is told in its own words, and what is trusted is asked`() async throws {
        let certificates = try Certificates()
        let known = try certificates.server("known")
        let here = "https://127.0.0.1:\(known.port)"
        #expect(HTTPTransportTests.isStatus(200)(try await Self.outcome(here, certificates.trusting("ca"))))

        let own = try certificates.server("own")
        let old = try certificates.server("old")
        let other = try certificates.server("other")
        for (server, environment, words) in [
            (known, [:], "its certificate comes from an authority that this machine doesn't know, so nothing was sent"),
            (own, [:], "its certificate is signed by itself, not by an authority, so nothing was sent; if the server"),
            (old, certificates.trusting("ca"), "its certificate has expired, so nothing was sent"),
            (other, certificates.trusting("ca"), "its certificate belongs to another host, so nothing was sent"),
            (known, ["SSL_CERT_FILE": "/nowhere.pem"], "the file of certificates in SSL_CERT_FILE can't be used"),
        ] as [(TLSServer, [String: String], String)] {
            let outcome = try await Self.outcome("https://127.0.0.1:\(server.port)", environment)
            guard case .failure(.unreachable(let reason)) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(reason.hasPrefix(words))
        }

        // A certificate by itself is trusted where its file is named.
        let ownHere = "https://127.0.0.1:\(own.port)"
        #expect(HTTPTransportTests.isStatus(200)(try await Self.outcome(ownHere, certificates.trusting("own"))))
        // And plain HTTP where TLS is spoken is trouble, not an answer.
        if case .success(let answer) = try await Self.outcome("http://127.0.0.1:\(known.port)", [:]) {
            Issue.record("\(answer)")
        }
    }
}

// Inside the type above, a `pipe` is its own.
private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
