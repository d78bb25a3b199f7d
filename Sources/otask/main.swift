import Libraries

Console.exit(await run(arguments: CommandLine.arguments.dropFirst().map { $0 }, environment: .ofProcess()))
