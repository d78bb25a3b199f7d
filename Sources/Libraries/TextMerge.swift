import CGit2

/// A three-way merge of texts by lines (libgit2's `git_merge_file`, the one of `git merge`): the merged bytes, and whether
/// no lines clashed. Where some did, the text has diff3 markers with these labels.
///
/// The texts must hold no NUL. Lines that stand side by side clash, also when each side changed only one.
public func mergeLines(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], labels: (base: String, ours: String, theirs: String)
) -> (bytes: [UInt8], isClean: Bool) {
    _ = git
    var options = git_merge_file_options()
    git_merge_file_options_init(&options, UInt32(GIT_MERGE_FILE_OPTIONS_VERSION))
    options.flags = UInt32(GIT_MERGE_FILE_STYLE_DIFF3.rawValue)
    var result = git_merge_file_result()
    defer { git_merge_file_result_free(&result) }
    let code = labels.base.withCString { baseLabel in
        labels.ours.withCString { ourLabel in
            labels.theirs.withCString { theirLabel in
                options.ancestor_label = baseLabel
                options.our_label = ourLabel
                options.their_label = theirLabel
                return withInput(base) { base in
                    withInput(ours) { ours in
                        withInput(theirs) { git_merge_file(&result, base, ours, $0, &options) }
                    }
                }
            }
        }
    }
    // The only failures are of memory; without a merge both texts stay and the caller sees a clash.
    guard code == 0, let pointer = result.ptr else { return ([], code == 0 && result.automergeable != 0) }
    let bytes = UnsafeRawBufferPointer(start: pointer, count: result.len)
    return (Array(bytes), result.automergeable != 0)
}

private func withInput<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<git_merge_file_input>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
        var input = git_merge_file_input()
        git_merge_file_input_init(&input, UInt32(GIT_MERGE_FILE_INPUT_VERSION))
        input.ptr = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
        input.size = raw.count
        return body(&input)
    }
}
