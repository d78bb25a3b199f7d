-- The limits of each field, at the limit and beyond, in an insert and in an update; and that they hold only for what a
-- write changes.
begin;
select plan(56);

insert into auth.users (id, email) values ('a11ce000-0000-4000-8000-000000000001', 'ann@otask.test');
select set_config('request.jwt.claims', '{"sub": "a11ce000-0000-4000-8000-000000000001", "role": "authenticated"}', true);
set local role authenticated;

insert into tasks (id, title) values ('a0000000-0000-4000-8000-000000000001', 'first');
insert into photos (id, task_id, name, object_path) values
    ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'a.jpg',
        'a11ce000-0000-4000-8000-000000000001/a.jpg');

-- What is refused, of a task: in an insert and in an update.
create temporary table refused (col text, value text, code text, words text);
insert into refused values
    ('title', '', '23514', 'title is empty'),
    ('title', repeat('x', 501), '23514', 'title is longer than 500 characters'),
    ('title', E'a\nb', '23514', 'title has more than one line'),
    ('title', E'a\rb', '23514', 'title has more than one line'),
    ('title', ' a', '23514', 'title begins or ends with a blank'),
    ('title', E'a\t', '23514', 'title begins or ends with a blank'),
    ('title', null, '23502', null),
    ('notes', repeat('x', 1000001), '23514', 'notes are longer than 1000000 bytes'),
    ('notes', repeat('ü', 500001), '23514', 'notes are longer than 1000000 bytes'),
    ('notes', null, '23502', null),
    ('done', null, '23502', null),
    ('path', repeat('x', 1025), '23514', 'path is longer than 1024 bytes'),
    ('properties', null, '23502', null),
    ('properties', '[]', '23514', 'properties must be an object'),
    ('properties', '"a"', '23514', 'properties must be an object'),
    ('properties', json_build_object('a', repeat('x', 65536))::text, '23514', 'properties are larger than 64 KiB'),
    ('properties', repeat('{"a":', 33) || '1' || repeat('}', 33), '23514', 'properties are nested deeper than 32 levels'),
    ('properties', '{"a":' || repeat('[', 32) || repeat(']', 32) || '}', '23514',
        'properties are nested deeper than 32 levels'),
    ('properties', '{"id": 1}', '23514', 'properties can''t have the key id'),
    ('properties', '{"done": 1}', '23514', 'properties can''t have the key done'),
    ('properties', '{"title": 1}', '23514', 'properties can''t have the key title');
select throws_ok(
    case col when 'title' then format('insert into tasks (title) values (%L)', value)
        else format('insert into tasks (title, %I) values (''t'', %L)', col, value) end,
    code, words, format('a new task: %s, %s', col, coalesce(words, 'null')))
from refused;
select throws_ok(
    format('update tasks set %I = %L where title = ''first''', col, value), code, words,
    format('an edited task: %s, %s', col, coalesce(words, 'null')))
from refused;

-- What is taken.
select lives_ok(
    format('insert into tasks (title, notes, path, properties) values (%L, %L, %L, %L)', repeat('ü', 500),
        repeat('x', 1000000), repeat('x', 1024), repeat('{"a":', 32) || '1' || repeat('}', 32)),
    'a task at all its limits');
select lives_ok(format('update tasks set title = %L where title = ''first''', repeat('x', 500)), 'a title of 500 characters');

-- Photos.
select throws_ok(
    format('insert into photos (task_id, name, object_path) values (%L, %L, %L)', 'a0000000-0000-4000-8000-000000000001',
        name, path), code, words, 'a new photo: ' || words)
from (values
    ('', 'a11ce000-0000-4000-8000-000000000001/x', '23514', 'name is empty'),
    (repeat('ü', 128), 'a11ce000-0000-4000-8000-000000000001/x', '23514', 'name is longer than 255 bytes'),
    ('x', 'b0b00000-0000-4000-8000-000000000002/x', '23514', 'object_path does not begin with the user''s id'),
    ('x', null, '23514', 'object_path is missing')) as p (name, path, code, words);
select throws_ok(
    $$update photos set name = '' where id = 'b0000000-0000-4000-8000-000000000001'$$, '23514', 'name is empty',
    'an edited photo: no name');
select throws_ok(
    $$update photos set object_path = 'x' where id = 'b0000000-0000-4000-8000-000000000001'$$, '23514',
    'object_path does not begin with the user''s id', 'an edited photo: a foreign path');
select throws_ok(
    $$insert into photos (task_id, name, object_path) values ('a0000000-0000-4000-8000-000000000001', 'x',
        'a11ce000-0000-4000-8000-000000000001/a.jpg')$$, '23505', null, 'an object is one photo''s');

-- Profiles.
select throws_ok($$update profiles set username = 'an'$$, '23514', 'username is shorter than 3 characters', 'a username');
select lives_ok($$update profiles set username = 'ann'$$, 'a username of three');

-- A row that was there before and doesn't fit.
reset role;
alter table tasks disable trigger user;
update tasks set title = ' misfit ' where id = 'a0000000-0000-4000-8000-000000000001';
alter table tasks enable trigger user;
set local role authenticated;
select lives_ok($$update tasks set done = true where title = ' misfit '$$, 'a misfit can be ticked');
select throws_ok(
    $$update tasks set title = ' other misfit ' where title = ' misfit '$$, '23514', null, 'but not be given another misfit');
select is((select done from tasks where title = ' misfit '), true, 'it is ticked');

select * from finish();
rollback;
