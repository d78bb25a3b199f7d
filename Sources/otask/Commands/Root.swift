extension Command {
    /// `otask` itself.
    static let root = Command(
        name: "otask", summary: "keep a folder of Markdown tasks in step with a Supabase project",
        details: [
            "Edit the files with any editor; new, renamed and removed files are new, renamed and deleted tasks. "
                + "\"otask sync\" brings both sides together. Everything but that works without a network."
        ],
        subcommands: [
            initialize, login, logout, whoami, config, server, serve, status, pull, push, sync, changes, diff, resolve,
            offline, list, show, new, done, undone, delete, log, undo, redo, restore, why, help, completion, version,
        ])
}
