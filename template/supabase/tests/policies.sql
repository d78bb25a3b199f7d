-- Row level security, from both sides: own rows, another's rows, no session, and what is deleted.
begin;
select plan(44);

create function pg_temp.act_as(id uuid) returns void language sql as $$
    select set_config('role', 'authenticated', true), set_config('otask.feed', '', true),
        set_config('request.jwt.claims', json_build_object('sub', id, 'role', 'authenticated')::text, true)
$$;

insert into auth.users (id, email) values
    ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test'),
    ('b0b00000-0000-4000-8000-000000000002', 'ben@otask.test');

do $$ begin perform pg_temp.act_as('a11ce000-0000-4000-8000-000000000001'); end $$;
insert into tasks (id, title) values
    ('a0000000-0000-4000-8000-000000000001', 'of ann'), ('a0000000-0000-4000-8000-000000000002', 'deleted');
insert into photos (id, task_id, name, object_path) values
    ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'a.jpg',
        'a11ce000-0000-4000-8000-000000000001/a.jpg'),
    ('b0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000002', 'b.jpg',
        'a11ce000-0000-4000-8000-000000000001/b.jpg');
delete from tasks where id = 'a0000000-0000-4000-8000-000000000002';
select push_changes('[{"change_id": "c0000000-0000-4000-8000-000000000001", "table": "tasks", "op": "upsert",
    "id": "a0000000-0000-4000-8000-000000000003", "base_version": null, "fields": {"title": "pushed"}}]');

-- The owner.
do $$ begin perform pg_temp.act_as('a11ce000-0000-4000-8000-000000000001'); end $$;
select results_eq('select title from tasks order by title', $$values ('of ann'), ('pushed')$$,
    'the owner sees own tasks, and no deleted one');
select results_eq('select name from photos', $$values ('a.jpg')$$, 'the owner sees own photos, and no deleted one');
select is((select count(*)::int from profiles), 1, 'the owner sees the own profile');
select is((select count(*)::int from applied_changes), 1, 'the owner sees own applied changes');
select is((select count(*)::int from sync_heads), 1, 'the owner sees the own head');
select is((select count(*)::int from released_objects), 1, 'the owner sees own released objects');

select lives_ok($$update tasks set done = true where title = 'of ann'$$, 'the owner edits a task');
select is((select done from tasks where title = 'of ann'), true, 'and it is edited');
select lives_ok($$update photos set name = 'c.jpg' where name = 'a.jpg'$$, 'the owner edits a photo');
select is((select count(*)::int from photos where name = 'c.jpg'), 1, 'and it is edited');
select lives_ok($$update profiles set full_name = 'Ann'$$, 'the owner edits the profile');
select throws_ok('delete from profiles', '42501', null, 'nobody deletes a profile');

update tasks set done = false where not done or done;
select is((select count(*)::int from tasks where title = 'deleted'), 0, 'a bulk update revives no deleted task');
update tasks set title = 'x' where id = 'a0000000-0000-4000-8000-000000000002';
select is((select count(*)::int from tasks where title = 'x'), 0, 'nor does an update that names it');
select throws_ok($$insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000002', 'again')$$, '23505', null,
    'the id of a deleted task is taken');

select throws_ok(
    $$insert into tasks (title, user_id) values ('x', 'b0b00000-0000-4000-8000-000000000002')$$, '42501', null,
    'nobody adds a task for another');
select lives_ok(
    $$update tasks set user_id = 'b0b00000-0000-4000-8000-000000000002' where title = 'of ann'$$,
    'a write of the owner column');
select is((select count(*)::int from tasks where title = 'of ann'), 1, 'gives no task away');
select throws_ok(
    $$insert into photos (task_id, name, object_path, user_id) values ('a0000000-0000-4000-8000-000000000001', 'x',
        'b0b00000-0000-4000-8000-000000000002/x', 'b0b00000-0000-4000-8000-000000000002')$$, '42501', null,
    'nobody adds a photo for another');
select throws_ok(
    $$insert into profiles (id) values ('b0b00000-0000-4000-8000-000000000002')$$, '42501', null,
    'nobody adds a profile for another');
select throws_ok(
    $$insert into applied_changes (user_id, change_id, id, version) values
        ('b0b00000-0000-4000-8000-000000000002', gen_random_uuid(), gen_random_uuid(), 1)$$, '42501', null,
    'nobody notes a change for another');
select throws_ok('update applied_changes set version = 9', '42501', null, 'what was applied is never rewritten');
select throws_ok('delete from applied_changes', '42501', null, 'or forgotten by hand');
select throws_ok('update sync_heads set change_seq = 0', '42501', null, 'nobody moves a head by hand');
select throws_ok('delete from released_objects', '42501', null, 'nobody forgets a released object');
select throws_ok($$update otask.settings set keep_objects = '0'$$, '42501', null, 'nobody shortens a time');
select throws_ok('truncate tasks', '42501', null, 'nobody truncates');

-- Another user.
do $$ begin perform pg_temp.act_as('b0b00000-0000-4000-8000-000000000002'); end $$;
select is_empty('select * from tasks', 'another user sees no task');
select is_empty('select * from photos', 'nor a photo');
select results_eq('select id from profiles', $$values ('b0b00000-0000-4000-8000-000000000002'::uuid)$$,
    'nor another''s profile');
select is_empty('select * from applied_changes', 'nor an applied change');
select is((select count(*)::int from sync_heads where user_id <> 'b0b00000-0000-4000-8000-000000000002'), 0, 'nor a head');
select is_empty('select * from released_objects', 'nor a released object');
select set_config('otask.feed', 'on', true);
select is_empty('select * from tasks', 'the switch for tombstones shows no other''s tasks');
select is_empty('select * from photos', 'nor photos');
update tasks set title = 'stolen' where id = 'a0000000-0000-4000-8000-000000000001';
delete from tasks where id = 'a0000000-0000-4000-8000-000000000001';
update photos set name = 'stolen' where id = 'b0000000-0000-4000-8000-000000000001';
delete from photos where id = 'b0000000-0000-4000-8000-000000000001';
update profiles set full_name = 'stolen' where id = 'a11ce000-0000-4000-8000-000000000001';
select throws_ok(
    $$insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000001', 'stolen')
        on conflict (id) do update set title = 'stolen'$$, '42501', null, 'an upsert takes over no other''s task');
select throws_ok(
    $$insert into photos (task_id, name, object_path) values ('a0000000-0000-4000-8000-000000000001', 'x',
        'b0b00000-0000-4000-8000-000000000002/x')$$, '23503', null, 'nobody hangs a photo on another''s task');

-- No user: a token without one, and no token.
select set_config('request.jwt.claims', '{"role": "authenticated"}', true);
select is_empty('select * from tasks', 'a token without a user sees nothing');
select throws_ok($$insert into tasks (title) values ('x')$$, null, null, 'and adds nothing');
set local role anon;
select throws_ok('select * from tasks', '42501', 'permission denied for table tasks', 'without a session there is no right');
select throws_ok('select pull_changes(0)', '42501', 'permission denied for function pull_changes', 'nor to a function');

reset role;
select set_config('request.jwt.claims', '', true);
select is((select title from tasks where id = 'a0000000-0000-4000-8000-000000000001'), 'of ann', 'the task is untouched');
select is((select name from photos where id = 'b0000000-0000-4000-8000-000000000001'), 'c.jpg', 'so is the photo');
select is((select full_name from profiles where id = 'a11ce000-0000-4000-8000-000000000001'), 'Ann', 'so is the profile');

select * from finish();
rollback;
