/**
 * Reads the catalogue and lists every way in which tenant isolation could be broken: used by the start-up checks, readiness, the
 * doctor and the tests. An empty list means that isolation is intact.
 */

export type QueryRows = (text: string) => Promise<Record<string, unknown>[]>

export interface IsolationFault {
  readonly rule: string
  readonly object: string
}

/** The policies as PostgreSQL prints them. Compared word for word: a policy that is almost right is wrong. */
const ownTenant = '(tenant_id = ( SELECT app.tenant_id() AS tenant_id))'
const system = '( SELECT app.system_tenant() AS system_tenant)'
const ownOrSystem = `((( SELECT app.tenant_id() AS tenant_id) IS NOT NULL) AND (tenant_id = ANY (ARRAY[( SELECT app.tenant_id() AS tenant_id), ${system}])))`
const ownWritable = `(${ownTenant} AND ((tenant_id <> ${system}) OR ( SELECT (CURRENT_USER = 'steward'::name))))`
const ownOrWorker = `(${ownTenant} OR ( SELECT (CURRENT_USER = 'worker'::name)))`
const ownOrOperator = `(${ownTenant} OR ( SELECT (CURRENT_USER = ANY (ARRAY['steward'::name, 'worker'::name]))))`

const isSeen = (column: string): string =>
  `((${column} IS NULL) OR (NOT app.is_in_force(${column}, ( SELECT (app.hidden_restrictions(app.sight()) || '{}'::jsonb)))) OR (${column} = ANY (( SELECT app.granted_restrictions(app.sight()) AS granted_restrictions)::uuid[])))`

const isEachSeen = (column: string): string =>
  `((${column} = '{}'::uuid[]) OR (NOT (( SELECT (app.hidden_restrictions(app.sight()) - (app.granted_restrictions(app.sight()))::text[])) ?| (${column})::text[])))`

/** The policy `sight` as PostgreSQL prints it; every table with a `restriction_id` has it, for its one or two restrictions and those it names. */
const sightPolicy = isSeen('restriction_id')
const sightOfTwoPolicy = `(${isSeen('restriction_id')} AND ${isSeen('also_restriction_id')})`
const sightOfNamedPolicy = `(${isSeen('restriction_id')} AND ${isEachSeen('named_restriction_ids')})`

type Policy = readonly [kind: string, name: string, command: string, using: string | null, check: string | null]
const isolationPolicies: readonly Policy[] = [
  ['tenant', 'wall', '*', ownTenant, ownTenant],
  ['append', 'wall', '*', ownTenant, ownTenant],
  ['copy', 'wall', '*', ownTenant, ownTenant],
  ['erasable', 'wall', '*', ownTenant, ownTenant],
  ['queue', 'wall', '*', ownOrWorker, ownOrWorker],
  ['ledger', 'wall', '*', ownOrWorker, ownOrWorker],
  ['ledger', 'actor', 'a', null, 'app.has_actor()'],
  ['directory', 'wall', '*', ownOrOperator, ownOrOperator],
  ['shared', 'wall_read', 'r', ownOrSystem, null],
  ['shared', 'wall_insert', 'a', null, ownWritable],
  ['shared', 'wall_update', 'w', ownWritable, ownWritable],
  ['shared', 'wall_delete', 'd', ownWritable, null],
]

const functions: readonly (readonly [name: string, body: string])[] = [
  ['tenant_id', `RETURN (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid`],
  ['actor', `RETURN NULLIF(current_setting('app.actor'::text, true), ''::text)`],
  [
    'has_actor',
    `RETURN (app.actor() ~~ ANY (ARRAY['user:_%'::text, 'key:_%'::text, 'job:_%'::text, 'operator:_%'::text, 'seed:_%'::text]))`,
  ],
  ['sight', `RETURN NULLIF(current_setting('app.sight'::text, true), ''::text)`],
  ['has_full_sight', `RETURN COALESCE((current_setting('app.sight'::text, true) = 'all'::text), false)`],
  ['is_in_force', 'RETURN (ids ? (restriction)::text)'],
  ['system_tenant', `RETURN '00000000-0000-0000-0000-000000000000'::uuid`],
]

