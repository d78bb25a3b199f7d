-- The functions: batches, the feed, counts, what is collected and purged. The request lists of the program's own tests go
-- further; here stands what a project must do for itself.
begin;
select plan(30);

create function pg_temp.act_as(id uuid) returns void language sql as $$
    select set_config('role', 'authenticated', true), set_config('otask.feed', '', true),
        set_config('request.jwt.claims', json_build_object('sub', id, 'role', 'authenticated')::text, true)
$$;
-- One change to the first task, pushed alone; its answer.
create function pg_temp.push(number int, op text, base bigint, fields jsonb, more jsonb default '{}') returns jsonb
language sql as $$
    select push_changes(jsonb_build_array(jsonb_build_object(
        'change_id', 'c0000000-0000-4000-8000-00000000000' || number, 'device', 'laptop', 'table', 'tasks', 'op', op,
        'id', 'a0000000-0000-4000-8000-000000000001', 'base_version', base, 'fields', fields) || more)) -> 0
$$;

insert into auth.users (id, email) values
    ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test'), ('b0b00000-0000-4000-8000-000000000002', 'ben@otask.test');
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');

select is(otask_schema_version(), 1, 'the schema has a version');
select is(pg_temp.push(1, 'upsert', null, '{"title": "one"}') ->> 'status', 'applied', 'an insert');
select is(pg_temp.push(1, 'upsert', null, '{"title": "one"}') -> 'row' -> 'version', '1', 'sent again it isn''t applied again');
select is(pg_temp.push(2, 'upsert', 1, '{"done": true}') -> 'row' -> 'changed' -> 'done' -> 1, '"laptop"', 'an edit by a device');
select is(pg_temp.push(3, 'upsert', 1, '{"title": "late"}') ->> 'status', 'conflict', 'an edit of an old version');
select is(pg_temp.push(4, 'upsert', 2, '{"title": ""}') ->> 'code', '23514', 'a refused edit');
select is(pg_temp.push(5, 'delete', 2, '{}', '{"allowed": true}') -> 'row' -> 'allowed', 'true', 'an allowed deletion');
select is(pg_temp.push(6, 'upsert', 3, '{}') -> 'row' ->> 'deleted_at', null, 'a revival with nothing new');
select throws_ok('select push_changes(null)', '22023', 'changes must be an array', 'no batch at all');

select is(jsonb_array_length(pull_changes(0) -> 'rows'), 2, 'the feed holds the profile and the task');
select is(pull_changes(0) ->> 'user_id', 'a11ce000-0000-4000-8000-000000000001', 'and says whose it is');
select is(pull_changes(0) -> 'total', '2', 'the last page counts all rows');
select is(
    (pull_changes(0) ->> 'sum')::bigint, (select sum(s) from (select change_seq from tasks union all
        select change_seq from profiles) as a (s))::bigint, 'and sums their numbers');
select is(pull_changes(0, 1) -> 'more', 'true', 'a page may end before');
select is(pull_changes(0, 1) -> 'total', 'null', 'and counts nothing then');
select is(pull_changes((pull_changes(0) -> 'next')::bigint) -> 'rows', '[]', 'after the cursor there is nothing');
select is(pull_changes(999999999999) -> 'behind', 'true', 'a cursor beyond the newest number is told');
select is(
    pull_changes(0, in_flight => array['c0000000-0000-4000-8000-000000000009', 'c0000000-0000-4000-8000-000000000002']::uuid[])
        -> 'applied', '["c0000000-0000-4000-8000-000000000002"]', 'what was in flight is told');

select is(task_counts() -> 'done', '1', 'counts');
select pg_temp.push(7, 'upsert', 4, '{"done": false}');
select is(mark_all_done(), 1, 'all open tasks are ticked');
select is(mark_all_done(), 0, 'once');

-- Objects that were let go.
insert into photos (id, task_id, name, object_path) values
    ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'a.jpg',
        'a11ce000-0000-4000-8000-000000000001/a.jpg');
delete from photos where name = 'a.jpg';
select is(collect_released(10), '[]', 'nothing is collected at once');
reset role;
update released_objects set released_at = now() - interval '31 days' where path like 'a11ce000%';
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
select is(collect_released(10), '["a11ce000-0000-4000-8000-000000000001/a.jpg"]', 'after 30 days it is');
select is(collect_released(10), '[]', 'once');
select throws_ok(
    $$insert into photos (id, task_id, name, object_path) values
        ('b0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000001', 'a.jpg',
            'a11ce000-0000-4000-8000-000000000001/a.jpg')$$, null, null, 'and no row names it again');

-- Old tombstones.
delete from tasks where title = 'one';
select throws_ok('select purge_tombstones()', '42501', null, 'users purge nothing');
reset role;
alter table tasks disable trigger user;
update tasks set deleted_at = now() - interval '181 days' where id = 'a0000000-0000-4000-8000-000000000001';
alter table tasks enable trigger user;
select ok(purge_tombstones() >= 1, 'a purge empties old tombstones');
select results_eq(
    $$select title, notes, deleted_at is null, version from tasks where id = 'a0000000-0000-4000-8000-000000000001'$$,
    $$values ('', '', false, 8::bigint)$$, 'which stay, as a new version');

-- An account that is gone, with a token that lives on.
delete from auth.users where id = 'a11ce000-0000-4000-8000-000000000001';
select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
select throws_ok('select pull_changes(0)', 'OT003', 'the account is gone', 'its token is told so by the feed');
select throws_ok($$select push_changes('[]')$$, 'OT003', 'the account is gone', 'and by a batch');

select * from finish();
rollback;
