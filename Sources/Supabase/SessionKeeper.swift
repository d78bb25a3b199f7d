import Libraries
import Model

/// The session of one account at one project: kept, refreshed, ended.
///
/// It has no state: the file is the truth, read before each use, so that all processes of an account go on with what
/// one of them refreshed. A file changes only under the account's lock.
public struct SessionKeeper: Sendable {
    /// A token that lasts no longer than this many seconds is refreshed before it is used.
    static let margin: Int64 = 60
    /// For how many seconds another process may hold the lock. A refresh takes its own tries' time at most.
    private static let patience = 120.0

    public let account: ItemID
    private let project: Project
    private let store: SessionStore
    private let auth: Auth
    private let timing: Timing

    public init(account: ItemID, project: Project, store: SessionStore, auth: Auth, timing: Timing) {
        self.account = account
        self.project = project
        self.store = store
        self.auth = auth
        self.timing = timing
    }

    /// A session that lasts a minute more, refreshed if need be.
    public func current() async throws(ServiceError) -> Session {
        let session = try read()
        return session.lasts(Self.margin, from: timing.now()) ? session : try await renewed(after: session)
    }

    /// A session with another access token than that of `rejected`, which ran out or which the server took no more.
    public func renewed(after rejected: Session) async throws(ServiceError) -> Session {
        try await underLock { () async throws(ServiceError) in
            let session = try read()
            // Someone else was here while this process waited for the lock.
            // Tokens of one second may be equal; a refresh token is never given twice.
            if session.accessToken != rejected.accessToken || session.refreshToken != rejected.refreshToken,
                session.lasts(Self.margin, from: timing.now())
            {
                return session
            }
            return try await refresh(session)
        }
    }

    /// Keeps a session that a sign-in gave.
    public func keep(_ session: Session) async throws(ServiceError) {
        guard session.userID == account, session.speaksForItsUser else { throw .otherAccount }
        try await underLock { () async throws(ServiceError) in try save(session) }
    }

    /// Signs out: on the server as far as it answers, and here in any case.
    public func end(everywhere: Bool) async throws(ServiceError) {
        try await underLock { () async throws(ServiceError) in
            if var session = try? read() {
                // An expired token couldn't end the session on the server.
                if !session.lasts(Self.margin, from: timing.now()), let fresh = try? await auth.refresh(session) {
                    session = fresh
                }
                try? await auth.signOut(session, everywhere: everywhere)
            }
            try forget()
        }
    }

    /// Forgets the session here: the server has no such account any more.
    func abandon() async { try? await underLock { () async throws(ServiceError) in try forget() } }

    /// Refreshes `session`, which is what the file holds. Under the lock.
    private func refresh(_ session: Session) async throws(ServiceError) -> Session {
        let fresh: Session
        do throws(AuthError) {
            fresh = try await auth.refresh(session)
        } catch {
            switch error {
            case .unreachable(let reason): throw .unreachable(reason)
            case .passing(let code, let message, _): throw .passing(code: code, message: message)
            case .garbled(let reason): throw .garbled(reason)
            case .refused: throw .signedOut(untilLogin: "the session can't be refreshed: \(error)")
            case .sessionEnded:
                // Whoever changed the file without the lock may have left a session that is good.
                let now = try read()
                if now.refreshToken != session.refreshToken { return now }
                try forget()
                throw .signedOut(untilLogin: error.description)
            }
        }
        guard fresh.userID == account else { throw .otherAccount }
        try save(fresh)
        return fresh
    }

    private func read() throws(ServiceError) -> Session {
        let session: Session?
        do throws(SessionStoreError) { session = try store.session(of: account, at: project) } catch {
            throw .sessionFile(error.description)
        }
        guard let session else { throw .signedOut(untilLogin: "there is no session of this account") }
        guard session.speaksForItsUser else { throw .otherAccount }
        return session
    }

    private func save(_ session: Session) throws(ServiceError) {
        do throws(SessionStoreError) { try store.save(session, at: project) } catch {
            throw .sessionFile(error.description)
        }
    }

    private func forget() throws(ServiceError) {
        do throws(SessionStoreError) { try store.remove(account, at: project) } catch {
            throw .sessionFile(error.description)
        }
    }

    /// Runs `body` as the only one, in this process or another, who may change the account's session.
    ///
    /// The lock is asked for again and again instead of waited for: a blocked thread might be the one that the
    /// holder's next step needs.
    private func underLock<Value: Sendable>(
        _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let start = timing.now()
        while true {
            let taken: FileLock?
            do throws(SessionStoreError) { taken = try store.lock(account, at: project) } catch {
                throw .sessionFile(error.description)
            }
            if let taken {
                defer { taken.release() }
                return try await body()
            }
            guard timing.now() - start < Self.patience, !Task.isCancelled else {
                throw .unreachable("another process is busy with the session")
            }
            await timing.wait(0.02 + 0.08 * timing.random())
        }
    }
}