/** Functions that decide about sight, with a digest of their bodies. Those that compare what is written with its source fix their search path. */
const sightFunctions: readonly (readonly [name: string, digest: string])[] = [
  ['granted_restrictions', '374245598ecbfe5924d5db22d650e993'],
  ['officer_exclusions', '9875c9dbf0bc8d004cecc70db6c2341a'],
  ['hidden_restrictions', '3b161247bfc614b4ce73a810b5274ded'],
  ['list_restriction', 'aa01a90b4fb856f99abfafeef1e57da1'],
  ['is_in_force', 'a0bc117a1a3e07c09d2d99cec760ac15'],
  ['copy_restriction', '3d4b9d3b87c4aa8676e9d6c66f9a445c'],
  ['copy_restriction_access', 'd27ed24d319726e8c8f48d962607c2fb'],
  ['inherit_restriction', 'ef93a16bc056e630c6fe50e91a288c82'],
  ['find_restricted', '0c56fb36b5b7e93e5bc29f4bede19574'],
  ['list_named_restrictions', 'feed18fe895ff157d0722f39474f1132'],
  ['restrict_mcp_approval', '7e89ce793d6a43a8141a97b2195cf4a7'],
  ['restrict_approved_call', '474a59706af2498ba73601bb6506e394'],
  ['restrict_evidence_item', 'a348af64dba9f83ed87c9674e1eb456d'],
  ['restrict_plugin_invocation', '0accb88fa1ff65025cd22ba8d8ddc10a'],
  ['keep_restriction_force', 'b8b434fabfc82138fca3b953a3cd1962'],
  ['keep_restriction_list', 'ba14d2c1d1bb4c25936adf589f36f1bd'],
  ['keep_restriction_merged', '2307a30a4f176acc79eb367ef23546f7'],
  ['follow_merged_restriction', '987b4c40f7caa403bd17b6041a421980'],
  ['keep_restriction_person', 'c2a612603dad0a8e9be614f3d1e987c7'],
  // Who sees what is asked for somebody else, and access that the operator gives.
  ['may_see', '7b596facfa790064452d5bdbb856d9ae'],
  ['may_see_all', '8bf2d687884e70ba1ff972517a78c668'],
  ['is_reachable', 'ecb5a9dc93b636799c60f121012c4ac7'],
  ['refuse_operator_access', 'ad55aa21e6ddc2799c85bd3cbb045ff9'],
  // A person whose access has an end may not change access.
  ['has_ending_access', 'b1eb21f159bb9e975f58115551931988'],
  ['refuse_ending_access', '802075ca9d6485aba2fe3938a1d5f6b8'],
  // These read with full sight, and return nothing of what they read.
  ['refuse_hidden_erasure', '9f7d3d49cd0f18fcefcfbdf5e4a662d5'],
  ['is_closed_to_erasure', 'e245e56066742fd4225e67d23aed03ac'],
  ['is_closed_to_erasure', 'f4d411fcb6cf317d20691b21543a33ae'],
  ['is_subject_held', '13e375137b84f3cc72a0095b99ce5fdf'],
  ['is_subject_investigated', 'f3989ec48fcb0b34893292eb4cb3247a'],
  ['refuse_kept_erasure', '2614c13f89d7f0f543b4b53abbc8063b'],
  ['tell_restricted_cases', '8d60d89693a1f14ab94e0fdc3e3479b3'],
]

/** The one change that a copy allows, with a digest of its body. */
const ENCRYPT_ONCE_DIGEST = 'b67596998971229cde489115261c5056'

/** Functions that keep append-only rows and tenants, except in an erasure and in the deletion of a whole tenant. */
const historyFunctions: readonly (readonly [name: string, digest: string])[] = [
  ['refuse_change', 'd75c5068afce7a4217005444f7da5f16'],
  ['is_deleting_tenant', '3ef2fb7465d946d85ea17f6d6efab50f'],
  ['erasing', 'ca0de68a15090f04dff0fcfde069c387'],
  ['erase_only', '14905a0a96261fd4c59e90e5232f31f2'],
  ['keep_tenant', '830df33356dba1d7e5db7f6ec09f8f40'],
]

