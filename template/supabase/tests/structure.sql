-- The tables, their keys and triggers, and who has which rights.
begin;
select plan(50);

select has_table('public', name, name || ' is there')
from unnest(array['tasks', 'photos', 'profiles', 'applied_changes', 'sync_heads', 'released_objects']) name;

select is(
    (select array_agg(relname::text order by relname) from pg_class
        where relnamespace in ('public'::regnamespace, 'otask'::regnamespace) and relkind = 'r' and not relrowsecurity
            and relname in (
                'tasks', 'photos', 'profiles', 'applied_changes', 'sync_heads', 'released_objects', 'settings')),
    null, 'row level security is on everywhere');

select col_not_null('public', tab, col, format('%s.%s is never null', tab, col))
from (values ('tasks', 'title'), ('tasks', 'notes'), ('tasks', 'done'), ('tasks', 'properties'), ('photos', 'task_id'),
    ('photos', 'name'), ('tasks', 'version'), ('photos', 'change_seq')) as c (tab, col);

select col_is_pk('public', 'tasks', 'id', 'a task has its id');
select col_is_pk('public', 'photos', 'id', 'a photo has its id');
select col_is_pk('public', 'profiles', 'id', 'a profile has its user''s id');
select col_is_unique('public', 'photos', array['user_id', 'object_path'], 'an object is one photo''s');
select col_is_unique('public', 'profiles', 'username', 'a username is one user''s');
select fk_ok('public', 'photos', array['task_id', 'user_id'], 'public', 'tasks', array['id', 'user_id']);
select is(confdeltype, 'c', format('%s goes with the account', conrelid::regclass))
from pg_constraint
where confrelid = 'auth.users'::regclass and conrelid in (
    'public.tasks'::regclass, 'public.photos'::regclass, 'public.profiles'::regclass,
    'public.applied_changes'::regclass, 'public.sync_heads'::regclass, 'public.released_objects'::regclass)
order by conrelid::regclass::text;

-- Triggers fire in the order of their names.
select is(
    (select array_agg(tgname::text order by tgname collate "C") from pg_trigger
        where tgrelid = format('public.%I', tab)::regclass and not tgisinternal and tgname like '%otask%'),
    names, format('%s has its triggers', tab))
from (values
    ('tasks', array['_otask_after', '_otask_head_insert', '_otask_head_update', '_otask_lock', 'zz_otask_delete',
        'zz_otask_insert', 'zz_otask_stamp']),
    ('photos', array['_otask_after', '_otask_head_insert', '_otask_head_update', '_otask_lock', 'zz_otask_delete',
        'zz_otask_insert', 'zz_otask_stamp']),
    ('profiles', array['_otask_head_insert', '_otask_head_update', '_otask_lock', 'zz_otask_insert',
        'zz_otask_stamp'])) as t (tab, names);
select is(
    (select array_agg(tgname::text order by tgname collate "C") from pg_trigger
        where tgrelid = 'auth.users'::regclass and tgname like '%otask%'),
    array['_otask_lock', '_otask_owner', 'zz_otask_profile'], 'accounts have their triggers');

-- Rights: the anonymous role has none.
select table_privs_are('public', name, 'anon', '{}', 'without a session nobody touches ' || name)
from unnest(array['tasks', 'photos', 'profiles', 'applied_changes', 'sync_heads', 'released_objects']) name;
select table_privs_are('public', name, 'authenticated', rights, 'users have the right rights to ' || name)
from (values
    ('tasks', array['SELECT', 'INSERT', 'UPDATE', 'DELETE']), ('photos', array['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
    ('profiles', array['SELECT', 'INSERT', 'UPDATE']), ('applied_changes', array['SELECT', 'INSERT']),
    ('sync_heads', array['SELECT']), ('released_objects', array['SELECT'])) as r (name, rights);
select is(has_sequence_privilege('authenticated', 'otask.change_seq', 'usage'), false, 'nobody draws a number by hand');
select is(has_table_privilege('authenticated', 'otask.settings', 'select, update'), false, 'settings are the owner''s');

select is(
    (select array_agg(p.proname::text order by p.proname) from pg_proc p
        where pronamespace in ('public'::regnamespace, 'otask'::regnamespace)
            and (pronamespace = 'otask'::regnamespace or proname in ('push_changes', 'pull_changes', 'mark_all_done',
                'task_counts', 'collect_released', 'purge_tombstones', 'otask_schema_version'))
            and has_function_privilege('anon', p.oid, 'execute')),
    null, 'without a session nobody runs a function');
select is(
    (select array_agg(proname::text order by proname) from pg_proc p
        where pronamespace = 'public'::regnamespace and proname in ('push_changes', 'pull_changes', 'mark_all_done',
            'task_counts', 'collect_released', 'purge_tombstones', 'otask_schema_version')
            and has_function_privilege('authenticated', p.oid, 'execute')),
    array['collect_released', 'mark_all_done', 'otask_schema_version', 'pull_changes', 'push_changes', 'task_counts'],
    'users run all functions but the purge');
select is(
    (select provolatile from pg_proc where oid = 'public.pull_changes(bigint,integer,bigint,uuid[])'::regprocedure), 's',
    'a page of the feed is read from one snapshot');
select is(
    (select prosecdef from pg_proc where oid = 'public.push_changes(jsonb)'::regprocedure), false,
    'a batch is written with its user''s rights');

select set_has(
    'select tablename::text from pg_publication_tables where pubname = ''supabase_realtime''',
    $$values ('tasks'), ('photos'), ('profiles'), ('sync_heads')$$, 'live updates are published');
select * from finish();
rollback;
