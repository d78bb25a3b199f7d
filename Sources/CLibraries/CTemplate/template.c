#include "CTemplate.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char workspace_otaskignore[] = {
#embed "../../../template/workspace/.otaskignore"
};

static const unsigned char workspace_otask_config_yaml[] = {
#embed "../../../template/workspace/.otask/config.yaml"
};

static const unsigned char supabase_config_toml[] = {
#embed "../../../template/supabase/config.toml"
};

static const unsigned char supabase_migrations_20261201000000_otask_sql[] = {
#embed "../../../template/supabase/migrations/20261201000000_otask.sql"
};

static const unsigned char supabase_templates_confirmation_html[] = {
#embed "../../../template/supabase/templates/confirmation.html"
};

static const unsigned char supabase_templates_magic_link_html[] = {
#embed "../../../template/supabase/templates/magic_link.html"
};

static const unsigned char supabase_tests_accounts_sql[] = {
#embed "../../../template/supabase/tests/accounts.sql"
};

static const unsigned char supabase_tests_functions_sql[] = {
#embed "../../../template/supabase/tests/functions.sql"
};

static const unsigned char supabase_tests_limits_sql[] = {
#embed "../../../template/supabase/tests/limits.sql"
};

static const unsigned char supabase_tests_policies_sql[] = {
#embed "../../../template/supabase/tests/policies.sql"
};

static const unsigned char supabase_tests_storage_sql[] = {
#embed "../../../template/supabase/tests/storage.sql"
};

static const unsigned char supabase_tests_structure_sql[] = {
#embed "../../../template/supabase/tests/structure.sql"
};

static const unsigned char supabase_tests_triggers_sql[] = {
#embed "../../../template/supabase/tests/triggers.sql"
};

// One line a file.
#define FILE(path, bytes) {path, bytes, sizeof bytes}

static const otask_template_file files[] = {
    FILE("workspace/.otaskignore", workspace_otaskignore),
    FILE("workspace/.otask/config.yaml", workspace_otask_config_yaml),
    FILE("supabase/config.toml", supabase_config_toml),
    FILE("supabase/migrations/20261201000000_otask.sql", supabase_migrations_20261201000000_otask_sql),
    FILE("supabase/templates/confirmation.html", supabase_templates_confirmation_html),
    FILE("supabase/templates/magic_link.html", supabase_templates_magic_link_html),
    FILE("supabase/tests/accounts.sql", supabase_tests_accounts_sql),
    FILE("supabase/tests/functions.sql", supabase_tests_functions_sql),
    FILE("supabase/tests/limits.sql", supabase_tests_limits_sql),
    FILE("supabase/tests/policies.sql", supabase_tests_policies_sql),
    FILE("supabase/tests/storage.sql", supabase_tests_storage_sql),
    FILE("supabase/tests/structure.sql", supabase_tests_structure_sql),
    FILE("supabase/tests/triggers.sql", supabase_tests_triggers_sql),
};

const otask_template_file *otask_template(size_t index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : NULL;
}