/** Rows that belong to another row take its restriction; two tables copy what decides about sight; nobody erases what they cannot see. */
const CONFIRMED = `((new.state = 'executing'::text) AND (old.state = 'requested'::text) AND (new.origin = 'request'::text))`
const sightTriggers: readonly (readonly [table: string, trigger_function: string, condition: string])[] = [
  ['restriction', 'copy_restriction', ''],
  ['restriction_access', 'copy_restriction_access', ''],
  ['restriction_force', 'keep_restriction_force', ''],
  ['restriction_force', 'list_restriction', ''],
  ['restriction_list', 'keep_restriction_list', ''],
  ['restriction_merged', 'keep_restriction_merged', ''],
  ['restriction_merged', 'list_restriction', ''],
  ['investigation', 'follow_merged_restriction', '((new.merged_into IS NOT NULL) AND (old.merged_into IS NULL))'],
  ['restriction_person', 'keep_restriction_person', ''],
  ['change_approval', 'inherit_restriction', ''],
  ['provider_attempt', 'inherit_restriction', ''],
  ['provider_page', 'inherit_restriction', ''],
  ['provider_answer', 'inherit_restriction', ''],
  ['source_payload_content', 'inherit_restriction', ''],
  ['payload_admission', 'inherit_restriction', ''],
  ['quarantine_item', 'inherit_restriction', ''],
  ['violation_group', 'inherit_restriction', ''],
  ['admission_evidence', 'inherit_restriction', ''],
  ['document_chunk', 'inherit_restriction', ''],
  ['alert_history', 'inherit_restriction', ''],
  ['alert_comment', 'inherit_restriction', ''],
  ['alert_second_look', 'inherit_restriction', ''],
  ['investigation_step', 'inherit_restriction', ''],
  ['investigation_event', 'inherit_restriction', ''],
  ['investigation_note', 'inherit_restriction', ''],
  ['investigation_task', 'inherit_restriction', ''],
  ['investigation_request', 'inherit_restriction', ''],
  ['investigation_narrative', 'inherit_restriction', ''],
  ['investigation_subject', 'inherit_restriction', ''],
  ['investigation_alert', 'inherit_restriction', ''],
  ['investigation_seal', 'inherit_restriction', ''],
  ['report_format', 'inherit_restriction', ''],
  ['report_part', 'inherit_restriction', ''],
  // An occurrence that was suppressed belongs to no alert.
  ['alert_occurrence', 'inherit_restriction', '(new.alert_id IS NOT NULL)'],
  // What a tool call names or worked on; one that follows an approval belongs to what the approval belongs to.
  ['mcp_approval', 'restrict_mcp_approval', ''],
  ['mcp_call', 'restrict_approved_call', '(new.approval_id IS NOT NULL)'],
  // A token may be fetched, and a version be tried, without a call.
  ['credential_access', 'inherit_restriction', '(new.call_id IS NOT NULL)'],
  ['evidence_item', 'restrict_evidence_item', ''],
  ['plugin_invocation', 'restrict_plugin_invocation', `(new.cause_kind = 'provider_call'::text)`],
  ['restriction_access', 'refuse_operator_access', `(new.granted_by ~~ 'operator:%'::text)`],
  ['restriction_access', 'refuse_ending_access', ''],
  ['restriction', 'refuse_ending_access', '(new.is_in_force IS DISTINCT FROM old.is_in_force)'],
  ['erasure', 'refuse_hidden_erasure', CONFIRMED],
  ['erasure', 'refuse_kept_erasure', CONFIRMED],
]

const literal = (value: string | null): string => (value === null ? 'null' : `$q$${value}$q$`)
const toSqlRows = (rows: readonly (readonly (string | null)[])[]): string =>
  rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')

const catalogueCtes = `with tables as (
  select c.oid, c.relname::text as name, c.relrowsecurity as rls, c.relforcerowsecurity as forced, c.relispartition as partition,
         pg_get_userbyid(c.relowner)::text as owner, w.kind,
         (select a.attnum from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) as tenant_col,
         exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'restriction_id' and not a.attisdropped)
           and c.relname not in ('restriction_force', 'restriction_person') as restricted,
         exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'also_restriction_id' and not a.attisdropped) as twice_restricted,
         exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'named_restriction_ids' and not a.attisdropped) as naming
    from pg_class c join pg_namespace n on n.oid = c.relnamespace left join app.wall_register w on w.table_name = c.relname
   where n.nspname = 'app' and c.relkind in ('r', 'p', 'f')
), walled as (select * from tables where kind <> 'system'
), restricting as (
  select oid, name, 'restriction_id' as col from walled where restricted
  union all select oid, name, 'also_restriction_id' from walled where twice_restricted
), serving as (select * from unnest(array['app', 'worker', 'steward']) as role
), wanted as (
  select t.name, w.policy, w.command, false as permissive, w.using_text, w.check_text
    from walled t join (values ${toSqlRows(isolationPolicies)}) as w (kind, policy, command, using_text, check_text) on w.kind = t.kind
  union all select name, 'open', '*', true, 'true', 'true' from walled
  union all select name, 'sight', '*', false, p.sight, p.sight from walled cross join lateral (
    select case when twice_restricted then ${literal(sightOfTwoPolicy)} when naming then ${literal(sightOfNamedPolicy)} else ${literal(sightPolicy)} end) as p (sight)
   where restricted or twice_restricted or naming
), present as (
  select t.name, p.polname::text as policy, p.polcmd::text as command, p.polpermissive as permissive,
         pg_get_expr(p.polqual, p.polrelid) as using_text, pg_get_expr(p.polwithcheck, p.polrelid) as check_text
    from walled t join pg_policy p on p.polrelid = t.oid and p.polroles = '{0}'::oid[]
), own_objects as (
  select n.oid as schema, r.oid as owner from pg_namespace n, pg_roles r where n.nspname = 'app' and r.rolname = 'app_owner'
)`

