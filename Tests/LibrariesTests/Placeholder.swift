import Testing

@testable import Libraries
