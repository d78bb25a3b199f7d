-- Objects in Storage: own ones only, and photos are written once.
begin;
select plan(17);

create function pg_temp.act_as(id uuid) returns void language sql as $$
    select set_config('role', 'authenticated', true),
        set_config('request.jwt.claims', json_build_object('sub', id, 'role', 'authenticated')::text, true)
$$;
-- A project lets nobody delete objects by SQL; Storage itself says this first.
select set_config('storage.allow_delete_query', 'true', true);

insert into auth.users (id, email) values
    ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test'), ('b0b00000-0000-4000-8000-000000000002', 'ben@otask.test');

select is((select public from storage.buckets where id = bucket), false, format('the bucket %s is private', bucket))
from unnest(array['photos', 'avatars']) bucket;
select ok(
    (select file_size_limit > 0 and allowed_mime_types @> array['image/jpeg'] from storage.buckets where id = 'photos'),
    'photos have a size limit and are images');

select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
select lives_ok(
    format('insert into storage.objects (bucket_id, name, owner_id) values (%L, %L, %L)', bucket,
        'a11ce000-0000-4000-8000-000000000001/' || bucket || '.jpg', 'a11ce000-0000-4000-8000-000000000001'),
    'an own object in ' || bucket)
from unnest(array['photos', 'avatars']) bucket;
select lives_ok(
    $$insert into storage.objects (bucket_id, name, owner_id) values
        ('avatars', 'me.png', 'a11ce000-0000-4000-8000-000000000001')$$, 'an avatar at the root, as the tutorial puts it');
select throws_ok(
    format('insert into storage.objects (bucket_id, name, owner_id) values (%L, %L, %L)', bucket, path, owner), '42501', null,
    'no object ' || words)
from (values
    ('photos', 'b0b00000-0000-4000-8000-000000000002/x.jpg', 'a11ce000-0000-4000-8000-000000000001',
        'in another''s folder of photos'),
    ('photos', 'x.jpg', 'a11ce000-0000-4000-8000-000000000001', 'at the root of photos'),
    ('avatars', 'b0b00000-0000-4000-8000-000000000002/x.jpg', 'b0b00000-0000-4000-8000-000000000002', 'of another'))
    as o (bucket, path, owner, words);
select is((select count(*)::int from storage.objects where bucket_id in ('photos', 'avatars')), 3, 'own objects are seen');
update storage.objects set metadata = '{"a": 1}' where bucket_id in ('photos', 'avatars');
select results_eq(
    $$select name from storage.objects where metadata is not null order by name$$,
    $$values ('a11ce000-0000-4000-8000-000000000001/avatars.jpg'), ('me.png')$$, 'an avatar may be replaced, a photo not');

select pg_temp.act_as('b0b00000-0000-4000-8000-000000000002');
select is((select count(*)::int from storage.objects where bucket_id in ('photos', 'avatars')), 0, 'another sees none');
update storage.objects set metadata = '{"b": 1}' where bucket_id in ('photos', 'avatars');
delete from storage.objects where bucket_id in ('photos', 'avatars');
set local role anon;
select is(
    (select count(*)::int from storage.objects where bucket_id in ('photos', 'avatars')), 0, 'without a session none is seen');
select throws_ok(
    $$insert into storage.objects (bucket_id, name) values ('avatars', 'x.png')$$, '42501', null, 'or added');

reset role;
select is(
    (select count(*)::int from storage.objects where name like 'a11ce000%' or name = 'me.png'), 3, 'another removed none');
select is((select count(*)::int from storage.objects where metadata ? 'b'), 0, 'or changed one');

select pg_temp.act_as('a11ce000-0000-4000-8000-000000000001');
delete from storage.objects where bucket_id in ('photos', 'avatars');
select is((select count(*)::int from storage.objects where bucket_id in ('photos', 'avatars')), 0, 'the owner removes own ones');

select * from finish();
rollback;
