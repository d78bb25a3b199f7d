-- otask: tasks, photos and profiles that many devices keep in step.
--
-- Run it with `supabase db push`, or paste it into the SQL editor. It may be run again, and on a project that has tables of
-- these names already: what is missing is added, what is there stays. It stops, and changes nothing, where a column that it
-- needs has another type.
--
-- The order: the tables; the locks; what happens to every written row; deletion; accounts; who may do what; the functions;
-- Storage and Realtime.

begin;

set local client_min_messages = warning;

-- Sign-ups wait until the end: a trigger on this table comes below, and a sign-up writes to a table that is locked by then.
lock table auth.users in share row exclusive mode;

create schema if not exists otask;
grant usage on schema otask to authenticated, service_role;

-- ---------------------------------------------------------------------------------------------------------------------
-- Tables
-- ---------------------------------------------------------------------------------------------------------------------

create table if not exists public.tasks (
    id uuid primary key default gen_random_uuid(),
    user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
    title text not null,
    notes text not null default '',
    done boolean not null default false,
    created_at timestamptz not null default now()
);

create table if not exists public.photos (
    id uuid primary key default gen_random_uuid(),
    user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
    task_id uuid not null,
    name text not null,
    created_at timestamptz not null default now()
);

create table if not exists public.profiles (
    id uuid primary key default auth.uid() references auth.users (id) on delete cascade,
    created_at timestamptz not null default now()
);

lock table public.tasks, public.photos, public.profiles in access exclusive mode;

-- One row: what a project may set for itself.
create table if not exists otask.settings (
    is_only boolean primary key default true check (is_only),
    keep_objects interval not null default '30 days',
    keep_texts interval not null default '180 days'
);
insert into otask.settings default values on conflict do nothing;

-- One number for every write to any table: the order of the feed.
create sequence if not exists otask.change_seq;

-- Columns with a default that is only for rows that were there before: a volatile default fills them without firing an
-- app's triggers.
do $$
declare
    tab text;
