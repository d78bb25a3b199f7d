-- What happens to written rows, whoever writes them: versions, numbers, times, tombstones, photos and their objects.
begin;
select plan(64);

create function pg_temp.act_as(id uuid) returns void language sql as $$
    select set_config('role', 'authenticated', true), set_config('otask.feed', '', true),
        set_config('request.jwt.claims', json_build_object('sub', id, 'role', 'authenticated')::text, true)
$$;
-- A row as it is, tombstone or not.
create function pg_temp.task(n int) returns tasks language plpgsql as $$
declare
    before text := current_setting('otask.feed', true);
    row tasks;
begin
    perform set_config('otask.feed', 'on', true);
    select * into row from tasks t where t.id = ('a0000000-0000-4000-8000-00000000000' || n)::uuid;
    perform set_config('otask.feed', coalesce(before, ''), true);
    return row;
end $$;
create function pg_temp.photo(n int) returns photos language plpgsql as $$
declare
    before text := current_setting('otask.feed', true);
    row photos;
begin
    perform set_config('otask.feed', 'on', true);
    select * into row from photos p where p.id = ('b0000000-0000-4000-8000-00000000000' || n)::uuid;
    perform set_config('otask.feed', coalesce(before, ''), true);
    return row;
end $$;

insert into auth.users (id, email) values
    ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test'), ('b0b00000-0000-4000-8000-000000000002', 'ben@otask.test');
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');

-- An insert: what is said about bookkeeping doesn't count.
insert into tasks (id, title, version, change_seq, deleted_at, allowed, changed, updated_at) values
    ('a0000000-0000-4000-8000-000000000001', 'one', 9, 9, now(), true, '{"title": 1}', '2001-01-01');
select is((pg_temp.task(1)).user_id, 'a11ce000-0000-4000-8000-000000000001'::uuid, 'the writer owns it');
select is((pg_temp.task(1)).version, 1::bigint, 'a new row has version 1');
select is((pg_temp.task(1)).deleted_at, null, 'and lives');
select is((pg_temp.task(1)).allowed, false, 'and nothing is allowed');
select is((pg_temp.task(1)).changed, '{}', 'and nothing was changed');
select ok((pg_temp.task(1)).updated_at > now() - interval '1 day', 'its time is the server''s');
select isnt((pg_temp.task(1)).change_seq, 9::bigint, 'its number is drawn');
select is((select change_seq from sync_heads), (pg_temp.task(1)).change_seq, 'the head moves to it');
create temporary table numbers as select (pg_temp.task(1)).change_seq as seq;

-- An update.
update tasks set title = 'uno', notes = 'n' where id = 'a0000000-0000-4000-8000-000000000001';
select is((pg_temp.task(1)).version, 2::bigint, 'an edit is a new version');
select ok((pg_temp.task(1)).change_seq > (select max(seq) from numbers), 'and has a later number');
select is(
    (select array_agg(key order by key) from jsonb_object_keys((pg_temp.task(1)).changed) key), array['notes', 'title'],
    'what was changed is noted');
select is((pg_temp.task(1)).changed -> 'title' -> 1, 'null', 'by no device');
select is((select change_seq from sync_heads), (pg_temp.task(1)).change_seq, 'the head follows');
update tasks set title = 'uno' where id = 'a0000000-0000-4000-8000-000000000001';
select is((pg_temp.task(1)).version, 2::bigint, 'an edit that says what is there moves nothing');
update tasks set version = 7, change_seq = 7, deleted_at = now(), allowed = true, changed = '{}', created_at = '2001-01-01',
    id = gen_random_uuid(), user_id = 'b0b00000-0000-4000-8000-000000000002', updated_at = '2001-01-01'
