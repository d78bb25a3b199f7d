import Libraries
import Model

/// A row of `auth.users`. Without an email it is an anonymous account.
struct User {
    let id: String
    let email: String?
    let salt: [UInt8]?
    /// What `Password.derive` made of it.
    let password: [UInt8]?
    /// The id of the account's identity with the provider `email`.
    let identity: String?
    let metadata: [Text: JSON]
    let createdAt: Int64
    let updatedAt: Int64
    var lastSignInAt: Int64

    var isAnonymous: Bool { email == nil }

    func insert(into database: SQLite) throws {
        try database.run(
            "insert into users values (?, ?, ?, ?, ?, ?, ?, ?, ?)", .text(id), SQLValue(email), SQLValue(salt),
            SQLValue(password), SQLValue(identity), .text(JSON.object(metadata).serializedText.string),
            .integer(createdAt), .integer(updatedAt), .integer(lastSignInAt))
    }

    /// The account whose `column` (`id` or `email`) has this value.
    static func find(_ column: String, _ value: String, in store: Store) throws -> User? {
        let sql = """
            select id, email, salt, password, identity_id, metadata, created_at, updated_at, last_sign_in_at
            from users where \(column) = ?
            """
        return try store.database.query(sql, .text(value)).first.map { row in
            User(
                id: row[0].text!, email: row[1].text, salt: row[2].blob, password: row[3].blob, identity: row[4].text,
                metadata: JSON(kept: row[5].text!).object ?? [:], createdAt: row[6].integer!,
                updatedAt: row[7].integer!, lastSignInAt: row[8].integer!)
        }
    }

    func accepts(password text: String) -> Bool {
        guard let salt, let password else { return false }
        return Password.derive(text, salt: salt) == password
    }

    /// The account as GoTrue shows it.
    var json: JSON {
        func time(_ moment: Int64) -> JSON { .string(Text(Timestamp.auth(moment))) }
        func text(_ text: String?) -> JSON { .string(Text(text ?? "")) }
        var members: [Text: JSON] = [
            "id": text(id), "aud": "authenticated", "role": "authenticated", "email": text(email), "phone": "",
            "last_sign_in_at": time(lastSignInAt), "app_metadata": appMetadata, "user_metadata": userMetadata,
            "identities": [], "created_at": time(createdAt), "updated_at": time(updatedAt),
            "is_anonymous": .bool(isAnonymous),
        ]
        if !isAnonymous {
            members["email_confirmed_at"] = time(createdAt)
            members["confirmed_at"] = time(createdAt)
            members["identities"] = [
                [
                    "identity_id": text(identity), "id": text(id), "user_id": text(id),
                    "identity_data": userMetadata, "provider": "email", "last_sign_in_at": time(createdAt),
                    "created_at": time(createdAt), "updated_at": time(createdAt), "email": text(email),
                ]
            ]
        }
        return .object(members)
    }

    var appMetadata: JSON { isAnonymous ? [:] : ["provider": "email", "providers": ["email"]] }

    var userMetadata: JSON {
        guard let email else { return .object(metadata) }
        let known: [Text: JSON] = [
            "email": .string(Text(email)), "email_verified": true, "phone_verified": false, "sub": .string(Text(id)),
        ]
        return .object(metadata.merging(known) { $1 })
    }
}

enum Password {
    /// What is kept of a password. The accounts are throw-away ones of this machine: few rounds keep tests fast.
    static func derive(_ password: String, salt: [UInt8]) -> [UInt8] {
        pbkdf2SHA256(password: password, salt: salt, rounds: 10_000)
    }
}