begin
    foreach tab in array array['tasks', 'photos', 'profiles'] loop
        execute format('alter table public.%I
            add column if not exists created_at timestamptz not null default now(),
            add column if not exists updated_at timestamptz not null default now(),
            add column if not exists deleted_at timestamptz,
            add column if not exists version bigint not null default 1,
            add column if not exists change_seq bigint not null default nextval(''otask.change_seq''),
            add column if not exists allowed boolean not null default false,
            add column if not exists changed jsonb not null default ''{}''', tab);
        execute format('alter table public.%I alter column change_seq drop default', tab);
    end loop;
end
$$;

alter table public.tasks
    add column if not exists notes text not null default '',
    add column if not exists done boolean not null default false,
    add column if not exists path text,
    add column if not exists properties jsonb not null default '{}';
alter table public.photos
    add column if not exists object_path text,
    add column if not exists bytes bigint,
    add column if not exists content_type text,
    add column if not exists sha256 text,
    add column if not exists deleted_with_task boolean not null default false;
alter table public.profiles
    add column if not exists username text,
    add column if not exists full_name text,
    add column if not exists website text,
    add column if not exists avatar_url text;

-- A table that was there before must have these columns, of these types.
do $$
declare
    misfit record;
begin
    for misfit in
        select needed.tab, needed.col, needed.type, format_type(a.atttypid, a.atttypmod) as found
        from (values
            ('tasks', 'id', 'uuid'), ('tasks', 'user_id', 'uuid'), ('tasks', 'title', 'text'), ('tasks', 'notes', 'text'),
            ('tasks', 'done', 'boolean'), ('tasks', 'path', 'text'), ('tasks', 'properties', 'jsonb'),
            ('photos', 'id', 'uuid'), ('photos', 'user_id', 'uuid'), ('photos', 'task_id', 'uuid'),
            ('photos', 'name', 'text'), ('photos', 'object_path', 'text'), ('photos', 'bytes', 'bigint'),
            ('photos', 'content_type', 'text'), ('photos', 'sha256', 'text'), ('photos', 'deleted_with_task', 'boolean'),
            ('profiles', 'id', 'uuid'), ('profiles', 'username', 'text'), ('profiles', 'full_name', 'text'),
            ('profiles', 'website', 'text'), ('profiles', 'avatar_url', 'text')
        ) as needed (tab, col, type)
        left join pg_attribute a
            on a.attrelid = format('public.%I', needed.tab)::regclass and a.attname = needed.col and not a.attisdropped
        where a.attnum is null or format_type(a.atttypid, a.atttypmod) <> needed.type
        union all
        select tab, col, type, format_type(a.atttypid, a.atttypmod)
        from unnest(array['tasks', 'photos', 'profiles']) tab
        cross join (values
            ('created_at', 'timestamp with time zone'), ('updated_at', 'timestamp with time zone'),
            ('deleted_at', 'timestamp with time zone'), ('version', 'bigint'), ('change_seq', 'bigint'),
            ('allowed', 'boolean'), ('changed', 'jsonb')) as kept (col, type)
        join pg_attribute a on a.attrelid = format('public.%I', tab)::regclass and a.attname = col
        where format_type(a.atttypid, a.atttypmod) <> type
    loop
        raise exception 'public.%.% is %, otask needs %: rename it or change its type, then run this again',
            misfit.tab, misfit.col, coalesce(misfit.found, 'missing'), misfit.type;
    end loop;

    for misfit in
        select tab from unnest(array['tasks', 'photos', 'profiles']) tab
        where not exists (
            select from pg_index i
            where i.indrelid = format('public.%I', tab)::regclass and i.indisunique and i.indpred is null
                and i.indkey::text = (
                    select attnum::text from pg_attribute where attrelid = i.indrelid and attname = 'id'))
    loop
        raise exception 'public.%.id is no primary key: make it one, then run this again', misfit.tab;
    end loop;
end
$$;

-- Nulls in a column that must have a value become the empty one: by a rewrite, which fires no trigger of an app, or where a
-- view, a policy or a trigger names the column and forbids that, by an update.
do $$
declare
    col record;
    has_nulls boolean;
begin
    for col in
        select tab, name, type, empty from (values
            ('tasks', 'title', 'text', ''''''), ('tasks', 'notes', 'text', ''''''), ('tasks', 'done', 'boolean', 'false'),
            ('tasks', 'properties', 'jsonb', '''{}'''), ('tasks', 'created_at', 'timestamptz', 'now()'),
            ('tasks', 'updated_at', 'timestamptz', 'now()'), ('photos', 'name', 'text', ''''''),
            ('photos', 'created_at', 'timestamptz', 'now()'), ('photos', 'updated_at', 'timestamptz', 'now()'),
            ('profiles', 'created_at', 'timestamptz', 'now()'), ('profiles', 'updated_at', 'timestamptz', 'now()')
        ) as c (tab, name, type, empty)
        join pg_attribute a on a.attrelid = format('public.%I', tab)::regclass and a.attname = name
        where not a.attnotnull
    loop
        execute format('select exists (select from public.%I where %I is null)', col.tab, col.name) into has_nulls;
        if has_nulls then
            begin
                execute format('alter table public.%I alter column %I type %s using coalesce(%I, %s)',
                    col.tab, col.name, col.type, col.name, col.empty);
            exception
                when feature_not_supported then
                    execute format('update public.%I set %I = %s where %I is null',
                        col.tab, col.name, col.empty, col.name);
            end;
        end if;
        execute format('alter table public.%I alter column %I set not null', col.tab, col.name);
    end loop;
end
$$;

alter table public.tasks
    alter column user_id set default auth.uid(),
    alter column notes set default '',
    alter column done set default false,
    alter column properties set default '{}',
    alter column created_at set default now(),
    alter column updated_at set default now();
alter table public.photos
    alter column user_id set default auth.uid(),
    alter column created_at set default now(),
    alter column updated_at set default now();
alter table public.profiles
    alter column id set default auth.uid(),
    alter column created_at set default now(),
    alter column updated_at set default now();

-- Keys. Whoever is deleted takes all own rows along; a photo belongs to a task of the same user, which its key says too,
-- since keys look past row security.
do $$
declare
    key record;
begin
    for key in
        select c.conrelid::regclass as tab, c.conname as name, a.attname as col
        from pg_constraint c
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'f' and c.confrelid = 'auth.users'::regclass and c.confdeltype <> 'c'
            and cardinality(c.conkey) = 1
            and (c.conrelid in ('public.tasks'::regclass, 'public.photos'::regclass) and a.attname = 'user_id'
                or c.conrelid = 'public.profiles'::regclass and a.attname = 'id')
    loop
        execute format('alter table %s drop constraint %I', key.tab, key.name);
    end loop;
    for key in
        select tab, col from (values ('tasks', 'user_id'), ('photos', 'user_id'), ('profiles', 'id')) as k (tab, col)
        where not exists (
            select from pg_constraint c
            join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
            where c.contype = 'f' and c.conrelid = format('public.%I', tab)::regclass and a.attname = col
                and c.confrelid = 'auth.users'::regclass)
    loop
        -- Not valid: rows of owners who are long gone stay as they are.
        execute format('alter table public.%I add constraint %I foreign key (%I) references auth.users (id)
            on delete cascade not valid', key.tab, key.tab || '_' || key.col || '_fkey', key.col);
    end loop;

    if not exists (select from pg_constraint where conname = 'tasks_id_user_id_key') then
        alter table public.tasks add constraint tasks_id_user_id_key unique (id, user_id);
    end if;
    if not exists (
        select from pg_constraint
        where contype = 'f' and conrelid = 'public.photos'::regclass and confrelid = 'public.tasks'::regclass
            and cardinality(conkey) = 2)
    then
        for key in
            select c.conname as name from pg_constraint c
            join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey) and a.attname = 'task_id'
            where c.contype = 'f' and c.conrelid = 'public.photos'::regclass
                and c.confrelid = 'public.tasks'::regclass
        loop
            execute format('alter table public.photos drop constraint %I', key.name);
        end loop;
        alter table public.photos add constraint photos_task_id_fkey
            foreign key (task_id, user_id) references public.tasks (id, user_id) on delete cascade not valid;
    end if;
    if not exists (select from pg_constraint where conname = 'photos_user_id_object_path_key') then
        alter table public.photos add constraint photos_user_id_object_path_key unique (user_id, object_path);
    end if;
    if not exists (
        select from pg_index i
        where i.indrelid = 'public.profiles'::regclass and i.indisunique and i.indkey::text = (
            select attnum::text from pg_attribute where attrelid = i.indrelid and attname = 'username'))
    then
        alter table public.profiles add constraint profiles_username_key unique (username);
    end if;
end
$$;

create unique index if not exists tasks_feed on public.tasks (user_id, change_seq);
create unique index if not exists photos_feed on public.photos (user_id, change_seq);
create index if not exists photos_of_task on public.photos (task_id, user_id);

-- Which changes were applied: one that is sent again is answered, not applied again. Kept 180 days.
create table if not exists public.applied_changes (
    user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
    change_id uuid not null,
    id uuid not null,
    version bigint not null,
    applied_at timestamptz not null default now(),
    primary key (user_id, change_id)
);

-- One row a user, moved by every write: what live updates listen to. A row that leaves its reader's sight sends no event of
-- its own.
create table if not exists public.sync_heads (
    user_id uuid primary key references auth.users (id) on delete cascade,
    change_seq bigint not null
);

-- Objects in Storage that no row names any more.
create table if not exists public.released_objects (
    user_id uuid not null references auth.users (id) on delete cascade,
    path text not null,
    sha256 text,
    bytes bigint,
    released_at timestamptz not null default now(),
    collected_at timestamptz,
    primary key (user_id, path)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Locks: the order of change_seq is the order of commits for each user, so that a reader who follows it misses no row
-- ---------------------------------------------------------------------------------------------------------------------

-- Takes the common lock, shared, and the user's own; without a user the common lock alone, exclusive, which excludes all.
-- Always before a row is locked, always in this order: nothing deadlocks. Its time limit ends with it.
create or replace function otask.lock_owner(owner uuid) returns void
    language plpgsql security definer
    set search_path = '' set lock_timeout = '3s'
as $$
declare
    held text := current_setting('otask.locked', true);
begin
    if held = 'all' or held = owner::text then
        return;
    elsif owner is null then
        perform pg_advisory_xact_lock(1869898099, 1802658157);
        perform set_config('otask.locked', 'all', true);
    else
        perform pg_advisory_xact_lock_shared(1869898099, 1802658157);
        perform pg_advisory_xact_lock(hashtextextended(owner::text, 0));
        perform set_config('otask.locked', owner::text, true);
    end if;
end
$$;

-- Before a statement touches a row. Code that knows the one owner of its rows says so in otask.owner.
create or replace function otask.lock_statement() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
begin
    perform otask.lock_owner(coalesce(nullif(current_setting('otask.owner', true), '')::uuid, auth.uid()));
    return null;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Every written row is checked and stamped
-- ---------------------------------------------------------------------------------------------------------------------
-- What a write means beside its values is said in otask.op, for one row: "delete tasks <id>", "delete photos-of <task>",
-- "revive tasks <id>", "revive photos-of <task>", "purge tasks <id>". A plain write says nothing.

-- Raises a broken limit, in words for people.
create or replace function otask.require(holds boolean, broken text) returns void
    language plpgsql immutable
    set search_path = ''
as $$
begin
    -- A null is not for this check: the column's own constraint has the word.
    if not holds then
        raise exception using errcode = '23514', message = broken;
    end if;
end
$$;

create or replace function otask.check_title(title text) returns void
    language plpgsql immutable
    set search_path = ''
as $$
begin
    perform otask.require(title <> '', 'title is empty');
    perform otask.require(char_length(title) <= 500, 'title is longer than 500 characters');
    perform otask.require(title !~ '[\n\r]', 'title has more than one line');
    perform otask.require(title = btrim(title, E' \t'), 'title begins or ends with a blank');
end
$$;

create or replace function otask.check_properties(properties jsonb) returns void
    language plpgsql immutable
    set search_path = ''
as $$
declare
    key text;
begin
    perform otask.require(jsonb_typeof(properties) = 'object', 'properties must be an object');
    perform otask.require(octet_length(properties::text) <= 65536, 'properties are larger than 64 KiB');
    perform otask.require(
        not jsonb_path_exists(properties, 'strict $.**{32} ? (@.type() == "object" || @.type() == "array")'),
        'properties are nested deeper than 32 levels');
    foreach key in array array['id', 'done', 'title'] loop
        perform otask.require(not properties ? key, 'properties can''t have the key ' || key);
    end loop;
end
$$;

-- Which own keys differ, as changed names them.
create or replace function otask.changed_keys(old jsonb, new jsonb) returns text[]
    language sql immutable
    set search_path = ''
as $$
    select coalesce(array_agg('properties.' || key), '{}')
    from jsonb_each(case jsonb_typeof(old) when 'object' then old else '{}' end) o
    full join jsonb_each(new) n using (key)
    where o.value is distinct from n.value
$$;

-- What changed gains: when each of these was written, on which device, in which change.
create or replace function otask.entries(names text[], at timestamptz) returns jsonb
    language sql stable
    set search_path = '' set timezone = 'UTC'
as $$
    select coalesce(
        jsonb_object_agg(name, jsonb_build_array(
            to_jsonb(at), nullif(current_setting('otask.device', true), ''),
            nullif(current_setting('otask.change', true), ''))),
        '{}')
    from unnest(names) name
$$;

-- Before a row is inserted. An upsert comes here too for a row that is there already: then the update has the word, and
-- must be let see an own tombstone.
create or replace function otask.stamp_insert() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
declare
    owner uuid := case tg_table_name when 'profiles' then new.id else (to_jsonb(new) ->> 'user_id')::uuid end;
    found_owner uuid;
    found_deleted timestamptz;
begin
    if owner is not null then
        perform otask.lock_owner(owner);
    end if;
    if tg_table_name = 'tasks' then
        select t.user_id, t.deleted_at into found_owner, found_deleted from public.tasks t where t.id = new.id;
    elsif tg_table_name = 'photos' then
        select p.user_id, p.deleted_at into found_owner, found_deleted from public.photos p where p.id = new.id;
    else
        select p.id into found_owner from public.profiles p where p.id = new.id;
    end if;
    if found_owner = owner then
        if found_deleted is not null then
            perform set_config('otask.feed', 'on', true);
        end if;
    elsif tg_table_name = 'tasks' then
        perform otask.check_title(new.title);
        perform otask.require(octet_length(new.notes) <= 1000000, 'notes are longer than 1000000 bytes');
        perform otask.require(octet_length(new.path) <= 1024, 'path is longer than 1024 bytes');
        perform otask.check_properties(new.properties);
    elsif tg_table_name = 'photos' then
        perform otask.check_photo(new, array['name', 'object_path']);
    else
        perform otask.require(char_length(new.username) >= 3, 'username is shorter than 3 characters');
    end if;
    if tg_table_name = 'photos' then
        new.deleted_with_task := false;
    end if;
    new.created_at := coalesce(new.created_at, now());
    new.updated_at := clock_timestamp();
    new.deleted_at := null;
    new.version := 1;
    new.change_seq := nextval('otask.change_seq');
    new.allowed := false;
    new.changed := '{}';
    return new;
end
$$;

create or replace function otask.check_photo(photo public.photos, names text[]) returns void
    language plpgsql immutable
    set search_path = ''
as $$
begin
    if 'name' = any (names) then
        perform otask.require(photo.name <> '', 'name is empty');
        perform otask.require(octet_length(photo.name) <= 255, 'name is longer than 255 bytes');
    end if;
    if 'object_path' = any (names) then
        perform otask.require(photo.object_path is not null, 'object_path is missing');
        perform otask.require(
            starts_with(photo.object_path, photo.user_id || '/'), 'object_path does not begin with the user''s id');
    end if;
end
$$;

-- Before a row is updated, whoever does it. A write that changes nothing of ours leaves the bookkeeping alone.
create or replace function otask.stamp_task() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
declare
    op text := current_setting('otask.op', true);
    names text[] := array_remove(array[
        case when new.title is distinct from old.title then 'title' end,
        case when new.notes is distinct from old.notes then 'notes' end,
        case when new.done is distinct from old.done then 'done' end,
        case when new.path is distinct from old.path then 'path' end,
        case when new.properties is distinct from old.properties then 'properties' end], null);
    checked text[] := names;
    at timestamptz := clock_timestamp();
begin
    new.id := old.id;
    new.user_id := old.user_id;
    new.created_at := old.created_at;
    new.updated_at := old.updated_at;
    new.deleted_at := old.deleted_at;
    new.version := old.version;
    new.change_seq := old.change_seq;
    new.allowed := old.allowed;
    new.changed := old.changed;

    if op = 'delete tasks ' || old.id then
        new.deleted_at := at;
        new.allowed := coalesce(nullif(current_setting('otask.allowed', true), '')::boolean, false);
    elsif op = 'purge tasks ' || old.id then
        checked := '{}';
    elsif old.deleted_at is not null and (names <> '{}' or op = 'revive tasks ' || old.id) then
        new.deleted_at := null;
        new.allowed := false;
        -- A purged tombstone has no title any more.
        checked := checked || array['title'];
    elsif names = '{}' then
        return new;
    end if;

    if 'title' = any (checked) then
        perform otask.check_title(new.title);
    end if;
    if 'notes' = any (checked) then
        perform otask.require(octet_length(new.notes) <= 1000000, 'notes are longer than 1000000 bytes');
    end if;
    if 'path' = any (checked) then
        perform otask.require(octet_length(new.path) <= 1024, 'path is longer than 1024 bytes');
    end if;
    if 'properties' = any (names) then
        perform otask.check_properties(new.properties);
        names := array_remove(names, 'properties') || otask.changed_keys(old.properties, new.properties);
    end if;
    if (old.deleted_at is null) <> (new.deleted_at is null) then
        names := names || array['deleted_at'];
    end if;
    if old.user_id is not null then
        perform otask.lock_owner(old.user_id);
    end if;
    new.updated_at := at;
    new.version := old.version + 1;
    new.change_seq := nextval('otask.change_seq');
    new.changed := old.changed || otask.entries(names, at);
    return new;
end
$$;

create or replace function otask.stamp_photo() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
declare
    op text := current_setting('otask.op', true);
    names text[] := array_remove(array[
        case when new.task_id is distinct from old.task_id then 'task_id' end,
        case when new.name is distinct from old.name then 'name' end,
        case when new.object_path is distinct from old.object_path then 'object_path' end,
        case when new.bytes is distinct from old.bytes then 'bytes' end,
        case when new.content_type is distinct from old.content_type then 'content_type' end,
        case when new.sha256 is distinct from old.sha256 then 'sha256' end], null);
    checked text[] := names;
    at timestamptz := clock_timestamp();
begin
    new.id := old.id;
    new.user_id := old.user_id;
    new.created_at := old.created_at;
    new.updated_at := old.updated_at;
    new.deleted_at := old.deleted_at;
    new.version := old.version;
    new.change_seq := old.change_seq;
    new.allowed := old.allowed;
    new.changed := old.changed;
    new.deleted_with_task := old.deleted_with_task;

    if op in ('delete photos ' || old.id, 'delete photos-of ' || old.task_id) then
        new.deleted_at := at;
        new.allowed := coalesce(nullif(current_setting('otask.allowed', true), '')::boolean, false);
        new.deleted_with_task := starts_with(op, 'delete photos-of');
    elsif op = 'purge photos ' || old.id then
        null;
    elsif old.deleted_at is not null
        and (names <> '{}' or op in ('revive photos ' || old.id, 'revive photos-of ' || old.task_id))
    then
        new.deleted_at := null;
        new.allowed := false;
        new.deleted_with_task := false;
        checked := checked || array['name', 'object_path'];
    elsif names = '{}' then
        return new;
    end if;

    if new.deleted_at is null then
        perform otask.check_photo(new, checked);
    end if;
    if (old.deleted_at is null) <> (new.deleted_at is null) then
        names := names || array['deleted_at'];
    end if;
    if old.user_id is not null then
        perform otask.lock_owner(old.user_id);
    end if;
    new.updated_at := at;
    new.version := old.version + 1;
    new.change_seq := nextval('otask.change_seq');
    new.changed := old.changed || otask.entries(names, at);
    return new;
end
$$;

create or replace function otask.stamp_profile() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
declare
    names text[] := array_remove(array[
        case when new.username is distinct from old.username then 'username' end,
        case when new.full_name is distinct from old.full_name then 'full_name' end,
        case when new.website is distinct from old.website then 'website' end,
        case when new.avatar_url is distinct from old.avatar_url then 'avatar_url' end], null);
    at timestamptz := clock_timestamp();
begin
    new.id := old.id;
    new.created_at := old.created_at;
    new.updated_at := old.updated_at;
    new.deleted_at := old.deleted_at;
    new.version := old.version;
    new.change_seq := old.change_seq;
    new.allowed := old.allowed;
    new.changed := old.changed;
    if names = '{}' then
        return new;
    end if;
    if 'username' = any (names) then
        perform otask.require(char_length(new.username) >= 3, 'username is shorter than 3 characters');
    end if;
    perform otask.lock_owner(old.id);
    new.updated_at := at;
    new.version := old.version + 1;
    new.change_seq := nextval('otask.change_seq');
    new.changed := old.changed || otask.entries(names, at);
    return new;
end
$$;

-- After a task's row is written. First of its kind, so that an app's own triggers find otask.op cleared and their writes
-- are taken for plain ones.
create or replace function otask.after_task() returns trigger
    language plpgsql security definer
    set search_path = public, extensions, pg_temp set enable_seqscan = off
as $$
begin
    perform set_config('otask.op', '', true);
    if old.deleted_at is not null and new.deleted_at is null then
        perform set_config('otask.op', 'revive photos-of ' || new.id, true);
        update public.photos p set name = p.name
        where p.task_id = new.id and p.user_id = new.user_id and p.deleted_at is not null and p.deleted_with_task
            and p.object_path is not null
            and not exists (
                select from public.released_objects r
                where r.user_id = p.user_id and r.path = p.object_path and r.collected_at is not null);
        perform set_config('otask.op', '', true);
    end if;
    return null;
end
$$;

-- After a photo's row is written: what must hold between rows, and the list of objects that no row names.
create or replace function otask.after_photo() returns trigger
    language plpgsql security definer
    set search_path = public, extensions, pg_temp set enable_seqscan = off
as $$
declare
    before text;
    after text := case when new.deleted_at is null then new.object_path end;
begin
    -- While a task's photos go with it, otask.op is for all of them; whoever set it clears it.
    if current_setting('otask.op', true) not like '%-of %' then
        perform set_config('otask.op', '', true);
    end if;
    if tg_op = 'UPDATE' then
        before := case when old.deleted_at is null then old.object_path end;
    end if;
    if new.deleted_at is null and exists (
        select from public.tasks t where t.id = new.task_id and t.user_id = new.user_id and t.deleted_at is not null)
    then
        raise exception using errcode = 'OT001', message = 'the task of this photo is deleted';
    end if;
    if before is not distinct from after then
        return null;
    end if;
    if before is not null then
        insert into public.released_objects (user_id, path, sha256, bytes, released_at)
        select u.id, before, old.sha256, old.bytes, clock_timestamp() from auth.users u where u.id = new.user_id
        on conflict (user_id, path) do update
        set sha256 = excluded.sha256, bytes = excluded.bytes, released_at = excluded.released_at, collected_at = null;
    end if;
    if after is not null then
        if exists (
            select from public.released_objects r
            where r.user_id = new.user_id and r.path = after and r.collected_at is not null)
        then
            raise exception using errcode = 'OT002',
                message = format('the object %s was removed; upload it under a new path', after);
        end if;
        delete from public.released_objects r where r.user_id = new.user_id and r.path = after;
    end if;
    return null;
end
$$;

-- After a statement: the head of each user whose rows were written; old rows of a user who is gone have none. A batch moves
-- its user's head once, at its end: every version of a row that one transaction writes is read again by the next write.
create or replace function otask.move_heads() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
begin
    if current_setting('otask.heads', true) = 'later' then
        return null;
    elsif tg_table_name = 'profiles' then
        insert into public.sync_heads as h (user_id, change_seq)
        select w.id, max(w.change_seq) from written w
        where exists (select from auth.users u where u.id = w.id) group by w.id
        on conflict (user_id) do update set change_seq = excluded.change_seq where h.change_seq < excluded.change_seq;
    else
        insert into public.sync_heads as h (user_id, change_seq)
        select w.user_id, max(w.change_seq) from written w
        where exists (select from auth.users u where u.id = w.user_id) group by w.user_id
        on conflict (user_id) do update set change_seq = excluded.change_seq where h.change_seq < excluded.change_seq;
    end if;
    return null;
end
$$;

-- The head of the user, after a batch.
create or replace function otask.move_own_head() returns void
    language sql volatile security definer
    set search_path = '' set enable_seqscan = off
as $$
    insert into public.sync_heads as h (user_id, change_seq)
    select auth.uid(), max(a.change_seq) from (
        (select t.change_seq from public.tasks t where t.user_id = auth.uid() order by t.change_seq desc limit 1)
        union all
        (select p.change_seq from public.photos p where p.user_id = auth.uid() order by p.change_seq desc limit 1)
        union all
        select p.change_seq from public.profiles p where p.id = auth.uid()
    ) a
    on conflict (user_id) do update set change_seq = excluded.change_seq where h.change_seq < excluded.change_seq
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Deletion: a row becomes a tombstone, which keeps its fields, so that every device hears of it and any can bring it back
-- ---------------------------------------------------------------------------------------------------------------------

-- Security definer: an update that hides the row from its reader would fail row security otherwise.
create or replace function otask.delete_task() returns trigger
    language plpgsql security definer
    set search_path = public, extensions, pg_temp set enable_seqscan = off
as $$
begin
    -- With the account, or without an owner, a row goes for good.
    if not exists (select from auth.users u where u.id = old.user_id) then
        return old;
    end if;
    if old.deleted_at is null then
        perform set_config('otask.op', 'delete tasks ' || old.id, true);
        update public.tasks t set title = t.title where t.id = old.id;
        perform set_config('otask.op', 'delete photos-of ' || old.id, true);
        update public.photos p set name = p.name
        where p.task_id = old.id and p.user_id = old.user_id and p.deleted_at is null;
        perform set_config('otask.op', '', true);
    end if;
    return null;
end
$$;

create or replace function otask.delete_photo() returns trigger
    language plpgsql security definer
    set search_path = public, extensions, pg_temp set enable_seqscan = off
as $$
begin
    if not exists (select from auth.users u where u.id = old.user_id) then
        return old;
    end if;
    if old.deleted_at is null then
        perform set_config('otask.op', 'delete photos ' || old.id, true);
        update public.photos p set name = p.name where p.id = old.id;
        perform set_config('otask.op', '', true);
    end if;
    return null;
end
$$;

-- Triggers fire in the order of their names: ours come first where an app's own must find things ready, last where they
-- have the last word.
create or replace trigger _otask_lock before insert or update or delete on public.tasks
    for each statement execute function otask.lock_statement();
create or replace trigger _otask_lock before insert or update or delete on public.photos
    for each statement execute function otask.lock_statement();
create or replace trigger _otask_lock before insert or update or delete on public.profiles
    for each statement execute function otask.lock_statement();

create or replace trigger zz_otask_insert before insert on public.tasks
    for each row execute function otask.stamp_insert();
create or replace trigger zz_otask_insert before insert on public.photos
    for each row execute function otask.stamp_insert();
create or replace trigger zz_otask_insert before insert on public.profiles
    for each row execute function otask.stamp_insert();

create or replace trigger zz_otask_stamp before update on public.tasks
    for each row execute function otask.stamp_task();
create or replace trigger zz_otask_stamp before update on public.photos
    for each row execute function otask.stamp_photo();
create or replace trigger zz_otask_stamp before update on public.profiles
    for each row execute function otask.stamp_profile();

create or replace trigger zz_otask_delete before delete on public.tasks
    for each row execute function otask.delete_task();
create or replace trigger zz_otask_delete before delete on public.photos
    for each row execute function otask.delete_photo();

create or replace trigger _otask_after after update on public.tasks
    for each row execute function otask.after_task();
create or replace trigger _otask_after after insert or update on public.photos
    for each row execute function otask.after_photo();

do $$
declare
    tab text;
    verb text;
begin
    foreach tab in array array['tasks', 'photos', 'profiles'] loop
        foreach verb in array array['insert', 'update'] loop
            execute format('create or replace trigger _otask_head_%s after %s on public.%I
                referencing new table as written for each statement execute function otask.move_heads()', verb, verb, tab);
        end loop;
    end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Accounts
-- ---------------------------------------------------------------------------------------------------------------------

-- A sign-up has no session yet; for the writes that follow it this names the owner.
create or replace function otask.begin_account() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
begin
    perform set_config('otask.owner', new.id::text, true);
    return null;
end
$$;

-- Every user has a profile. A project's own trigger may have made it, with values that the table insists on: so we look
-- first, since those are checked before a conflict is found.
create or replace function otask.add_profile() returns trigger
    language plpgsql security definer
    set search_path = public, extensions, pg_temp
as $$
begin
    if not exists (select from public.profiles p where p.id = new.id) then
        insert into public.profiles (id) values (new.id) on conflict (id) do nothing;
    end if;
    perform set_config('otask.owner', '', true);
    return null;
end
$$;

-- A new task's foreign key locks its user's row: a deletion of that user would deadlock with the batch it is in.
create or replace function otask.lock_all() returns trigger
    language plpgsql security definer
    set search_path = ''
as $$
begin
    perform otask.lock_owner(null);
    return null;
end
$$;

create or replace trigger _otask_owner after insert on auth.users
    for each row execute function otask.begin_account();
create or replace trigger zz_otask_profile after insert on auth.users
    for each row execute function otask.add_profile();
create or replace trigger _otask_lock before delete on auth.users
    for each statement execute function otask.lock_all();

do $$
declare
    col text;
begin
    insert into public.profiles (id)
    select u.id from auth.users u where not exists (select from public.profiles p where p.id = u.id)
    on conflict (id) do nothing;
exception
    when not_null_violation then
        get stacked diagnostics col = column_name;
        raise exception 'public.profiles.% must have a value, and there are users without a profile', col
            using hint = 'Give them one, or let the column be null, then run this again.';
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Who may do what: everybody sees and changes own rows, and no tombstones
-- ---------------------------------------------------------------------------------------------------------------------
-- An app that knows nothing of tombstones would show deleted tasks and revive them with its first bulk update, also under a
-- policy of its own: so the one that hides them restricts all others. The functions below see them: they switch otask.feed
-- on for their transaction.

alter table public.tasks enable row level security;
alter table public.photos enable row level security;
alter table public.profiles enable row level security;
alter table public.applied_changes enable row level security;
alter table public.sync_heads enable row level security;
alter table public.released_objects enable row level security;
alter table otask.settings enable row level security;

-- Policies add up, so those of the user management tutorial that show everything to everybody have to go.
drop policy if exists "Public profiles are viewable by everyone." on public.profiles;

drop policy if exists "otask: own tasks" on public.tasks;
create policy "otask: own tasks" on public.tasks to authenticated
    using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));
drop policy if exists "otask: no tombstones" on public.tasks;
create policy "otask: no tombstones" on public.tasks as restrictive
    using (deleted_at is null or current_setting('otask.feed', true) = 'on') with check (true);

drop policy if exists "otask: own photos" on public.photos;
create policy "otask: own photos" on public.photos to authenticated
    using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));
drop policy if exists "otask: no tombstones" on public.photos;
create policy "otask: no tombstones" on public.photos as restrictive
    using (deleted_at is null or current_setting('otask.feed', true) = 'on') with check (true);

drop policy if exists "otask: own profile" on public.profiles;
create policy "otask: own profile" on public.profiles for select to authenticated
    using (id = (select auth.uid()));
drop policy if exists "otask: add own profile" on public.profiles;
create policy "otask: add own profile" on public.profiles for insert to authenticated
    with check (id = (select auth.uid()));
drop policy if exists "otask: change own profile" on public.profiles;
create policy "otask: change own profile" on public.profiles for update to authenticated
    using (id = (select auth.uid())) with check (id = (select auth.uid()));

drop policy if exists "otask: own applied changes" on public.applied_changes;
create policy "otask: own applied changes" on public.applied_changes for select to authenticated
    using (user_id = (select auth.uid()));
drop policy if exists "otask: note own applied changes" on public.applied_changes;
create policy "otask: note own applied changes" on public.applied_changes for insert to authenticated
    with check (user_id = (select auth.uid()));

drop policy if exists "otask: own head" on public.sync_heads;
create policy "otask: own head" on public.sync_heads for select to authenticated
    using (user_id = (select auth.uid()));

drop policy if exists "otask: own released objects" on public.released_objects;
create policy "otask: own released objects" on public.released_objects for select to authenticated
    using (user_id = (select auth.uid()));

revoke all on public.tasks, public.photos, public.profiles, public.applied_changes, public.sync_heads,
    public.released_objects, otask.settings from anon, authenticated;
grant select, insert, update, delete on public.tasks, public.photos to authenticated;
grant select, insert, update on public.profiles to authenticated;
grant select, insert on public.applied_changes to authenticated;
grant select on public.sync_heads, public.released_objects to authenticated;
grant all on public.tasks, public.photos, public.profiles, public.applied_changes, public.sync_heads,
    public.released_objects to service_role;
grant select on otask.settings to service_role;

-- Other policies that let somebody see or change more are a person's own: named, not touched.
do $$
declare
    other record;
begin
    for other in
        select tablename, policyname from pg_policies
        where schemaname = 'public' and tablename in ('tasks', 'photos', 'profiles') and permissive = 'PERMISSIVE'
            and policyname not like 'otask: %'
    loop
        raise warning 'public.% has the policy "%" of your own, which stays: policies add up', other.tablename,
            other.policyname;
    end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Functions
-- ---------------------------------------------------------------------------------------------------------------------

-- Rows as the functions answer them: our columns and no others, times in UTC. Plain SQL, so that the planner takes them in.
create or replace function otask.row_json(t public.tasks) returns jsonb
    language sql stable
as $$
    select jsonb_build_object(
        'id', t.id, 'user_id', t.user_id, 'title', t.title, 'notes', t.notes, 'done', t.done, 'path', t.path,
        'properties', t.properties, 'created_at', t.created_at, 'updated_at', t.updated_at, 'deleted_at', t.deleted_at,
        'version', t.version, 'change_seq', t.change_seq, 'allowed', t.allowed, 'changed', t.changed)
$$;

create or replace function otask.row_json(p public.photos) returns jsonb
    language sql stable
as $$
    select jsonb_build_object(
        'id', p.id, 'user_id', p.user_id, 'task_id', p.task_id, 'name', p.name, 'object_path', p.object_path,
        'bytes', p.bytes, 'content_type', p.content_type, 'sha256', p.sha256, 'deleted_with_task', p.deleted_with_task,
        'created_at', p.created_at, 'updated_at', p.updated_at, 'deleted_at', p.deleted_at,
        'version', p.version, 'change_seq', p.change_seq, 'allowed', p.allowed, 'changed', p.changed)
$$;

create or replace function otask.row_json(p public.profiles) returns jsonb
    language sql stable
as $$
    select jsonb_build_object(
        'id', p.id, 'username', p.username, 'full_name', p.full_name, 'website', p.website, 'avatar_url', p.avatar_url,
        'created_at', p.created_at, 'updated_at', p.updated_at, 'deleted_at', p.deleted_at,
        'version', p.version, 'change_seq', p.change_seq, 'allowed', p.allowed, 'changed', p.changed)
$$;

-- The own row of this id, tombstones too; null where there is none.
create or replace function otask.own_row(tab text, row_id uuid) returns jsonb
    language plpgsql stable
    set search_path = ''
as $$
declare
    me uuid := auth.uid();
    content jsonb;
begin
    if tab = 'tasks' then
        select otask.row_json(t) into content from public.tasks t where t.id = row_id and t.user_id = me;
    elsif tab = 'photos' then
        select otask.row_json(p) into content from public.photos p where p.id = row_id and p.user_id = me;
    elsif row_id = me then
        select otask.row_json(p) into content from public.profiles p where p.id = me;
    end if;
    return content;
end
$$;

-- A token outlives its user: without this everything would look refused, or the server set back.
create or replace function otask.require_account() returns void
    language plpgsql stable
    set search_path = ''
as $$
begin
    if not exists (select from public.profiles p where p.id = auth.uid()) then
        raise exception using errcode = 'OT003', message = 'the account is gone';
    end if;
end
$$;

create or replace function public.otask_schema_version() returns integer
    language sql immutable
    set search_path = ''
as $$ select 1 $$;

-- A page of the feed: rows of all tables in the order of change_seq, tombstones included. Stable: all its queries see one
-- snapshot; in two, a row that is written between them would be missed.
create or replace function public.pull_changes(
    since bigint, max_rows integer default 1000, max_bytes bigint default 4194304, in_flight uuid[] default '{}'
) returns jsonb
    language plpgsql stable
    set search_path = public, extensions, pg_temp set enable_seqscan = off set timezone = 'UTC'
as $$
declare
    me uuid := auth.uid();
    from_seq bigint := coalesce(since, 0);
    most bigint := greatest(coalesce(max_rows, 1000), 1);
    most_bytes bigint := coalesce(max_bytes, 4194304);
    last bigint;
    more boolean;
    page jsonb;
    total bigint;
    sum_of_all numeric;
    newest bigint;
begin
    perform set_config('otask.feed', 'on', true);
    perform otask.require_account();

    -- Sizes first, before any JSON is made: a page of large notes must not be read whole to find its end.
    with sizes as (
        select s.change_seq, s.size from (
            (select t.change_seq, octet_length(t.title) + octet_length(t.notes) + coalesce(octet_length(t.path), 0)
                + octet_length(t.properties::text) + octet_length(t.changed::text) + 400 as size
            from public.tasks t where t.user_id = me and t.change_seq > from_seq order by t.change_seq limit most + 1)
            union all
            (select p.change_seq, octet_length(p.name) + coalesce(octet_length(p.object_path), 0)
                + octet_length(p.changed::text) + 600
            from public.photos p where p.user_id = me and p.change_seq > from_seq order by p.change_seq limit most + 1)
            union all
            (select p.change_seq, coalesce(octet_length(p.username), 0) + coalesce(octet_length(p.full_name), 0)
                + coalesce(octet_length(p.website), 0) + coalesce(octet_length(p.avatar_url), 0)
                + octet_length(p.changed::text) + 400
            from public.profiles p where p.id = me and p.change_seq > from_seq)
        ) s order by s.change_seq limit most + 1
    ),
    totals as (
        select s.change_seq, row_number() over w as number, sum(s.size) over w as bytes
        from sizes s window w as (order by s.change_seq)
    ),
    fitting as (
        select t.change_seq from totals t where t.number <= most and (t.bytes <= most_bytes or t.number = 1)
    )
    select coalesce(max(f.change_seq), from_seq), count(*) < (select count(*) from sizes)
    into last, more from fitting f;

    select coalesce(jsonb_agg(r.content order by r.change_seq), '[]') into page from (
        select t.change_seq, otask.row_json(t) || '{"table": "tasks"}' as content
        from public.tasks t where t.user_id = me and t.change_seq > from_seq and t.change_seq <= last
        union all
        select p.change_seq, otask.row_json(p) || '{"table": "photos"}'
        from public.photos p where p.user_id = me and p.change_seq > from_seq and p.change_seq <= last
        union all
        select p.change_seq, otask.row_json(p) || '{"table": "profiles"}'
        from public.profiles p where p.id = me and p.change_seq > from_seq and p.change_seq <= last
    ) r;

    if more then
        newest := last;
    else
        select count(*), coalesce(sum(a.change_seq), 0), coalesce(max(a.change_seq), 0)
        into total, sum_of_all, newest from (
            select t.change_seq from public.tasks t where t.user_id = me
            union all select p.change_seq from public.photos p where p.user_id = me
            union all select p.change_seq from public.profiles p where p.id = me
        ) a;
    end if;

    return jsonb_build_object(
        'rows', page, 'next', last, 'more', more, 'user_id', me,
        'schema_version', public.otask_schema_version(), 'server_time', clock_timestamp(),
        'applied', (
            select coalesce(jsonb_agg(f.change_id order by f.place), '[]')
            from unnest(in_flight) with ordinality f (change_id, place)
            where exists (
                select from public.applied_changes a where a.user_id = me and a.change_id = f.change_id)),
        'behind', from_seq > newest, 'total', total, 'sum', sum_of_all::text);
end
$$;

-- Writes one change whose versions fit: the row is made, edited, revived or deleted.
create or replace function otask.write_change(change jsonb, item uuid, is_new boolean) returns void
    language plpgsql volatile
    set search_path = public, extensions, pg_temp set enable_seqscan = off
as $$
declare
    me uuid := auth.uid();
    tab text := change ->> 'table';
    fields jsonb := coalesce(nullif(change -> 'fields', 'null'), '{}');
    added jsonb := coalesce(nullif(change -> 'properties', 'null'), '{}');
    removed text[] := array(
        select jsonb_array_elements_text(coalesce(nullif(change -> 'removed', 'null'), '[]')));
begin
    if change ->> 'op' = 'delete' then
        if tab = 'tasks' then
            delete from public.tasks t where t.id = item and t.user_id = me;
        else
            delete from public.photos p where p.id = item and p.user_id = me;
        end if;
    elsif is_new and tab = 'tasks' then
        insert into public.tasks (id, user_id, title, notes, done, path, properties)
        values (item, me, fields ->> 'title',
            case when fields ? 'notes' then fields ->> 'notes' else '' end,
            case when fields ? 'done' then (fields ->> 'done')::boolean else false end,
            fields ->> 'path', added);
    elsif is_new and tab = 'photos' then
        insert into public.photos (id, user_id, task_id, name, object_path, bytes, content_type, sha256)
        values (item, me, (fields ->> 'task_id')::uuid, fields ->> 'name', fields ->> 'object_path',
            (fields ->> 'bytes')::bigint, fields ->> 'content_type', fields ->> 'sha256');
    elsif is_new then
        insert into public.profiles (id, username, full_name, website, avatar_url)
        values (item, fields ->> 'username', fields ->> 'full_name', fields ->> 'website', fields ->> 'avatar_url');
    else
        perform set_config('otask.op', format('revive %s %s', tab, item), true);
        if tab = 'tasks' then
            update public.tasks t set
                title = case when fields ? 'title' then fields ->> 'title' else t.title end,
                notes = case when fields ? 'notes' then fields ->> 'notes' else t.notes end,
                done = case when fields ? 'done' then (fields ->> 'done')::boolean else t.done end,
                path = case when fields ? 'path' then fields ->> 'path' else t.path end,
                properties = case when added = '{}' and removed = '{}' then t.properties
                    else (t.properties - removed) || added end
            where t.id = item and t.user_id = me;
        elsif tab = 'photos' then
            update public.photos p set
                task_id = case when fields ? 'task_id' then (fields ->> 'task_id')::uuid else p.task_id end,
                name = case when fields ? 'name' then fields ->> 'name' else p.name end,
                object_path = case when fields ? 'object_path' then fields ->> 'object_path' else p.object_path end,
                bytes = case when fields ? 'bytes' then (fields ->> 'bytes')::bigint else p.bytes end,
                content_type = case when fields ? 'content_type' then fields ->> 'content_type' else p.content_type end,
                sha256 = case when fields ? 'sha256' then fields ->> 'sha256' else p.sha256 end
            where p.id = item and p.user_id = me;
        else
            update public.profiles p set
                username = case when fields ? 'username' then fields ->> 'username' else p.username end,
                full_name = case when fields ? 'full_name' then fields ->> 'full_name' else p.full_name end,
                website = case when fields ? 'website' then fields ->> 'website' else p.website end,
                avatar_url = case when fields ? 'avatar_url' then fields ->> 'avatar_url' else p.avatar_url end
            where p.id = item and item = me;
        end if;
        perform set_config('otask.op', '', true);
    end if;
end
$$;

-- Applies each change in a savepoint of its own and answers in their order: applied, conflict (the version moved), refused
-- (a rule said no) or held (what it depends on wasn't applied). One that was applied before is answered with the row as it
-- now stands. Passing failures end the whole call.
create or replace function public.push_changes(changes jsonb) returns jsonb
    language plpgsql volatile
    set search_path = public, extensions, pg_temp set enable_seqscan = off set timezone = 'UTC'
as $$
declare
    me uuid := auth.uid();
    change jsonb;
    answers jsonb[] := '{}';
    -- Items with a change applied in this call: the version that it left behind is known to the next one. A repeat doesn't
    -- count, another writer may have been in between.
    written uuid[] := '{}';
    -- Items whose last change in this call was not applied.
    failed text[] := '{}';
    status text;
    code text;
    message text;
    row_now jsonb;
    tab text;
    item uuid;
    number uuid;
    base bigint;
    task uuid;
begin
    if jsonb_typeof(changes) is distinct from 'array' then
        raise exception using errcode = '22023', message = 'changes must be an array';
    end if;
    perform otask.lock_owner(me);
    perform set_config('otask.feed', 'on', true);
    perform otask.require_account();
    perform set_config('otask.heads', 'later', true);

    for change in select e.value from jsonb_array_elements(changes) e loop
        code := null;
        message := null;
        row_now := null;
        item := null;
        number := null;
        tab := null;
        begin
            if jsonb_typeof(change) <> 'object' then
                raise exception using errcode = '22023', message = 'a change must be an object';
            end if;
            item := (change ->> 'id')::uuid;
            number := (change ->> 'change_id')::uuid;
            tab := change ->> 'table';
            base := (change ->> 'base_version')::bigint;
            if number is null or item is null then
                raise exception using errcode = '22023',
                    message = case when number is null then 'change_id' else 'id' end || ' is missing';
            elsif tab is null or tab not in ('tasks', 'photos', 'profiles') then
                raise exception using errcode = '42P01', message = format('there is no table "%s"', coalesce(tab, ''));
            elsif change ->> 'op' is null or change ->> 'op' not in ('upsert', 'delete') then
                raise exception using errcode = '22023', message = 'op must be upsert or delete';
            end if;
            perform set_config('otask.device', coalesce(change ->> 'device', ''), true);
            perform set_config('otask.change', number::text, true);
            perform set_config('otask.allowed', coalesce((change ->> 'allowed')::boolean, false)::text, true);
            row_now := otask.own_row(tab, item);
            if item = any (written) then
                base := (row_now ->> 'version')::bigint;
            end if;
            task := case when tab = 'photos' then
                coalesce((change -> 'fields' ->> 'task_id')::uuid, (row_now ->> 'task_id')::uuid) end;

            if exists (select from public.applied_changes a where a.user_id = me and a.change_id = number) then
                status := 'repeated';
            elsif change ->> 'op' = 'upsert' and task::text = any (failed) then
                status := 'held';
            elsif base is null and (row_now is not null or change ->> 'op' = 'delete')
                or base is not null and (row_now ->> 'version')::bigint is distinct from base
            then
                status := 'conflict';
            elsif tab = 'profiles' and change ->> 'op' = 'delete' then
                raise exception using errcode = '42501', message = 'a profile can''t be deleted';
            elsif change ->> 'op' = 'delete' and tab = 'tasks' and row_now ->> 'deleted_at' is null and exists (
                select from public.photos p
                where p.task_id = item and p.user_id = me and p.deleted_at is null
                    and p.change_seq > (change ->> 'seen')::bigint)
            then
                status := 'conflict';
            else
                status := 'applied';
                perform otask.write_change(change, item, base is null);
                row_now := otask.own_row(tab, item);
                insert into public.applied_changes (user_id, change_id, id, version, applied_at)
                values (me, number, item, (row_now ->> 'version')::bigint, clock_timestamp());
                written := written || item;
                failed := array_remove(failed, item::text);
            end if;
        exception
            when others then
                if left(sqlstate, 2) not in ('22', '23', '42', '44', '54', 'P0', 'OT') then
                    raise;
                end if;
                code := sqlstate;
                message := sqlerrm;
                if code like 'OT%' then
                    status := 'conflict';
                    row_now := otask.own_row(tab, item);
                else
                    status := 'refused';
                end if;
        end;
        if status in ('conflict', 'refused', 'held') and item is not null then
            failed := failed || item::text;
        end if;
        answers := answers || jsonb_build_object(
            'change_id', change -> 'change_id',
            'status', case status when 'repeated' then 'applied' else status end,
            'code', code, 'message', message,
            'row', case when status in ('refused', 'held') then null else row_now end);
    end loop;
    perform set_config('otask.device', '', true), set_config('otask.change', '', true),
        set_config('otask.allowed', '', true), set_config('otask.heads', '', true);
    perform otask.move_own_head();
    return to_jsonb(answers);
end
$$;

-- Ticks every open task; how many there were. For clients without files.
create or replace function public.mark_all_done() returns integer
    language plpgsql volatile
    set search_path = public, extensions, pg_temp
as $$
declare
    ticked integer;
begin
    update public.tasks t set done = true where t.user_id = auth.uid() and t.deleted_at is null and not t.done;
    get diagnostics ticked = row_count;
    return ticked;
end
$$;

create or replace function public.task_counts() returns jsonb
    language sql stable
    set search_path = ''
as $$
    select jsonb_build_object(
        'open', (select count(*) from public.tasks t
            where t.user_id = auth.uid() and t.deleted_at is null and not t.done),
        'done', (select count(*) from public.tasks t where t.user_id = auth.uid() and t.deleted_at is null and t.done),
        'photos', (select count(*) from public.photos p where p.user_id = auth.uid() and p.deleted_at is null),
        'bytes', (select coalesce(sum(p.bytes), 0) from public.photos p
            where p.user_id = auth.uid() and p.deleted_at is null))
$$;

-- The paths of objects that were let go long enough ago and that no live row names: the caller removes them from Storage.
-- They stay marked, so that no row ever names one again. Security definer: nobody may shorten the time.
create or replace function public.collect_released(max integer) returns jsonb
    language plpgsql volatile security definer
    set search_path = ''
as $$
declare
    me uuid := auth.uid();
    paths jsonb;
begin
    perform otask.lock_owner(me);
    with due as (
        select r.path from public.released_objects r
        where r.user_id = me and r.collected_at is null
            and r.released_at < clock_timestamp() - (select s.keep_objects from otask.settings s)
            and not exists (
                select from public.photos p
                where p.user_id = me and p.deleted_at is null and p.object_path = r.path)
        order by r.released_at limit max
    ),
    collected as (
        update public.released_objects r set collected_at = clock_timestamp()
        from due where r.user_id = me and r.path = due.path returning r.path
    )
    select coalesce(jsonb_agg(c.path), '[]') into paths from collected c;
    return paths;
end
$$;

-- Takes the texts out of old tombstones and forgets which changes were applied that long ago; how many rows were emptied.
-- For pg_cron (`select cron.schedule('otask', '0 3 * * *', 'select purge_tombstones()')`) or a person.
create or replace function public.purge_tombstones() returns integer
    language plpgsql volatile
    set search_path = public, extensions, pg_temp
as $$
declare
    before timestamptz := clock_timestamp() - (select s.keep_texts from otask.settings s);
    old record;
    emptied integer := 0;
begin
    -- Before anything is looked up: what is revived meanwhile must not be emptied.
    perform otask.lock_owner(null);
    delete from public.applied_changes a where a.applied_at < before;
    for old in
        select t.id from public.tasks t where t.deleted_at < before
            and (t.title, t.notes, t.path, t.properties) is distinct from ('', '', null, '{}'::jsonb)
        order by t.change_seq
    loop
        perform set_config('otask.op', 'purge tasks ' || old.id, true);
        update public.tasks t set title = '', notes = '', path = null, properties = '{}'
        where t.id = old.id and t.deleted_at < before;
        emptied := emptied + 1;
    end loop;
    for old in
        select p.id from public.photos p where p.deleted_at < before
            and (p.name <> '' or p.object_path is not null) order by p.change_seq
    loop
        perform set_config('otask.op', 'purge photos ' || old.id, true);
        update public.photos p set name = '', object_path = null where p.id = old.id and p.deleted_at < before;
        emptied := emptied + 1;
    end loop;
    perform set_config('otask.op', '', true);
    return emptied;
end
$$;

revoke execute on all functions in schema otask from public, anon, authenticated;
grant execute on function
    otask.lock_owner(uuid), otask.row_json(public.tasks), otask.row_json(public.photos), otask.row_json(public.profiles),
    otask.own_row(text, uuid), otask.require_account(), otask.write_change(jsonb, uuid, boolean),
    otask.move_own_head()
    to authenticated, service_role;

revoke execute on function
    public.otask_schema_version(), public.pull_changes(bigint, integer, bigint, uuid[]), public.push_changes(jsonb),
    public.mark_all_done(), public.task_counts(), public.collect_released(integer), public.purge_tombstones()
    from public, anon, authenticated;
grant execute on function
    public.otask_schema_version(), public.pull_changes(bigint, integer, bigint, uuid[]), public.push_changes(jsonb),
    public.mark_all_done(), public.task_counts(), public.collect_released(integer)
    to authenticated, service_role;
grant execute on function public.purge_tombstones() to service_role;

-- ---------------------------------------------------------------------------------------------------------------------
-- Storage: a private bucket of photos, whose objects are written once, and the tutorial's bucket of avatars
-- ---------------------------------------------------------------------------------------------------------------------

insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) values
    ('photos', 'photos', false, 52428800,
        array['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/heic', 'image/avif', 'image/tiff']),
    ('avatars', 'avatars', false, 5242880, null)
on conflict (id) do nothing;

drop policy if exists "Avatar images are publicly accessible." on storage.objects;
drop policy if exists "Anyone can upload an avatar." on storage.objects;
drop policy if exists "Anyone can update their own avatar." on storage.objects;
-- As the tutorial had it before: without a using clause, which lets anybody change every object they can see.
drop policy if exists "Anyone can update an avatar." on storage.objects;

-- Own objects are those in the folder of the own id; the tutorial puts avatars at the root, where their owner counts.
drop policy if exists "otask: see own objects" on storage.objects;
create policy "otask: see own objects" on storage.objects for select to authenticated
    using (bucket_id in ('photos', 'avatars')
        and ((storage.foldername(name))[1] = (select auth.uid())::text or owner_id = (select auth.uid())::text));
drop policy if exists "otask: add own photos" on storage.objects;
create policy "otask: add own photos" on storage.objects for insert to authenticated
    with check (bucket_id = 'photos' and (storage.foldername(name))[1] = (select auth.uid())::text);
drop policy if exists "otask: add own avatars" on storage.objects;
create policy "otask: add own avatars" on storage.objects for insert to authenticated
    with check (bucket_id = 'avatars'
        and ((storage.foldername(name))[1] = (select auth.uid())::text or owner_id = (select auth.uid())::text));
-- No update of photos: an object's bytes never change under its path.
drop policy if exists "otask: change own avatars" on storage.objects;
create policy "otask: change own avatars" on storage.objects for update to authenticated
    using (bucket_id = 'avatars'
        and ((storage.foldername(name))[1] = (select auth.uid())::text or owner_id = (select auth.uid())::text))
    with check (bucket_id = 'avatars'
        and ((storage.foldername(name))[1] = (select auth.uid())::text or owner_id = (select auth.uid())::text));
drop policy if exists "otask: remove own objects" on storage.objects;
create policy "otask: remove own objects" on storage.objects for delete to authenticated
    using (bucket_id in ('photos', 'avatars')
        and ((storage.foldername(name))[1] = (select auth.uid())::text or owner_id = (select auth.uid())::text));

do $$
declare
    other record;
begin
    for other in
        select policyname from pg_policies
        where schemaname = 'storage' and tablename = 'objects' and permissive = 'PERMISSIVE'
            and policyname not like 'otask: %'
    loop
        raise warning 'storage.objects has the policy "%" of your own, which stays: policies add up', other.policyname;
    end loop;
    for other in select id from storage.buckets where id in ('photos', 'avatars') and public loop
        raise warning 'the bucket % is public, and stays so: whoever knows an object''s address can read it', other.id;
    end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Realtime
-- ---------------------------------------------------------------------------------------------------------------------

do $$
declare
    tab text;
begin
    if not exists (select from pg_publication where pubname = 'supabase_realtime') then
        create publication supabase_realtime;
    end if;
    foreach tab in array array['sync_heads', 'tasks', 'photos', 'profiles'] loop
        if not exists (
            select from pg_publication_tables
            where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = tab)
        then
            execute format('alter publication supabase_realtime add table public.%I', tab);
        end if;
    end loop;
end
$$;

commit;
