// swift-tools-version: 6.0
import PackageDescription

/// One target a room; a target imports only what stands below it here.
let package = Package(
    name: "otask",
    platforms: [.macOS(.v15)],
    targets: [
        .executableTarget(
            name: "otask",
            dependencies: [
                "Sync", "LocalSupabase", "Supabase", "History", "Workspace", "Journal", "Reconcile", "Model",
                "Libraries",
            ]),
        .target(name: "LocalSupabase", dependencies: ["Model", "Libraries"]),
        .target(
            name: "Sync",
            dependencies: ["Supabase", "History", "Journal", "Workspace", "Reconcile", "Model", "Libraries"]),
        .target(name: "Supabase", dependencies: ["Model", "Libraries"]),
        .target(name: "History", dependencies: ["Workspace", "Model", "Libraries"]),
        .target(name: "Journal", dependencies: ["Workspace", "Reconcile", "Model", "Libraries"]),
        .target(name: "Workspace", dependencies: ["Reconcile", "Model", "Libraries"]),
        .target(name: "Reconcile", dependencies: ["Model", "Libraries"]),
        .target(name: "Model", dependencies: ["Libraries"]),
        .target(
            name: "Libraries",
            dependencies: [
                "CYAML", "CCmark", "CGit2", "CZlib", "CSQLite", "CUTF8Proc", "CCrypto", "CCurl", "CSystem", "CTemplate",
            ]),

        .target(
            name: "CCurl", path: "Sources/CLibraries/CCurl",
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(
            name: "CGit2", path: "Sources/CLibraries/CGit2",
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(name: "CSystem", path: "Sources/CLibraries/CSystem"),
        .target(name: "CTemplate", path: "Sources/CLibraries/CTemplate"),
        .systemLibrary(
            name: "CYAML", path: "Sources/CLibraries/CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(
            name: "CCmark", path: "Sources/CLibraries/CCmark", pkgConfig: "libcmark",
            providers: [.apt(["libcmark-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/CLibraries/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/CLibraries/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CUTF8Proc", path: "Sources/CLibraries/CUTF8Proc",
            providers: [.apt(["libutf8proc-dev"])]),
        .systemLibrary(
            name: "CCrypto", path: "Sources/CLibraries/CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),

        // Not in the program: it needs no libpq.
        .target(name: "PostgreSQL", dependencies: ["CPostgreSQL"]),
        .systemLibrary(
            name: "CPostgreSQL", path: "Sources/CLibraries/CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]),
        .target(name: "RequestLists", dependencies: ["Model"], path: "Tests/RequestLists"),

        .testTarget(name: "LibrariesTests", dependencies: ["Libraries"]),
        .testTarget(name: "ModelTests", dependencies: ["Model"]),
        .testTarget(name: "ReconcileTests", dependencies: ["Reconcile", "Model"]),
        .testTarget(name: "WorkspaceTests", dependencies: ["Workspace", "Reconcile", "Model", "Libraries"]),
        .testTarget(name: "JournalTests", dependencies: ["Journal", "Reconcile", "Model", "Libraries"]),
        .testTarget(name: "HistoryTests", dependencies: ["History", "Model", "Libraries"]),
        .testTarget(name: "SupabaseTests", dependencies: ["Supabase", "Model", "Libraries"]),
        .testTarget(name: "LocalSupabaseTests", dependencies: ["LocalSupabase", "RequestLists", "Model", "Libraries"]),
        .testTarget(name: "DatabaseTests", dependencies: ["PostgreSQL", "RequestLists", "Libraries", "Model"]),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Sync", "LocalSupabase", "Supabase", "History", "Journal", "Workspace", "Reconcile", "Model",
                "Libraries",
            ]),
        .testTarget(name: "CommandTests", dependencies: ["otask"]),
    ],
    swiftLanguageModes: [.v6]
)

// A program for libFuzzer, which brings a `main` of its own: only `make fuzz` builds it.
if Context.environment["OTASK_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: ["Workspace", "Model", "Libraries"], path: "Tests/Fuzz", exclude: ["Seeds"]))
}
