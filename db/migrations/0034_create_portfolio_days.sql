-- How many active subjects were in which band at the end of each day, so that a page shows a year without counting ratings. A job
-- writes the rows and corrects them when a decision with an earlier valid time arrives.
create table app.portfolio_day (
  tenant_id  uuid not null,
  -- In UTC.
  day        date not null,
  -- Empty: the rating in force, whichever matrix gave it.
  matrix_key text not null,
  band       text not null,
  -- A band without subjects has no row.
  subjects   bigint not null constraint portfolio_day_subjects_ck check (subjects > 0),
  constraint portfolio_day_pkey primary key (tenant_id, day, matrix_key, band),
  constraint portfolio_day_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.portfolio_day', 'tenant');

-- Which days are complete, and from which rating on changes still have to be looked for.
create table app.portfolio_progress (
  tenant_id     uuid not null constraint portfolio_progress_pkey primary key,
  first_day     date not null,
  last_day      date not null,
  -- Every rating with a smaller id is included in the rows.
  next_rating   uuid not null,
  revision      bigint not null default 1,
  computed_at   timestamptz not null default now(),
  constraint portfolio_progress_days_ck check (first_day <= last_day),
  constraint portfolio_progress_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.portfolio_progress', 'tenant');

-- Overrides that end soon. Only subjects with an override are in it; building it reads one row per rated subject once and holds
-- ratings up for that long, under a second for a million.
create index subject_risk_until_idx on app.subject_risk (tenant_id, override_until, subject_id) where override_until is not null;

-- Change requests that wait for somebody: few, however many were decided.
create index change_request_open_idx on app.change_request (tenant_id, created_at, cr_id) where state = 'open';
