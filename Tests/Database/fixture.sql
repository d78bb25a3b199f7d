-- What a Supabase project provides before any migration, as far as ours meets it: roles, schemas, accounts, Storage's
-- tables, the publication. Run as a superuser, in an empty database; roles are the cluster's, so they may be there.

do $$
begin
    if not exists (select from pg_roles where rolname = 'anon') then
        create role anon nologin;
        create role authenticated nologin;
        create role service_role nologin bypassrls;
        create role authenticator login noinherit;
        grant anon, authenticated, service_role to authenticator;
        create role supabase_auth_admin nologin createrole;
        create role supabase_storage_admin nologin;
        alter role anon set statement_timeout = '3s';
        alter role authenticated set statement_timeout = '8s';
        alter role authenticator set statement_timeout = '8s';
        alter role authenticator set lock_timeout = '8s';
    end if;
    if not exists (select from pg_roles where rolname = 'postgres') then
        -- As on hosted projects: no superuser, and past row security.
        create role postgres login createdb createrole replication bypassrls;
        alter role postgres set search_path = "$user", public, extensions;
    end if;
    grant anon, authenticated, service_role to postgres;
    -- Policies on Storage's tables may be made by this role, though it doesn't own them.
    grant supabase_storage_admin to postgres;
    execute format('alter database %I owner to postgres', current_database());
end
$$;

create schema auth authorization supabase_auth_admin;
create schema storage authorization supabase_storage_admin;
create schema extensions;
create schema realtime;
grant usage on schema auth, storage, extensions, realtime, public
    to anon, authenticated, service_role, postgres, supabase_auth_admin, supabase_storage_admin;
grant all on schema public to postgres;
grant create on schema extensions to postgres;
set search_path = "$user", public, extensions;

create extension if not exists pgcrypto with schema extensions;
grant execute on all functions in schema extensions to anon, authenticated, service_role, postgres;

create table auth.users (
    id uuid primary key,
    email varchar(255) unique,
    raw_user_meta_data jsonb,
    is_anonymous boolean not null default false,
    created_at timestamptz default now()
);
alter table auth.users owner to supabase_auth_admin;
grant all on auth.users to postgres;

create function auth.jwt() returns jsonb language sql stable as $$
    select coalesce(
        nullif(current_setting('request.jwt.claim', true), ''),
        nullif(current_setting('request.jwt.claims', true), ''))::jsonb
$$;
create function auth.uid() returns uuid language sql stable as $$
    select coalesce(
        nullif(current_setting('request.jwt.claim.sub', true), ''),
        nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid
$$;
create function auth.role() returns text language sql stable as $$
    select coalesce(
        nullif(current_setting('request.jwt.claim.role', true), ''),
        nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
$$;

create table storage.buckets (
    id text primary key,
    name text not null unique,
    owner uuid,
    owner_id text,
    public boolean default false,
    avif_autodetection boolean default false,
    file_size_limit bigint,
    allowed_mime_types text[],
    created_at timestamptz default now(),
    updated_at timestamptz default now()
);
create table storage.objects (
    id uuid primary key default gen_random_uuid(),
    bucket_id text references storage.buckets,
    name text,
    owner uuid,
    owner_id text,
    metadata jsonb,
    user_metadata jsonb,
    version text,
    created_at timestamptz default now(),
    updated_at timestamptz default now(),
    last_accessed_at timestamptz default now(),
    unique (bucket_id, name)
);
alter table storage.buckets owner to supabase_storage_admin;
alter table storage.objects owner to supabase_storage_admin;
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role, postgres;

create function storage.foldername(name text) returns text[] language sql immutable as $$
    select (string_to_array(name, '/'))[1:array_length(string_to_array(name, '/'), 1) - 1]
$$;
create function storage.filename(name text) returns text language sql immutable as $$
    select (string_to_array(name, '/'))[array_length(string_to_array(name, '/'), 1)]
$$;

create publication supabase_realtime;
alter publication supabase_realtime owner to postgres;
