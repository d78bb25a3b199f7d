import Libraries
import LocalSupabase
import Model

extension Option {
    fileprivate static let port = Option(
        name: "port", value: .number("N", 0...65_535), help: "the port; 0 takes a free one (54321)")
    fileprivate static let data = Option(
        name: "data", value: .directory("DIR"), help: "where the server keeps its data, else they are gone when it ends"
    )
}

extension Command {
    static let serve = Command(
        name: "serve", summary: "run the embedded server over HTTP, for trying things out",
        details: [
            "It answers like a Supabase project on 127.0.0.1, to this machine alone and without TLS. Its first lines name "
                + "its address, its publishable key and its demo account. Ctrl-C ends it."
        ],
        options: [.port, .data, .json, .verbose],
        examples: [
            .init(
                line: "otask serve --data server",
                meaning: "then: otask init laptop --demo --server http://127.0.0.1:54321"),
            .init(
                line: "otask serve --port 0 --json",
                meaning: "for a script, which reads the address from the first line"),
        ],
        action: { try await $0.serve() })
}

extension Invocation {
    fileprivate func serve() async throws -> ExitCode {
        let directory = arguments.value(.data).map { absolute($0, from: self.directory) }
        let server: LocalSupabase
        do {
            server = try LocalSupabase(directory: directory, clock: environment.clock)
        } catch {
            throw Failure(.cantCreate, "the server's data can't be used: \(printable("\(error)"))")
        }
        let port = arguments.number(.port) ?? 54_321
        let listener: Listener
        do throws(SystemError) {
            let log = requestLog
            listener = try Listener(server: server, port: port) { request, response in
                let path = request.target.prefix { $0 != "?" }
                log?("\(request.method) \(path) \(response.map { String($0.status) } ?? "cut")")
            }
        } catch {
            if error.isInUse {
                throw Failure(
                    .failed, "port \(port) is in use by another program",
                    hints: ["--port N takes another, --port 0 a free one"])
            }
            throw Failure(.failed, printable(error.description))
        }
        introduce(server, listener.url, directory)
        await environment.untilAskedToEnd()
        await listener.stop()
        say("ended")
        return .done
    }

    private func introduce(_ server: LocalSupabase, _ url: String, _ directory: String?) {
        if wantsJSON {
            let json: JSON = [
                "format": 1, "url": .string(Text(url)), "publishable_key": .string(Text(server.publishableKey)),
                "data": directory.map { .string(Text($0)) } ?? .null,
                "demo": [
                    "email": .string(Text(server.demo.email)), "password": .string(Text(server.demo.password)),
                ],
            ]
            environment.output(json.serializedText.string + "\n")
            return
        }
        print(
            """
            URL              \(url)
            publishable key  \(server.publishableKey)
            demo account     \(server.demo.email), password \(server.demo.password)
            data             \(directory.map { printable($0) } ?? "in memory, gone when this ends")
            """)
        say("\nA workspace of the demo account:\n  otask init DIR --demo --server \(url)\n\nCtrl-C ends the server.")
    }
}