where id = 'a0000000-0000-4000-8000-000000000001';
select is((pg_temp.task(1)).version, 2::bigint, 'bookkeeping, id, owner and birth can''t be written');
select is((pg_temp.task(1)).deleted_at, null, 'nor a deletion');
select ok((pg_temp.task(1)).created_at > now() - interval '1 day', 'nor another birth');
select is((pg_temp.task(1)).user_id, 'a11ce000-0000-4000-8000-000000000001'::uuid, 'nor another owner');
update tasks set properties = '{"a": 1, "b": 2}' where id = 'a0000000-0000-4000-8000-000000000001';
update tasks set properties = '{"b": 3}' where id = 'a0000000-0000-4000-8000-000000000001';
select ok((pg_temp.task(1)).changed ?& array['properties.a', 'properties.b'], 'own keys are noted one by one');
select ok(not (pg_temp.task(1)).changed ? 'properties', 'and not as a whole');

-- Deletion and revival.
insert into photos (id, task_id, name, object_path, bytes, sha256) values
    ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'a.jpg',
        'a11ce000-0000-4000-8000-000000000001/a.jpg', 5, 'aa'),
    ('b0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000001', 'b.jpg',
        'a11ce000-0000-4000-8000-000000000001/b.jpg', 6, 'bb');
delete from photos where id = 'b0000000-0000-4000-8000-000000000002';
select isnt((pg_temp.photo(2)).deleted_at, null, 'a deleted photo is a tombstone');
select is((pg_temp.photo(2)).name, 'b.jpg', 'that keeps its fields');
select is((pg_temp.photo(2)).deleted_with_task, false, 'deleted on its own');
select results_eq('select path, bytes, sha256 from released_objects',
    $$values ('a11ce000-0000-4000-8000-000000000001/b.jpg', 6::bigint, 'bb')$$, 'its object is let go');

delete from tasks where id = 'a0000000-0000-4000-8000-000000000001';
select isnt((pg_temp.task(1)).deleted_at, null, 'a deleted task is a tombstone');
select is((pg_temp.task(1)).title, 'uno', 'that keeps its fields');
select is((pg_temp.task(1)).version, 5::bigint, 'a new version');
select is((pg_temp.task(1)).allowed, false, 'and a plain deletion is not allowed beforehand');
select isnt((pg_temp.photo(1)).deleted_at, null, 'its live photo goes with it');
select is((pg_temp.photo(1)).deleted_with_task, true, 'and is marked');
select is((pg_temp.photo(2)).deleted_with_task, false, 'the one that was deleted before is not');
select is((pg_temp.photo(2)).version, 2::bigint, 'nor touched');
select is((select count(*)::int from released_objects), 2, 'both objects are let go');
select is((select change_seq from sync_heads), greatest((pg_temp.task(1)).change_seq, (pg_temp.photo(1)).change_seq),
    'the head has moved beyond both');
delete from tasks where id = 'a0000000-0000-4000-8000-000000000001';
select is((pg_temp.task(1)).version, 5::bigint, 'a tombstone is not deleted again');
select throws_ok(
    $$insert into photos (task_id, name, object_path) values ('a0000000-0000-4000-8000-000000000001', 'x',
        'a11ce000-0000-4000-8000-000000000001/x')$$, 'OT001', 'the task of this photo is deleted',
    'a live photo needs a live task');

insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000001', 'uno')
    on conflict (id) do update set title = excluded.title;
select isnt((pg_temp.task(1)).deleted_at, null, 'an upsert that says what the tombstone says leaves it');
insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000001', 'back')
    on conflict (id) do update set title = excluded.title;
select is((pg_temp.task(1)).deleted_at, null, 'one that says something else revives it');
select is((pg_temp.task(1)).version, 6::bigint, 'as a new version');
select is((pg_temp.photo(1)).deleted_at, null, 'with the photo that went with it');
select is((pg_temp.photo(1)).deleted_with_task, false, 'which is marked no more');
select isnt((pg_temp.photo(2)).deleted_at, null, 'and without the one that was deleted before');
select results_eq('select path from released_objects', $$values ('a11ce000-0000-4000-8000-000000000001/b.jpg')$$,
    'an object that a row names again is not let go any more');
