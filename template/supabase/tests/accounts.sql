-- Accounts: a profile comes with each, and nothing stays when one goes.
begin;
select plan(11);

insert into auth.users (id, email) values
    ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test'), ('b0b00000-0000-4000-8000-000000000002', 'ben@otask.test');
select is(
    (select count(*)::int from profiles where id in
        ('a11ce000-0000-4000-8000-000000000001', 'b0b00000-0000-4000-8000-000000000002')), 2, 'each account has a profile');
select is(current_setting('otask.owner', true), '', 'what is written later is taken for nobody''s in particular');

select set_config('role', 'authenticated', true),
    set_config('request.jwt.claims', '{"sub": "a11ce000-0000-4000-8000-000000000001", "role": "authenticated"}', true);
select push_changes('[
    {"change_id": "c0000000-0000-4000-8000-000000000001", "table": "tasks", "op": "upsert",
        "id": "a0000000-0000-4000-8000-000000000001", "base_version": null, "fields": {"title": "t"}},
    {"change_id": "c0000000-0000-4000-8000-000000000002", "table": "photos", "op": "upsert",
        "id": "b0000000-0000-4000-8000-000000000001", "base_version": null, "fields": {
            "task_id": "a0000000-0000-4000-8000-000000000001", "name": "a.jpg",
            "object_path": "a11ce000-0000-4000-8000-000000000001/a.jpg"}}]');
update photos set object_path = 'a11ce000-0000-4000-8000-000000000001/b.jpg' where name = 'a.jpg';
insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000002', 'deleted');
delete from tasks where id = 'a0000000-0000-4000-8000-000000000002';
select throws_ok(
    $$delete from auth.users where id = 'a11ce000-0000-4000-8000-000000000001'$$, '42501', null,
    'a user deletes no account by SQL');

reset role;
select set_config('request.jwt.claims', '', true);
select lives_ok($$delete from auth.users where id = 'a11ce000-0000-4000-8000-000000000001'$$, 'an account is deleted');
select is_empty(
    format('select * from %I where %I = ''a11ce000-0000-4000-8000-000000000001''', tab, owner),
    'nothing of it stays in ' || tab)
from (values ('tasks', 'user_id'), ('photos', 'user_id'), ('profiles', 'id'), ('applied_changes', 'user_id'),
    ('sync_heads', 'user_id'), ('released_objects', 'user_id')) as t (tab, owner);
select is(
    (select count(*)::int from profiles where id = 'b0b00000-0000-4000-8000-000000000002'), 1, 'the other account stays');

select * from finish();
rollback;