/** Each rule is one select that returns (rule, object) for every violation. These apply to every schema version. */
const invariantRules: readonly string[] = [
  // Every table has an isolation policy.
  `select 'table is not registered for isolation' as rule, name as object from tables where kind is null and not partition`,
  `select 'the isolation register names no table', table_name from app.wall_register w where not exists (select 1 from tables t where t.name = w.table_name)`,
  `select 'row security is off', name from walled where not rls`,
  `select 'row security is not forced', name from walled where not forced`,
  `select 'a command has no isolation policy', t.name || ' ' || c.command from walled t, unnest(array['r', 'a', 'w', 'd']) as c (command)
    where not exists (select 1 from present p where p.name = t.name and not p.permissive and p.command in ('*', c.command)
      and case c.command when 'a' then p.check_text else p.using_text end like '%app.tenant_id()%')`,
  `select 'rows of a restriction are not hidden by a policy', r.name from restricting r where not exists (
     select 1 from present p where p.name = r.name and p.policy = 'sight' and not p.permissive and p.command = '*'
        and p.using_text like '%app.is_in_force(' || r.col || '%' and p.check_text like '%app.is_in_force(' || r.col || '%')`,
  `select 'rows refer to no restriction of their tenant', r.name from restricting r where name <> 'restriction' and not exists (
     select 1 from pg_constraint k where k.conrelid = r.oid and k.contype = 'f' and k.confrelid = to_regclass('app.restriction')
        and (select array_agg(a.attname order by c.place) from unnest(k.conkey) with ordinality as c (attnum, place)
              join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.attnum) = array['tenant_id', r.col]::name[])`,
  // By the first restriction the chain writer knows of which events a link keeps the hash.
  `select 'a row may belong to a second restriction without a first', t.name from walled t where twice_restricted and not exists (
     select 1 from pg_constraint k where k.conrelid = t.oid and k.contype = 'c'
        and pg_get_expr(k.conbin, k.conrelid) = '((also_restriction_id IS NULL) OR (restriction_id IS NOT NULL))')`,
  `select 'a setting that isolation relies on has a default', c from pg_db_role_setting s, unnest(s.setconfig) c
    where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
      and c ~* '^(app\\.|row_security|session_replication_role)'`,
  `select 'a table is rewritten by a rule', t.name || '.' || r.rulename from tables t join pg_rewrite r on r.ev_class = t.oid`,

  // Keys carry the tenant.
  `select 'table has no tenant_id', name from walled where tenant_col is null`,
  `select 'tenant_id may be null or is no uuid', t.name from walled t join pg_attribute a on a.attrelid = t.oid and a.attnum = t.tenant_col
    where not a.attnotnull or a.atttypid <> 'uuid'::regtype`,
  `select 'system table has a tenant_id', name from tables where kind = 'system' and tenant_col is not null`,
  // A tenant that cannot write the column cannot use its uniqueness to probe for rows of others.
  `select 'a key does not start with tenant_id', t.name || '.' || i.indexrelid::regclass::text from pg_index i join walled t on t.oid = i.indrelid
    where (i.indisunique or i.indisexclusion) and (i.indkey::int2[])[0] is distinct from t.tenant_col and not (
      t.kind = 'directory' and i.indnatts = 1 and not has_column_privilege('app', t.oid, (i.indkey::int2[])[0], 'UPDATE'))`,
  // References across scopes, to a row of its own or of the system tenant, need a check constraint.
  `select 'a foreign key does not carry tenant_id', t.name || '.' || k.conname from pg_constraint k join walled t on t.oid = k.conrelid
     join tables r on r.oid = k.confrelid join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'f' and r.tenant_col is not null and (k.confkey[1] <> r.tenant_col or (k.conkey[1] <> t.tenant_col and not (
      r.kind = 'shared' and exists (select 1 from pg_constraint c where c.conrelid = t.oid and c.contype = 'c' and c.convalidated
        and pg_get_constraintdef(c.oid) = format('CHECK (((%1$I = tenant_id) OR (%1$I = app.system_tenant())))', a.attname)))))`,
  `select 'an index on a column whose operators leak cannot be used under row security', t.name || '.' || i.indexrelid::regclass::text
     from pg_index i join walled t on t.oid = i.indrelid join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])
     join pg_type y on y.oid = a.atttypid
    where a.atttypid in ('jsonb'::regtype, 'numeric'::regtype, 'tsvector'::regtype) or y.typtype = 'e'`,
  `select 'an expression index cannot be used under row security', t.name || '.' || i.indexrelid::regclass::text
     from pg_index i join walled t on t.oid = i.indrelid where i.indexprs is not null`,

  // History is append-only.
  `select 'an append table can be changed', t.name from walled t where kind in ('append', 'ledger') and (
     has_any_column_privilege('app', t.oid, 'UPDATE') or has_table_privilege('app', t.oid, 'DELETE') or not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'refuse_change'
        and g.tgenabled in ('O', 'A') and g.tgtype & 26 = 26 and g.tgqual is null and g.tgattr = ''))`,
  // A copy is append-only too, except that its content is encrypted once, in columns that are granted one by one.
  `select 'a copy can be changed', t.name from walled t where kind = 'copy' and (
     has_table_privilege('app', t.oid, 'UPDATE') or has_table_privilege('app', t.oid, 'DELETE') or 2 <> (
     select count(*) from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid
        and g.tgenabled in ('O', 'A') and g.tgqual is null and g.tgattr = ''
        and (f.proname, g.tgtype) in (('refuse_change', 10), ('encrypt_once', 19))))`,

  // Only an erasure overwrites the columns that the trigger names.
  `select 'history can be changed without an erasure', t.name from walled t where kind = 'erasable' and (
     has_table_privilege('app', t.oid, 'UPDATE') or has_table_privilege('app', t.oid, 'DELETE') or not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'refuse_change'
        and g.tgenabled in ('O', 'A') and g.tgtype & 10 = 10 and g.tgqual is null and g.tgattr = '') or not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'erase_only'
        and g.tgenabled in ('O', 'A') and g.tgtype & 19 = 19 and g.tgqual is null and g.tgattr = ''))`,

  // Grants.
  `select 'a serving role owns a table', name from tables where owner in ('app', 'worker', 'steward', 'migrator')`,
  `select 'a serving role may truncate, reference or add triggers', t.name || ' ' || role from tables t, serving
    where has_table_privilege(role, t.oid, 'TRUNCATE, REFERENCES, TRIGGER')`,
  `select 'a serving role may create objects', role from serving
    where has_schema_privilege(role, 'app', 'CREATE') or has_database_privilege(role, current_database(), 'CREATE')`,
  `select 'worker may touch more than the queue', name from walled where kind not in ('queue', 'ledger', 'directory')
      and (has_any_column_privilege('worker', oid, 'SELECT, INSERT, UPDATE') or has_table_privilege('worker', oid, 'DELETE'))`,
  `select 'worker may read whole rows', name from walled where has_table_privilege('worker', oid, 'SELECT')`,
  `select 'worker may read a payload', t.name || '.' || a.attname from walled t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0
    where not a.attisdropped and a.atttypid in ('jsonb'::regtype, 'json'::regtype, 'bytea'::regtype)
      and has_column_privilege('worker', t.oid, a.attnum, 'SELECT')`,
  `select 'worker may add or remove rows', name from walled
    where has_any_column_privilege('worker', oid, 'INSERT') or has_table_privilege('worker', oid, 'DELETE')`,
  // Insert only: the actions of the operator are recorded by the transactions that perform them.
  `select 'steward may touch rows of tenants', name from walled where kind not in ('shared', 'directory')
      and (has_any_column_privilege('steward', oid, 'SELECT, UPDATE') or has_table_privilege('steward', oid, 'DELETE')
        or (kind <> 'ledger' and has_any_column_privilege('steward', oid, 'INSERT')))`,
  `select 'app may add or remove tenants', name from walled where kind = 'directory'
      and (has_any_column_privilege('app', oid, 'INSERT') or has_table_privilege('app', oid, 'DELETE'))`,
  `select 'a system table can be written by a serving role', t.name || ' ' || role from tables t, serving
    where t.kind = 'system' and (has_any_column_privilege(role, t.oid, 'INSERT, UPDATE') or has_table_privilege(role, t.oid, 'DELETE'))`,
  `select 'the public may touch a table', t.name from tables t join pg_class c on c.oid = t.oid, aclexplode(c.relacl) a where a.grantee = 0`,
  `select 'the public may touch a column', t.name || '.' || c.attname from tables t join pg_attribute c on c.attrelid = t.oid, aclexplode(c.attacl) a
    where a.grantee = 0`,
  `select 'a partition is granted', t.name || ' ' || role from tables t, serving
    where partition and (has_any_column_privilege(role, oid, 'SELECT, INSERT, UPDATE') or has_table_privilege(role, oid, 'DELETE'))`,

  // Ways to bypass row-level security.
  `select 'a view does not run as its caller', c.relname::text from pg_class c, own_objects o
    where (c.relnamespace = o.schema or c.relowner = o.owner) and c.relkind = 'v'
      and not coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on'], false)`,
  `select 'a materialised view holds tenant data', c.relname::text from pg_class c, own_objects o
    where (c.relnamespace = o.schema or c.relowner = o.owner) and c.relkind = 'm'`,
  `select 'a function runs with the rights of its owner', p.oid::regprocedure::text from pg_proc p, own_objects o
    where (p.pronamespace = o.schema or p.proowner = o.owner) and p.prosecdef`,
  `select 'a sequence could reach a client', c.relname::text from pg_class c, own_objects o where c.relnamespace = o.schema and c.relkind = 'S'`,
  `select 'a role may do too much', rolname::text from pg_roles where rolname in ('app', 'worker', 'steward', 'migrator', 'app_owner')
      and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`,
  `select 'a serving role inherits from or may become another role', m.rolname || ' ' || r.rolname from pg_auth_members a
     join pg_roles m on m.oid = a.member join pg_roles r on r.oid = a.roleid where m.rolname in ('app', 'worker', 'steward')`,
  `select 'a role is missing', r from unnest(array['app', 'worker', 'steward', 'migrator', 'app_owner']) r
    where not exists (select 1 from pg_roles where rolname = r)`,
]

