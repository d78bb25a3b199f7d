extension Journal {
    /// `otsk`: tells a journal from any other SQLite file.
    static let applicationID: Int64 = 0x6F74_736B

    /// Step `n` leads from schema version `n` to `n + 1`. A released step never changes; a new one is added.
    ///
    /// Ids are texts in lower case, digests blobs, times nanoseconds since 1970, inodes 64 bits with sign, values JSON.
    /// The two `_outline` indexes hold all that a run reads of every task, so that no JSON is touched for it.
    static let schema: [String] = [
        """
        create table meta (key text primary key, value) without rowid;
        create table facts (key text primary key, value text not null) without rowid;

        create table remote (
            kind text not null, id text not null, version integer not null, seq integer not null,
            deleted integer not null, readable integer not null, row text not null, primary key (kind, id));
        create index remote_outline on remote (kind, id, version, seq, deleted, readable);

        create table known (
            id text primary key, place text, is_moved integer not null, inode integer, birth integer, clean blob,
            modified integer, has_id_line integer not null,
            has_base integer not null, settled integer not null, frozen text, base text, unagreed text,
            before_id text, before_id_since integer, before_pull text, before_pull_since integer);
        create index known_outline on known
            (id, place, is_moved, inode, birth, clean, modified, has_id_line, has_base, settled, frozen);

        create table files (
            path text primary key, size integer not null, modified integer not null, changed integer not null,
            inode integer not null, birth integer, recorded integer not null, digest blob not null) without rowid;

        create table conflicts (
            id text primary key, fields text not null, raised text not null, shown text, since integer not null);
        create table refusals (
            id text not null, field text not null, fingerprint blob not null, code text not null,
            message text not null, since integer not null, primary key (id, field)) without rowid;
        create table later (
            id text primary key, tries integer not null, next integer not null, fingerprint blob not null,
            message text not null) without rowid;
        create table in_flight (
            change_id text primary key, id text not null, place text, inode integer, birth integer, digest blob,
            change text not null, sent integer not null);
        create table notices (
            time integer not null, path text not null, text text not null, undo text,
            shown integer not null default 0, primary key (time, path, text));
        create table former_places (
            place text primary key, id text not null, since integer not null, edited_lately integer not null,
            "values" text not null);

        create table pending_writes (
            temporary text primary key, kind text not null, target text not null, digest blob, expected blob,
            item text);
        create table moves (
            "from" text primary key, id text not null, temporary text not null, "to" text not null,
            inode integer not null, birth integer, new_id text);
        create table displaced (
            path text primary key, target text not null, digest blob not null, at integer not null, id text,
            "values" text);

        create table marks (
            kind text not null, id text not null, since integer not null, primary key (kind, id)) without rowid;
        create table kept_here (place text primary key, digest blob not null) without rowid;
        create table recent_deletions (at integer not null, kind text not null, count integer not null);
        """,
        """
        alter table known add column done integer not null default 0;
        update known set done = coalesce(json_extract(base, '$.done'), 0) where base is not null;
        drop index known_outline;
        create index known_outline on known (id, place, inode, birth, clean, modified, has_id_line, settled, done);

        create table unrecorded (path text primary key, own integer not null, old_id text, new_id text) without rowid;
        """,
        // What `settledFiles` reads, in one piece. It is made of `files` and `known`, and gone with any change of them.
        """
        create index remote_unreadable on remote (id) where kind = 'tasks' and readable = 0;
        create table outline (ids_in_files integer primary key, files blob not null, others blob not null);
        create trigger outline_files_insert after insert on files begin delete from outline; end;
        create trigger outline_files_update after update on files begin delete from outline; end;
        create trigger outline_files_delete after delete on files begin delete from outline; end;
        create trigger outline_known_insert after insert on known begin delete from outline; end;
        create trigger outline_known_update
            after update of id, place, clean, inode, birth, modified, has_id_line, settled, done on known
            begin delete from outline; end;
        create trigger outline_known_delete after delete on known begin delete from outline; end;
        """,
    ]
}
