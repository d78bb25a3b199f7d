import Libraries

/// Properties that hold for all bytes. One that doesn't hold stops the program; libFuzzer keeps the input then.
let targets: [String: @Sendable ([UInt8]) -> Void] = ["task-files": taskFile, "answers": answer]

/// Which property the inputs are for: the environment's FUZZ_TARGET.
private let target: @Sendable ([UInt8]) -> Void = {
    guard let target = Console.variables()["FUZZ_TARGET"].flatMap({ targets[$0] }) else {
        fatalError("FUZZ_TARGET is one of: \(targets.keys.sorted().joined(separator: ", "))")
    }
    return target
}()

/// Stops the program where a property doesn't hold, in a release build too.
func require(_ holds: Bool, _ property: @autoclosure () -> String) {
    if !holds { fatalError(property()) }
}

/// What libFuzzer calls with each input (https://llvm.org/docs/LibFuzzer.html).
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The package manager takes this for the program's `main`; libFuzzer's own would be another.
@_cdecl("Fuzz_main")
func fuzzMain(_ count: CInt, _ arguments: UnsafeMutableRawPointer) -> CInt {
    var count = count
    var arguments = arguments
    return withUnsafeMutablePointer(to: &arguments) { runDriver(&count, UnsafeMutableRawPointer($0), testOneInput) }
}
