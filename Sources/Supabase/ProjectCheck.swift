import Model

/// What can be known of a project without a session.
public struct ProjectCheck: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// It answers, and what `otask` needs of its database is there.
        case ready
        /// It answers; the migration was not run there.
        case schemaMissing
        /// Why it can't be told, for people.
        case unreachable(String)
        /// It answers, and takes the key for none of its own; its words.
        case keyRefused(String)
        /// What answers is no Supabase project.
        case noProject(String)
    }

    public var state: State
    /// Whether it takes anonymous users; nil where it didn't say.
    public var allowsAnonymous: Bool?

    /// Asks Auth for its settings, and the database for a function that only a signed-in user may call: the refusal says
    /// that it is there. Two requests, neither repeated.
    public static func run(_ project: Project, transport: any Transport, now: Instant) async -> ProjectCheck {
        let exchange = Exchange(project: project, transport: transport)
        do throws(TransportError) {
            let settings = try await exchange.send("GET", "/auth/v1/settings")
            guard settings.isSuccess else { return ProjectCheck(state: state(of: settings, now: now)) }
            guard let json = try? JSON(parsing: settings.body), let external = json["external"]?.object else {
                return ProjectCheck(state: .noProject(settings.bodyInWords))
            }
            let answer = try await exchange.send("POST", "/rest/v1/rpc/otask_schema_version", body: [:])
            let isThere = answer.isSuccess || ErrorBody(answer).code == "42501"
            return ProjectCheck(
                state: isThere ? .ready : state(of: answer, now: now),
                allowsAnonymous: external["anonymous_users"]?.bool)
        } catch {
            if case .garbled(let reason) = error { return ProjectCheck(state: .noProject(reason)) }
            return ProjectCheck(state: .unreachable(error.description))
        }
    }

    private static func state(of answer: HTTPResponse, now: Instant) -> State {
        if answer.status == 401 { return .keyRefused(ErrorBody(answer).message.string) }
        switch Failure(answer, now: now) {
        case .final(.schemaMissing): return .schemaMissing
        case .passing(_, let message, _), .timeout(_, _, let message): return .unreachable(message.string)
        case .final(.unreachable(let reason)): return .unreachable(reason)
        case .final, .session: return .noProject(answer.bodyInWords)
        }
    }
}
