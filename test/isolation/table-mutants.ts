/** Ways to break the isolation of one table, each as the SQL a careless or hostile owner would run. Whoever runs them rolls them back. */
import type { Table } from './support.ts'

/**
 * What must happen besides a fault in the catalogue. `leaks`: a probe gets through on every table broken this way. `holds`:
 * none does, which is why the policies are built as they are. `silent`: the catalogue cannot show it, a probe must.
 */
type Effect = 'leaks' | 'holds' | 'silent'

export interface Mutant {
  readonly name: string
  /** The rule of the catalogue that must name it. */
  readonly rule?: string
  readonly effect?: Effect
}

export interface TableMutant extends Mutant {
  /** No statement where the mutant does not apply. */
  readonly break: (table: Table) => readonly string[]
}

const policies = ({ kind }: Table): readonly (readonly [name: string, parts: 'both' | 'using' | 'check'])[] =>
  kind === 'shared'
    ? [
        ['wall_read', 'using'],
        ['wall_insert', 'check'],
        ['wall_update', 'both'],
        ['wall_delete', 'using'],
      ]
    : [['wall', 'both']]

const alterPolicies = (table: Table, expression: string): string[] =>
  policies(table).map(([name, parts]) => {
    const using = parts === 'check' ? '' : `using (${expression})`
    const check = parts === 'using' ? '' : `with check (${expression})`
    return `alter policy ${name} on app.${table.name} ${using} ${check}`
  })

/** Asked for the actor by a policy; everything else by a trigger. */
const isLedger = ({ kind }: Table): boolean => kind === 'ledger'
const isAppendOnly = ({ kind }: Table): boolean => kind === 'append' || kind === 'ledger'
const ownTenant = 'tenant_id = (select app.tenant_id())'
/** Any column a plain index can be made of. */
const findIndexableColumn = ({ columns }: Table): string =>
  columns.find(({ name, type }) => name !== 'tenant_id' && /^(uuid|text|bigint|timestamp.*)$/.test(type))?.name ?? ''

/** Rows may belong to a restriction; the two tables that decide about sight have no such policy. */
const isRestricted = ({ name, columns }: Table): boolean =>
  columns.some((column) => column.name === 'restriction_id') &&
  !['restriction_force', 'restriction_person'].includes(name)

/** Rows may belong to a second one. */
const isTwiceRestricted = ({ columns }: Table): boolean => columns.some(({ name }) => name === 'also_restriction_id')
const isFirstSeen = `restriction_id is null or not app.is_in_force(restriction_id, (select app.hidden_restrictions(app.sight()) || '{}'))
  or restriction_id = any ((select app.granted_restrictions(app.sight()))::uuid[])`

const policyChanged = 'an isolation policy is missing or is not as written'
const objectPrivileges = 'a serving role may truncate, reference or add triggers'
const noActor = 'the actor trigger is missing or off'

/** Rows of these belong to rows of others and take their restriction. */
const INHERITING = [
  'change_approval',
  'provider_attempt',
  'provider_page',
  'provider_answer',
  'source_payload_content',
  'payload_admission',
  'quarantine_item',
  'admission_evidence',
  'violation_group',
  'document_chunk',
  'alert_history',
  'alert_comment',
  'alert_second_look',
  'alert_occurrence',
  'investigation_step',
  'investigation_event',
  'investigation_note',
  'investigation_task',
  'investigation_request',
  'investigation_narrative',
  'investigation_subject',
  'investigation_alert',
  'investigation_seal',
  'report_format',
  'report_part',
]