/**
 * These compare with this version of the migrations: every policy is the one of its kind, and no row is written without an
 * actor.
 */
const schemaRules: readonly string[] = [
  `select 'an isolation policy is missing or is not as written', name || '.' || policy from (select * from wanted except select * from present) missing`,
  `select 'a policy is not one of isolation', t.name || '.' || p.polname from walled t join pg_policy p on p.polrelid = t.oid
    where not exists (select 1 from wanted w where w.name = t.name and w.policy = p.polname)`,
  `select 'a function of isolation is missing or is not as written', name from (
     select * from (values ${toSqlRows(functions)}) as f (name, body)
     except select p.proname::text, pg_get_function_sqlbody(p.oid) from pg_proc p where p.pronamespace = 'app'::regnamespace) missing`,
  `select 'a function of sight is missing or is not as written', f.name from (values ${toSqlRows(sightFunctions)}) as f (name, digest)
    where not exists (select 1 from pg_proc p where p.pronamespace = 'app'::regnamespace and p.proname = f.name
      and p.proconfig is not distinct from case when f.name = any ('{keep_restriction_force,keep_restriction_list,keep_restriction_merged,keep_restriction_person,has_ending_access,refuse_ending_access}')
                                                then array['search_path=pg_catalog, pg_temp'] end
      and md5(p.prosrc) = f.digest)`,
  `select 'a function of copies is missing or is not as written', 'encrypt_once' where not exists (
     select 1 from pg_proc p where p.pronamespace = 'app'::regnamespace and p.proname = 'encrypt_once' and p.proconfig is null
       and md5(p.prosrc) = '${ENCRYPT_ONCE_DIGEST}')`,
  `select 'a function that keeps history is missing or is not as written', f.name from (values ${toSqlRows(historyFunctions)}) as f (name, digest)
    where not exists (select 1 from pg_proc p where p.pronamespace = 'app'::regnamespace and p.proname = f.name and p.proconfig is null
      and md5(p.prosrc) = f.digest)`,
  `select 'tenants can be removed by hand', 'tenant' where not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = to_regclass('app.tenant') and f.proname = 'keep_tenant'
        and g.tgenabled in ('O', 'A') and g.tgtype = 31 and g.tgqual is null)`,
  `select 'a trigger that sight relies on is missing or off', w.name || '.' || w.function from (values ${toSqlRows(sightTriggers)}) as w (name, function, condition)
    where not exists (select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = to_regclass('app.' || w.name)
      and f.proname = w.function and g.tgenabled in ('O', 'A') and g.tgattr = ''
      and coalesce(substring(pg_get_triggerdef(g.oid) from ' WHEN \\((.*)\\) EXECUTE '), '') = w.condition
      and g.tgtype = case w.function when 'inherit_restriction' then 7 when 'restrict_mcp_approval' then 7 when 'restrict_approved_call' then 7
                       when 'restrict_plugin_invocation' then 7 when 'restrict_evidence_item' then 7 when 'keep_restriction_force' then 31 when 'keep_restriction_list' then 31
                       when 'keep_restriction_person' then 31 when 'keep_restriction_merged' then 31 when 'follow_merged_restriction' then 17 when 'list_restriction' then 29
                       when 'refuse_ending_access' then case w.name when 'restriction' then 19 else 31 end
                       when 'refuse_operator_access' then 23 when 'refuse_hidden_erasure' then 19 when 'refuse_kept_erasure' then 19 else 21 end)`,
  // The rows that decide about sight go with the access that they copy.
  `select 'a revoked access would remain in sight', 'restriction_person' where not exists (
     select 1 from pg_constraint k where k.conrelid = to_regclass('app.restriction_person') and k.contype = 'f'
       and k.confrelid = to_regclass('app.restriction_access') and k.confdeltype = 'c' and k.convalidated)`,
  // An append-only table checks the actor by a policy.
  `select 'the actor trigger is missing or off', t.name from walled t where kind <> 'ledger' and not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'require_actor'
        and g.tgenabled in ('O', 'A') and g.tgtype & 30 = 30 and g.tgqual is null and g.tgattr = '')`,
]

