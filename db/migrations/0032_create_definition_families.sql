-- Kinds of versioned definitions are rows: a new kind adds one and changes no constraint.
create table app.definition_family (
  family text not null constraint definition_family_pkey primary key
                       constraint definition_family_family_ck check (family ~ '^[a-z][a-z0-9-]{0,39}$'),
  title  text not null constraint definition_family_title_ck check (length(title) between 1 and 100)
);
select app.wall('app.definition_family', 'system');

insert into app.definition_family (family, title) values
  ('list', 'Lists'),
  ('matrix', 'Risk matrices'),
  ('rule', 'Rules');

alter table app.dataset
  drop constraint dataset_family_ck,
  add constraint dataset_family_fkey foreign key (family) references app.definition_family;
alter table app.activation
  drop constraint activation_family_ck,
  add constraint activation_family_fkey foreign key (family) references app.definition_family;
alter table app.impact_run
  drop constraint impact_run_family_ck,
  add constraint impact_run_family_fkey foreign key (family) references app.definition_family;
