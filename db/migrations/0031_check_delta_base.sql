-- A delta is applied to the newest version: its version follows its base directly, whatever the code that wrote it checked.
alter table app.dataset_version add constraint dataset_version_delta_ck
  check (not provenance ? 'delta' or coalesce((provenance #>> '{delta,base_version}')::bigint = version - 1, false));
