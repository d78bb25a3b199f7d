#include "CTemplate.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char ignore_rules[] = {
#embed "../../../template/workspace/.otaskignore"
};

static const unsigned char config[] = {
#embed "../../../template/workspace/.otask/config.yaml"
};

static const otask_template_file files[] = {
    {"workspace/.otaskignore", ignore_rules, sizeof ignore_rules},
    {"workspace/.otask/config.yaml", config, sizeof config},
};

const otask_template_file *otask_template(size_t index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : NULL;
}
