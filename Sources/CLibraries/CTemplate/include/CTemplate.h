/// The files of `template/`, inside the program.
#ifndef OTASK_CTEMPLATE_H
#define OTASK_CTEMPLATE_H

#include <stddef.h>

typedef struct {
    /// Relative to `template/`.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} otask_template_file;

/// The file of this index, counted from 0; NULL behind the last.
const otask_template_file *otask_template(size_t index);

#endif