/**
 * `known_schema`: the newest version that this process knows. On a newer schema it cannot tell a policy changed by a migration
 * from a broken one; processes of the newer release can, and it only checks what applies to every version.
 */
export async function findIsolationFaults(query: QueryRows, known_schema: string): Promise<IsolationFault[]> {
  const isKnown = `(select coalesce(max(version), '') from app.migration) <= ${literal(known_schema)}`
  const ofSchema = `select * from (${schemaRules.join('\n union all ')}) as of_schema (rule, object) where ${isKnown}`
  const rows = await query(`${catalogueCtes} ${[...invariantRules, ofSchema].join('\n union all ')} order by 1, 2`)
  return rows as unknown as IsolationFault[]
}

export const isolationRuleCount = invariantRules.length + schemaRules.length

/** PostgreSQL 15 introduced security_invoker views, which isolation relies on. */
export const MINIMUM_SERVER_VERSION = 150_000

/** Checks that a connection has exactly the role it was configured for. */
export async function findRoleFault(query: QueryRows, expected: string): Promise<string | null> {
  const [row] = await query(
    `select current_user::text as name, session_user::text as session, r.rolsuper, r.rolbypassrls,
            current_setting('search_path') as search_path, current_setting('server_version_num')::int as version from pg_roles r where r.rolname = current_user`,
  )
  if (!row) return 'the current role is not in the catalogue'
  if (Number(row['version']) < MINIMUM_SERVER_VERSION)
    return `PostgreSQL ${Math.floor(Number(row['version']) / 10_000)} is too old; 15 or newer is needed`
  if (row['name'] !== expected || row['session'] !== expected) {
    return `the connection runs as ${row['name']}, but must be ${expected}; "npx probity roles --print" gives the SQL that makes the roles`
  }
  if (row['rolsuper'] || row['rolbypassrls'])
    return `${expected} is a superuser or bypasses row security; run the SQL of "npx probity roles --print"`
  // Otherwise another schema could shadow our names, and policies would be printed differently.
  if (row['search_path'] !== 'pg_catalog')
    return `the search path of ${expected} is not pg_catalog; run the SQL of "npx probity roles --print"`
  return null
}
