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

static const otask_template_file files[] = {
    {"workspace/.otaskignore", workspace_otaskignore, sizeof workspace_otaskignore},
    {"workspace/.otask/config.yaml", workspace_otask_config_yaml, sizeof workspace_otask_config_yaml},
    {"supabase/config.toml", supabase_config_toml, sizeof supabase_config_toml},
    {"supabase/migrations/20261201000000_otask.sql", supabase_migrations_20261201000000_otask_sql, sizeof supabase_migrations_20261201000000_otask_sql},
    {"supabase/templates/confirmation.html", supabase_templates_confirmation_html, sizeof supabase_templates_confirmation_html},
    {"supabase/templates/magic_link.html", supabase_templates_magic_link_html, sizeof supabase_templates_magic_link_html},
};

const otask_template_file *otask_template(size_t index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : NULL;
}