insert into photos (id, task_id, name, object_path) values
    ('b0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000001', 'c.jpg',
        'a11ce000-0000-4000-8000-000000000001/b.jpg')
    on conflict (id) do update set name = excluded.name;
select is((pg_temp.photo(2)).deleted_at, null, 'a photo''s tombstone is revived likewise');
select is_empty('select * from released_objects', 'and its object is not let go any more');

-- Photos: replaced, moved.
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000002', 'two');
update photos set object_path = 'a11ce000-0000-4000-8000-000000000001/new.jpg', bytes = 7, sha256 = 'cc'
where id = 'b0000000-0000-4000-8000-000000000001';
select results_eq('select path, bytes from released_objects',
    $$values ('a11ce000-0000-4000-8000-000000000001/a.jpg', 5::bigint)$$, 'a replaced photo lets its old object go');
update photos set task_id = 'a0000000-0000-4000-8000-000000000002' where id = 'b0000000-0000-4000-8000-000000000001';
delete from tasks where id = 'a0000000-0000-4000-8000-000000000001';
select is((pg_temp.photo(1)).deleted_at, null, 'a photo that moved doesn''t go with its former task');
delete from photos where id = 'b0000000-0000-4000-8000-000000000001';
delete from tasks where id = 'a0000000-0000-4000-8000-000000000002';
select is((pg_temp.photo(1)).deleted_with_task, false, 'nor is one that was deleted before marked');
select throws_ok(
    $$insert into photos (id, task_id, name, object_path) values
        ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000002', 'again.jpg',
            'a11ce000-0000-4000-8000-000000000001/new.jpg')
        on conflict (id) do update set name = excluded.name$$, 'OT001', null,
    'a photo of a deleted task is not revived');

-- Bulk writes, and another app's trigger in between.
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
insert into tasks (id, title) select ('a0000000-0000-4000-8000-00000000000' || n)::uuid, 'bulk ' || n
    from generate_series(3, 5) n;
delete from tasks where title like 'bulk%' and title <> 'bulk 5';
select isnt((pg_temp.task(3)).deleted_at, null, 'a bulk deletion takes each row');
select isnt((pg_temp.task(4)).deleted_at, null, 'every one');
select is((pg_temp.task(5)).deleted_at, null, 'and no other');
update tasks set done = true where not done;
select isnt((pg_temp.task(3)).deleted_at, null, 'a bulk update leaves tombstones alone');
select is((pg_temp.task(3)).done, false, 'all of them');
select is((pg_temp.task(5)).done, true, 'and ticks the others');
select is((select count(distinct change_seq) from tasks), (select count(*) from tasks), 'no number is given twice');

-- A writer without a user.
reset role;
select set_config('request.jwt.claims', '', true);
set local role service_role;
update tasks set notes = 'by the service' where id = 'a0000000-0000-4000-8000-000000000005';
select is((pg_temp.task(5)).version, 3::bigint, 'the service role''s writes are stamped');
delete from tasks where id = 'a0000000-0000-4000-8000-000000000005';
select isnt((pg_temp.task(5)).deleted_at, null, 'and its deletions make tombstones');
reset role;
update tasks set notes = 'by the owner' where id = 'a0000000-0000-4000-8000-000000000004';
select is((pg_temp.task(4)).deleted_at, null, 'the owner of the database revives what it edits');

-- Profiles.
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
update profiles set full_name = 'Ann', version = 9;
select is((select version from profiles), 2::bigint, 'a profile is stamped');
select is((select change_seq from sync_heads), (select change_seq from profiles), 'and moves the head');
update profiles set full_name = 'Ann';
select is((select version from profiles), 2::bigint, 'unless nothing changed');
insert into profiles (id, full_name) values ('a11ce000-0000-4000-8000-000000000001', 'Ann A.')
    on conflict (id) do update set full_name = excluded.full_name;
select is((select full_name from profiles), 'Ann A.', 'the tutorial''s upsert works');
select ok((select changed ? 'full_name' from profiles), 'and is noted');

select * from finish();
rollback;
