/** Ways to break tenant isolation that are not of one table, and unusual schemas that break nothing. */
import type { Mutant } from './table-mutants.ts'

export interface SchemaMutant extends Mutant {
  readonly break: (victim: string) => readonly string[]
}

const functionReplaced = 'a function of isolation is missing or is not as written'

const replaceFunctionSql = (name: string, returns: string, body: string): string =>
  `create or replace function app.${name}() returns ${returns} language sql stable return ${body}`

const sharedPair = [
  'create table app.mutant_list (tenant_id uuid not null, list_id uuid not null, primary key (tenant_id, list_id))',
  `select app.wall('app.mutant_list', 'shared')`,
  `create table app.mutant_use (tenant_id uuid not null, list_tenant_id uuid not null, list_id uuid not null, primary key (tenant_id, list_id),
     foreign key (list_tenant_id, list_id) references app.mutant_list (tenant_id, list_id))`,
  `select app.wall('app.mutant_use', 'tenant')`,
]
const partitionedTable = [
  'create table app.mutant_log (tenant_id uuid not null, id uuid not null, primary key (tenant_id, id)) partition by hash (tenant_id)',
  `select app.wall('app.mutant_log', 'tenant')`,
  'create table app.mutant_log_0 partition of app.mutant_log for values with (modulus 1, remainder 0)',
]

/** Sound, although unusual: the rules must not cry at these. */
export const validSchemas: readonly SchemaMutant[] = [
  { name: 'nothing', break: () => [] },
  { name: 'a partition nobody was granted', break: () => partitionedTable },
  {
    name: 'a reference to a shared row, with its check',
    break: () => [
      ...sharedPair,
      'alter table app.mutant_use add check (list_tenant_id in (tenant_id, app.system_tenant()))',
    ],
  },
  {
    name: 'a view that runs as its caller',
    break: () => ['create view app.mutant with (security_invoker = true) as select * from app.job'],
  },
]