export const tableMutants: readonly TableMutant[] = [
  {
    name: 'row security disabled',
    rule: 'row security is off',
    effect: 'leaks',
    break: (t) => [`alter table app.${t.name} disable row level security`],
  },
  {
    name: 'row security no longer forced',
    rule: 'row security is not forced',
    effect: 'holds',
    break: (t) => [`alter table app.${t.name} no force row level security`],
  },
  {
    name: 'policy dropped',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => policies(t).map(([name]) => `drop policy ${name} on app.${t.name}`),
  },
  { name: 'policy replaced by true', rule: policyChanged, effect: 'leaks', break: (t) => alterPolicies(t, 'true') },
  {
    name: 'policy weakened by or',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => alterPolicies(t, `${ownTenant} or true`),
  },
  {
    name: 'policy open where no tenant is set',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => alterPolicies(t, `${ownTenant} or (select app.tenant_id()) is null`),
  },
  {
    name: 'policy calls the setting for each row',
    rule: policyChanged,
    break: (t) => alterPolicies(t, 'tenant_id = app.tenant_id()'),
  },
  {
    name: 'policy casts the column',
    rule: policyChanged,
    break: (t) => alterPolicies(t, 'tenant_id::text = (select app.tenant_id())::text'),
  },
  {
    name: 'policy made for another role',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => policies(t).map(([name]) => `alter policy ${name} on app.${t.name} to worker`),
  },
  {
    name: 'careless permissive policy',
    rule: 'a policy is not one of isolation',
    effect: 'holds',
    break: (t) => [`create policy careless on app.${t.name} using (true) with check (true)`],
  },
  {
    name: 'open policy without its name',
    rule: 'a policy is not one of isolation',
    break: (t) => [`alter policy open on app.${t.name} rename to opened`],
  },
  {
    name: 'sight policy dropped',
    rule: 'rows of a restriction are not hidden by a policy',
    break: (t) => (isRestricted(t) ? [`drop policy sight on app.${t.name}`] : []),
  },
  {
    name: 'sight policy replaced by true',
    rule: 'rows of a restriction are not hidden by a policy',
    break: (t) => (isRestricted(t) ? [`alter policy sight on app.${t.name} using (true) with check (true)`] : []),
  },
  {
    name: 'sight policy weakened by or',
    rule: policyChanged,
    break: (t) =>
      isRestricted(t)
        ? [`alter policy sight on app.${t.name} using (true or not app.is_in_force(restriction_id, '{}'))`]
        : [],
  },
  {
    name: 'sight policy that does not ask the second restriction',
    rule: 'rows of a restriction are not hidden by a policy',
    break: (t) =>
      isTwiceRestricted(t)
        ? [`alter policy sight on app.${t.name} using (${isFirstSeen}) with check (${isFirstSeen})`]
        : [],
  },
  {
    name: 'sight policy that is content with one of two restrictions',
    rule: policyChanged,
    break: (t) => {
      const either = `(${isFirstSeen}) or (${isFirstSeen.replaceAll('restriction_id', 'also_restriction_id')})`
      return isTwiceRestricted(t)
        ? [`alter policy sight on app.${t.name} using (${either}) with check (${either})`]
        : []
    },
  },
  {
    name: 'sight policy that does not ask the restrictions that a row names',
    rule: policyChanged,
    break: (t) =>
      t.columns.some(({ name }) => name === 'named_restriction_ids')
        ? [`alter policy sight on app.${t.name} using (${isFirstSeen}) with check (${isFirstSeen})`]
        : [],
  },
  {
    name: 'a second restriction without a first',
    rule: 'a row may belong to a second restriction without a first',
    break: (t) =>
      isTwiceRestricted(t) ? [`alter table app.${t.name} drop constraint ${t.name}_also_restriction_ck`] : [],
  },
  ...['restriction_id', 'also_restriction_id'].map(
    (column): TableMutant => ({
      name: `a restriction of any tenant may be named by ${column}`,
      rule: 'rows refer to no restriction of their tenant',
      break: (t) =>
        t.references
          .filter(({ table, columns }) => isRestricted(t) && table === 'restriction' && columns[0]?.name === column)
          .map(({ constraint }) => `alter table app.${t.name} drop constraint ${constraint} cascade`),
    }),
  ),
  {
    name: 'restriction no longer taken from the row that it belongs to',
    rule: 'a trigger that sight relies on is missing or off',
    break: (t) =>
      INHERITING.includes(t.name) ? [`alter table app.${t.name} disable trigger ${t.name}_restriction`] : [],
  },
  {
    name: 'truncate granted',
    rule: objectPrivileges,
    effect: 'leaks',
    break: (t) => [`grant truncate on app.${t.name} to app`],
  },
  { name: 'references granted', rule: objectPrivileges, break: (t) => [`grant references on app.${t.name} to app`] },
  { name: 'trigger granted', rule: objectPrivileges, break: (t) => [`grant trigger on app.${t.name} to steward`] },
  {
    name: 'granted to the public',
    rule: 'the public may touch a table',
    break: (t) => [`grant select on app.${t.name} to public`],
  },
  {
    name: 'a column granted to the public',
    rule: 'the public may touch a column',
    break: (t) => [`grant select (tenant_id) on app.${t.name} to public`],
  },
  {
    name: 'whole rows granted to worker',
    rule: 'worker may read whole rows',
    break: (t) => [`grant select on app.${t.name} to worker`],
  },
  {
    name: 'insert granted to worker',
    rule: 'worker may add or remove rows',
    break: (t) => [`grant insert on app.${t.name} to worker`],
  },
  {
    name: 'a payload granted to worker',
    rule: 'worker may read a payload',
    break: (t) =>
      t.columns
        .filter(({ type }) => ['json', 'jsonb', 'bytea'].includes(type))
        .map(({ name }) => `grant select ("${name}") on app.${t.name} to worker`),
  },
  {
    name: 'a column granted to steward',
    rule: 'steward may touch rows of tenants',
    break: (t) =>
      t.kind === 'shared' || t.kind === 'directory' ? [] : [`grant select (tenant_id) on app.${t.name} to steward`],
  },
  {
    name: 'more than adding to a ledger granted to steward',
    rule: 'steward may touch rows of tenants',
    break: (t) => (isLedger(t) ? [`grant update (tenant_id) on app.${t.name} to steward`] : []),
  },
  {
    name: 'adding elsewhere than to a ledger granted to steward',
    rule: 'steward may touch rows of tenants',
    break: (t) =>
      ['shared', 'directory', 'ledger'].includes(t.kind) ? [] : [`grant insert on app.${t.name} to steward`],
  },
  {
    name: 'owned by app',
    rule: 'a serving role owns a table',
    break: (t) => [`alter table app.${t.name} owner to app`],
  },
  {
    name: 'actor trigger dropped',
    rule: noActor,
    // Where app may not insert, nobody can write anonymously either.
    break: (t) => (isLedger(t) ? [] : [`drop trigger ${t.name}_actor on app.${t.name}`]),
  },
  {
    name: 'actor trigger disabled',
    rule: noActor,
    break: (t) => (isLedger(t) ? [] : [`alter table app.${t.name} disable trigger ${t.name}_actor`]),
  },
  {
    name: 'actor of a ledger no longer asked for',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => (isLedger(t) ? [`drop policy actor on app.${t.name}`] : []),
  },
  {
    name: 'any actor of a ledger will do',
    rule: policyChanged,
    effect: 'leaks',
    break: (t) => (isLedger(t) ? [`alter policy actor on app.${t.name} with check (true)`] : []),
  },
  {
    name: 'actor trigger only on insert',
    rule: noActor,
    break: (t) =>
      isLedger(t)
        ? []
        : [
            `drop trigger ${t.name}_actor on app.${t.name}`,
            `create trigger ${t.name}_actor before insert on app.${t.name} for each statement execute function app.require_actor()`,
          ],
  },
  {
    name: 'history may be changed: trigger dropped',
    rule: 'an append table can be changed',
    break: (t) => (isAppendOnly(t) ? [`drop trigger ${t.name}_append on app.${t.name}`] : []),
  },
  {
    name: 'history may be changed: update granted',
    rule: 'an append table can be changed',
    break: (t) => (isAppendOnly(t) ? [`grant update (tenant_id) on app.${t.name} to app`] : []),
  },
  {
    name: 'a copy may be removed: trigger dropped',
    rule: 'a copy can be changed',
    break: (t) => (t.kind === 'copy' ? [`drop trigger ${t.name}_append on app.${t.name}`] : []),
  },
  {
    name: 'a copy may be changed: trigger disabled',
    rule: 'a copy can be changed',
    break: (t) => (t.kind === 'copy' ? [`alter table app.${t.name} disable trigger ${t.name}_encrypt`] : []),
  },
  {
    name: 'a copy may be changed: update of whole rows granted',
    rule: 'a copy can be changed',
    break: (t) => (t.kind === 'copy' ? [`grant update on app.${t.name} to app`] : []),
  },
  {
    name: 'history may be removed: trigger dropped',
    rule: 'history can be changed without an erasure',
    break: (t) => (t.kind === 'erasable' ? [`drop trigger ${t.name}_append on app.${t.name}`] : []),
  },
  {
    name: 'history may be overwritten: trigger disabled',
    rule: 'history can be changed without an erasure',
    break: (t) => (t.kind === 'erasable' ? [`alter table app.${t.name} disable trigger ${t.name}_erase`] : []),
  },
  {
    name: 'history may be overwritten: update of whole rows granted',
    rule: 'history can be changed without an erasure',
    break: (t) => (t.kind === 'erasable' ? [`grant update on app.${t.name} to app`] : []),
  },
  {
    name: 'history may be removed: delete granted',
    rule: 'history can be changed without an erasure',
    break: (t) => (t.kind === 'erasable' ? [`grant delete on app.${t.name} to app`] : []),
  },
  {
    name: 'foreign key dropped',
    effect: 'silent',
    // Where a trigger refuses the row before the key does, only triggers write, or a check keeps the scope, the missing key goes unnoticed.
    break: (t) =>
      [
        ...INHERITING,
        'activation',
        'alert',
        'dataset',
        'dataset_difference',
        'dataset_version',
        'erasure',
        'erasure_annex',
        'erasure_step',
        'hold_in_force',
        'investigation',
        'mlro_designation',
        'rating',
        'restriction_access_ended',
        'restriction_force',
        'restriction_list',
        'restriction_merged',
        'restriction_person',
        'subject_risk',
        'subject_version',
      ].includes(t.name)
        ? []
        : t.references.map(({ constraint }) => `alter table app.${t.name} drop constraint ${constraint}`),
  },
  {
    name: 'unique key without tenant_id',
    rule: 'a key does not start with tenant_id',
    // Empty on purpose, so that it can be built over any rows.
    break: (t) => {
      const column = t.kind === 'directory' ? t.columns.find((c) => c.writable)?.name : findIndexableColumn(t)
      return column ? [`create unique index mutant_${t.name} on app.${t.name} ("${column}") where false`] : []
    },
  },
  {
    name: 'expression index',
    rule: 'an expression index cannot be used under row security',
    break: (t) => [`create index mutant_${t.name} on app.${t.name} ((tenant_id::text))`],
  },
  {
    name: 'index on a leaking type',
    rule: 'an index on a column whose operators leak cannot be used under row security',
    break: (t) =>
      t.columns
        .filter(({ type }) => type === 'jsonb')
        .slice(0, 1)
        .map(({ name }) => `create index mutant_${t.name} on app.${t.name} ("${name}") where false`),
  },
  {
    name: 'rewritten by a rule',
    rule: 'a table is rewritten by a rule',
    break: (t) => [`create rule mutant as on insert to app.${t.name} do also nothing`],
  },
  {
    name: 'taken from the register',
    rule: 'table is not registered for isolation',
    break: (t) => [`delete from app.wall_register where table_name = '${t.name}'`],
  },
]
