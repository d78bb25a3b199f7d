-- A project whose phone app has a plain table of tasks, and one of photos, with rows: one task has no title, one no owner.
-- Run as `postgres`, after the fixture, before our migration.

create table public.tasks (
    id uuid primary key default gen_random_uuid(),
    user_id uuid references auth.users (id),
    title text,
    notes text,
    done boolean default false,
    priority integer,
    created_at timestamptz default now(),
    updated_at timestamptz default now()
);
create table public.photos (
    id uuid primary key default gen_random_uuid(),
    user_id uuid not null references auth.users (id) on delete cascade,
    task_id uuid not null references public.tasks (id),
    name text not null
);
alter table public.tasks enable row level security;
alter table public.photos enable row level security;
create policy "own" on public.tasks using ((select auth.uid()) = user_id) with check ((select auth.uid()) = user_id);
create policy "own" on public.photos using ((select auth.uid()) = user_id);
grant select, insert, update, delete on public.tasks, public.photos to authenticated;

create table public.log (at timestamptz default clock_timestamp(), text text);
grant insert on public.log to authenticated;
create function public.touch() returns trigger language plpgsql as $$
begin
    new.updated_at := now();
    insert into log (text) values (tg_op);
    return new;
end
$$;
create trigger touch before insert or update on public.tasks for each row execute function public.touch();

insert into auth.users (id, email) values
    ('11111111-1111-4111-8111-111111111111', 'ann@example.com'),
    ('22222222-2222-4222-8222-222222222222', 'bob@example.com');
insert into public.tasks (id, user_id, title, notes, done) values
    ('aaaaaaaa-0000-4000-8000-000000000001', '11111111-1111-4111-8111-111111111111', 'Buy milk', null, false),
    ('aaaaaaaa-0000-4000-8000-000000000002', '11111111-1111-4111-8111-111111111111', null, 'no title', null),
    ('aaaaaaaa-0000-4000-8000-000000000003', '22222222-2222-4222-8222-222222222222', ' padded ', 'of bob', true),
    ('aaaaaaaa-0000-4000-8000-000000000004', null, 'of nobody', '', false);
insert into public.photos (task_id, user_id, name) values
    ('aaaaaaaa-0000-4000-8000-000000000001', '11111111-1111-4111-8111-111111111111', 'milk.jpg');
delete from public.log;