export const schemaMutants: readonly SchemaMutant[] = [
  {
    name: 'a table with a restriction and no policy of sight',
    rule: 'rows of a restriction are not hidden by a policy',
    break: () => [
      `create table app.mutant_note (tenant_id uuid not null, note_id uuid not null, restriction_id uuid, primary key (tenant_id, note_id),
         foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id))`,
      `select app.wall('app.mutant_note', 'tenant')`,
    ],
  },
  {
    name: 'no restriction is hidden any more',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.is_in_force(restriction uuid) returns boolean language plpgsql stable parallel safe
         as 'begin return false; end'`,
    ],
  },
  {
    name: 'no restriction is listed for sight',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.hidden_restrictions(sight text) returns jsonb language plpgsql stable parallel safe
         as 'begin return ''{}''; end'`,
    ],
  },
  {
    name: 'a listed restriction hides nothing',
    rule: 'a function of isolation is missing or is not as written',
    break: () => [
      `create or replace function app.is_in_force(restriction uuid, ids jsonb) returns boolean language sql immutable parallel safe return false`,
    ],
  },
  {
    name: 'restrictions in force are no longer listed',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.restriction_force disable trigger restriction_force_list'],
  },
  {
    name: 'merged cases are no longer followed',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.investigation disable trigger investigation_merged_sight'],
  },
  {
    name: 'types of the caller decide what is listed',
    rule: 'a function of sight is missing or is not as written',
    break: () => ['alter function app.keep_restriction_list() reset search_path'],
  },
  {
    name: 'restrictions are no longer copied for sight',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.restriction disable trigger restriction_copy'],
  },
  {
    name: 'access is no longer copied for sight',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.copy_restriction_access() returns trigger language plpgsql as 'begin return null; end'`,
    ],
  },
  {
    name: 'a row takes no restriction of the row it belongs to',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.inherit_restriction() returns trigger language plpgsql as 'begin return new; end'`,
    ],
  },
  {
    name: 'a row takes the restriction of another one only when it is changed',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => [
      'drop trigger provider_attempt_restriction on app.provider_attempt',
      `create trigger provider_attempt_restriction before update on app.provider_attempt
         for each row execute function app.inherit_restriction('provider_call', 'call_id')`,
    ],
  },
  {
    name: 'a lifted restriction stays in sight',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => [
      'drop trigger restriction_copy on app.restriction',
      'create trigger restriction_copy after insert on app.restriction for each row execute function app.copy_restriction()',
    ],
  },
  {
    name: 'a revoked access stays in sight',
    rule: 'a revoked access would remain in sight',
    break: () => ['alter table app.restriction_person drop constraint restriction_person_access_fkey'],
  },
  {
    name: 'the operator gives access to any restriction',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.restriction_access disable trigger restriction_access_operator'],
  },
  {
    name: 'the operator is refused only when access is changed',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => [
      'drop trigger restriction_access_operator on app.restriction_access',
      `create trigger restriction_access_operator before update on app.restriction_access
         for each row when (new.granted_by like 'operator:%') execute function app.refuse_operator_access()`,
    ],
  },
  {
    name: 'access that ends keeps itself',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.restriction disable trigger restriction_ending'],
  },
  {
    name: 'every restriction counts as one that nobody can see',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.is_reachable(tenant uuid, restriction uuid) returns boolean language plpgsql stable
         as 'begin return false; end'`,
    ],
  },
  {
    name: 'what nobody who decided can see is erased',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.erasure disable trigger erasure_refuse'],
  },
  {
    name: 'a held or investigated subject is erased',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => [
      'drop trigger erasure_refuse_kept on app.erasure',
      `create trigger erasure_refuse_kept before update on app.erasure
         for each row when (new.state = 'done') execute function app.refuse_kept_erasure()`,
    ],
  },
  {
    name: 'a hidden hold keeps nothing',
    rule: 'a function of sight is missing or is not as written',
    break: () => [
      `create or replace function app.is_subject_held(subject uuid) returns boolean language plpgsql as 'begin return false; end'`,
    ],
  },
  {
    name: 'append-only rows can be removed',
    rule: 'a function that keeps history is missing or is not as written',
    break: () => [
      `create or replace function app.refuse_change() returns trigger language plpgsql as 'begin return null; end'`,
    ],
  },
  {
    name: 'every role removes append-only rows as if it deleted a tenant',
    rule: 'a function that keeps history is missing or is not as written',
    break: () => [
      `create or replace function app.is_deleting_tenant() returns boolean language plpgsql stable as 'begin return true; end'`,
    ],
  },
  {
    name: 'every transaction is an erasure',
    rule: 'a function that keeps history is missing or is not as written',
    break: () => [
      `create or replace function app.erasing() returns uuid language plpgsql stable as 'begin return gen_random_uuid(); end'`,
    ],
  },
  {
    name: 'an erasure overwrites any column',
    rule: 'a function that keeps history is missing or is not as written',
    break: () => [
      `create or replace function app.erase_only() returns trigger language plpgsql as 'begin return new; end'`,
    ],
  },
  {
    name: 'a copy is encrypted more than once',
    rule: 'a function of copies is missing or is not as written',
    break: () => [
      `create or replace function app.encrypt_once() returns trigger language plpgsql as 'begin return new; end'`,
    ],
  },
  {
    name: 'an occurrence takes no restriction of its alert',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => [
      'drop trigger alert_occurrence_restriction on app.alert_occurrence',
      `create trigger alert_occurrence_restriction before insert on app.alert_occurrence
         for each row when (new.suppression_id is not null) execute function app.inherit_restriction('alert', 'alert_id')`,
    ],
  },
  {
    name: 'evidence takes no restriction of its object',
    rule: 'a trigger that sight relies on is missing or off',
    break: () => ['alter table app.evidence_item disable trigger evidence_item_restriction'],
  },
  {
    name: 'a tenant that is being deleted can be used again',
    rule: 'tenants can be removed by hand',
    break: () => ['alter table app.tenant disable trigger tenant_keep'],
  },
  {
    name: 'a table without an isolation policy',
    rule: 'table is not registered for isolation',
    break: () => ['create table app.mutant (tenant_id uuid)'],
  },
  {
    name: 'a register entry for a table that is gone',
    rule: 'the isolation register names no table',
    break: () => [`insert into app.wall_register values ('gone', 'tenant')`],
  },
  {
    name: 'tenant_id may be null',
    rule: 'tenant_id may be null or is no uuid',
    break: () => ['create table app.mutant (tenant_id uuid)', `select app.wall('app.mutant', 'tenant')`],
  },
  {
    name: 'no tenant_id at all',
    rule: 'table has no tenant_id',
    break: () => [`create table app.mutant (id uuid)`, `insert into app.wall_register values ('mutant', 'tenant')`],
  },
  {
    name: 'tenant rows declared as system',
    rule: 'system table has a tenant_id',
    break: () => ['create table app.mutant (tenant_id uuid not null)', `select app.wall('app.mutant', 'system')`],
  },
  {
    name: 'a system table app may write',
    rule: 'a system table can be written by a serving role',
    break: () => ['grant insert on app.migration to app'],
  },
  {
    name: 'a function with the rights of its owner',
    rule: 'a function runs with the rights of its owner',
    break: () => [`create function app.mutant() returns int language sql security definer as 'select 1'`],
  },
  {
    name: 'such a function in another schema',
    rule: 'a function runs with the rights of its owner',
    break: () => [
      `create function public.mutant() returns int language sql security definer as 'select 1'`,
      'alter function public.mutant() owner to app_owner',
    ],
  },
  {
    name: 'a view with the rights of its owner',
    rule: 'a view does not run as its caller',
    break: () => ['create view app.mutant as select * from app.job'],
  },
  {
    name: 'a materialised view',
    rule: 'a materialised view holds tenant data',
    break: () => ['create materialized view app.mutant as select * from app.job'],
  },
  { name: 'a sequence', rule: 'a sequence could reach a client', break: () => ['create sequence app.mutant'] },
  {
    name: 'a partition app was granted',
    rule: 'a partition is granted',
    break: () => [...partitionedTable, 'grant select on app.mutant_log_0 to app'],
  },
  {
    name: 'a partition worker may write',
    rule: 'a partition is granted',
    break: () => [...partitionedTable, 'grant insert on app.mutant_log_0 to worker'],
  },
  {
    name: 'a reference to a shared row without a check',
    rule: 'a foreign key does not carry tenant_id',
    break: () => sharedPair,
  },
  {
    name: 'a foreign key without tenant_id',
    rule: 'a foreign key does not carry tenant_id',
    break: () => [
      'alter table app.api_key add constraint mutant_key unique (key_id)',
      'alter table app.api_key_usage add constraint mutant_fkey foreign key (key_id) references app.api_key (key_id)',
    ],
  },
  {
    name: 'app bypasses row security',
    rule: 'a role may do too much',
    effect: 'leaks',
    break: () => ['alter role app bypassrls'],
  },
  {
    name: 'app may become steward',
    rule: 'a serving role inherits from or may become another role',
    break: () => ['grant steward to app'],
  },
  {
    name: 'app may create objects',
    rule: 'a serving role may create objects',
    break: () => ['grant create on schema app to app'],
  },
  {
    name: 'app may add tenants',
    rule: 'app may add or remove tenants',
    break: () => ['grant insert on app.tenant to app'],
  },
  {
    name: 'a tenant set by default',
    rule: 'a setting that isolation relies on has a default',
    break: (victim) => [`alter role app set app.tenant_id = '${victim}'`],
  },
  {
    name: 'the setting defaults to a tenant',
    rule: functionReplaced,
    effect: 'leaks',
    break: (victim) => [
      replaceFunctionSql(
        'tenant_id',
        'uuid',
        `coalesce(nullif(current_setting('app.tenant_id', true), ''), '${victim}')::uuid`,
      ),
    ],
  },
  {
    name: 'the system tenant is a tenant',
    rule: functionReplaced,
    break: (victim) => [replaceFunctionSql('system_tenant', 'uuid', `'${victim}'::uuid`)],
  },
  {
    name: 'everybody is an actor',
    rule: functionReplaced,
    effect: 'leaks',
    break: () => [replaceFunctionSql('actor', 'text', `'user:anybody'`)],
  },
  {
    name: 'every actor will do',
    rule: functionReplaced,
    effect: 'leaks',
    break: () => [replaceFunctionSql('has_actor', 'boolean', 'true')],
  },
  {
    name: 'no actor is asked for',
    effect: 'silent',
    break: () => [
      'create or replace function app.require_actor() returns trigger language plpgsql as $$ begin return null; end $$',
    ],
  },
]
