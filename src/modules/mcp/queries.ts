/** SQL of the tool protocol: policy, calls, and calls that wait for a person. */

import type { ToolRule } from '#kernel/auth/tool-policy.ts'
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface ToolPolicyRow {
  readonly rules: readonly ToolRule[]
  readonly revision: number
  readonly updated_at: string
  readonly updated_by: string
}

const policyColumns = 'rules, revision, updated_at, updated_by'

export const findToolPolicy = (tx: Tx) =>
  tx.find<ToolPolicyRow>(`select ${policyColumns} from app.mcp_tool_policy where tenant_id = $1`, [tx.tenant_id])

export const lockToolPolicy = (tx: Tx) =>
  tx.find<ToolPolicyRow>(`select ${policyColumns} from app.mcp_tool_policy where tenant_id = $1 for update`, [
    tx.tenant_id,
  ])

/** The first row follows revision 1, which is no policy at all. */
export const upsertToolPolicy = (tx: Tx, rules: readonly ToolRule[]) =>
  tx.find<ToolPolicyRow>(
    `insert into app.mcp_tool_policy as p (tenant_id, rules, revision, updated_by) values ($1, $2::jsonb, 2, $3)
     on conflict on constraint mcp_tool_policy_pkey do update
       set rules = excluded.rules, revision = p.revision + 1, updated_at = now(), updated_by = excluded.updated_by
     returning ${policyColumns}`,
    [tx.tenant_id, JSON.stringify(rules), tx.actor],
  )

export interface CallRow {
  readonly call_id: string
  readonly called_at: string
  readonly principal: string
  readonly client: string | null
  readonly tool: string
  readonly operation: string | null
  readonly arguments_hash: string
  readonly result_hash: string | null
  readonly problem: string | null
  readonly approval_id: string | null
  readonly request_id: string
  readonly duration_ms: number
  readonly restriction_id: string | null
}

/** Sent together with the event of the call. */
export const deferCall = (
  tx: Tx,
  call: Omit<CallRow, 'called_at' | 'principal'> & { readonly restriction_id: string | null },
): void =>
  tx.defer(
    `insert into app.mcp_call (tenant_id, call_id, principal, client, tool, operation, arguments_hash, result_hash, problem,
       approval_id, request_id, duration_ms, restriction_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      tx.tenant_id,
      call.call_id,
      tx.actor,
      call.client,
      call.tool,
      call.operation,
      call.arguments_hash,
      call.result_hash,
      call.problem,
      call.approval_id,
      call.request_id,
      call.duration_ms,
      call.restriction_id,
    ],
  )

const callColumns = `call_id, called_at, principal, client, tool, operation, arguments_hash, result_hash, problem, approval_id,
  request_id, duration_ms, ${restrictionInForce()}`

/** A call is hidden with its approval, also where the outcome of that named what is hidden. */
const seesApproval = `(c.approval_id is null or exists (
  select 1 from app.mcp_approval a where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id))`

export interface CallFilter {
  readonly tool: string | null
  readonly principal: string | null
  readonly outcome: 'succeeded' | 'problem' | null
}

/** Newest first. */
export const listCalls = (tx: Tx, filter: CallFilter, after: PagePosition, count: number) =>
  tx.query<CallRow>(
    `select ${callColumns} from app.mcp_call c
      where tenant_id = $1 and ${seesApproval} and ($2::text is null or tool = $2) and ($3::text is null or principal = $3)
        and ($4::text is null or (problem is null) = ($4 = 'succeeded'))
        and ($5::timestamptz is null or (called_at, call_id) < ($5, $6::uuid))
      order by called_at desc, call_id desc limit $7`,
    [tx.tenant_id, filter.tool, filter.principal, filter.outcome, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findCall = (tx: Tx, call_id: string) =>
  tx.find<CallRow>(
    `select ${callColumns} from app.mcp_call c where tenant_id = $1 and call_id = $2 and ${seesApproval}`,
    [tx.tenant_id, call_id],
  )

export interface ApprovalRow {
  readonly approval_id: string
  readonly tool: string
  readonly operation: string
  readonly arguments: Record<string, unknown>
  readonly arguments_hash: string
  readonly client: string | null
  readonly requested_at: string
  readonly requested_by: string
  readonly requested_roles: string[]
  readonly expires_at: string
  readonly state: 'waiting' | 'expired' | 'approved' | 'denied' | 'succeeded' | 'failed'
  readonly decided_at: string | null
  readonly decided_by: string | null
  readonly note: string | null
  readonly outcome: unknown
  readonly collected_at: string | null
  readonly running: boolean
  readonly run_problem: string | null
  readonly ran_at: string | null
  readonly restriction_id: string | null
}

const isRunning = `coalesce(state = 'approved' and running_until > now(), false)`

/** An approved call that never ran expires like one that waits. */
const approvalColumns = `approval_id, tool, operation, arguments, arguments_hash, client, requested_at, requested_by, requested_roles,
  expires_at, case when now() >= expires_at and (state = 'waiting' or state = 'approved' and ran_at is null and not ${isRunning})
    then 'expired' else state end as state, decided_at, decided_by, note, outcome, collected_at, ${isRunning} as running, run_problem, ran_at,
  ${restrictionInForce()}`

/** Held until the transaction ends: the same call of the same caller opens one approval, and its outcome is collected once. */
export const lockApprovalsOfCall = (tx: Tx, { tool, arguments_hash }: Pick<ApprovalRow, 'tool' | 'arguments_hash'>) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `tool-approval:${tx.tenant_id}:${tx.actor}:${tool}:${arguments_hash}`,
  ])

/** How long identical calls that were sent at the same time get the collected outcome too. */
const COLLECTED_FOR = '1 minute'

/** The newest request of this principal for the same call that still matters. */
export const findApprovalOfCall = (tx: Tx, { tool, arguments_hash }: Pick<ApprovalRow, 'tool' | 'arguments_hash'>) =>
  tx.find<ApprovalRow>(
    `select ${approvalColumns} from app.mcp_approval
      where tenant_id = $1 and requested_by = $2 and tool = $3 and arguments_hash = $4
        and (collected_at is null or collected_at > now() - interval '${COLLECTED_FOR}')
        and (now() < expires_at or state = 'approved' and (ran_at is not null or ${isRunning}))
      order by requested_at desc limit 1 for update`,
    [tx.tenant_id, tx.actor, tool, arguments_hash],
  )

/** How many of the ids name something that can be restricted and that the caller sees. */
export const countNamed = async (tx: Tx, ids: readonly string[]): Promise<number> =>
  (
    await tx.find<{ count: number }>(
      'select count(distinct id)::bigint as count from app.find_restricted($1, $2::uuid[])',
      [tx.tenant_id, ids],
    )
  )?.count ?? 0

/** Whether the audit record names an object, as the caller sees it. */
export const hasEvents = async (tx: Tx, object_id: string): Promise<boolean> =>
  (await tx.find('select 1 from app.audit_event where tenant_id = $1 and object_id = $2 limit 1', [
    tx.tenant_id,
    object_id,
  ])) !== undefined

export const insertApproval = (
  tx: Tx,
  approval: Pick<
    ApprovalRow,
    'approval_id' | 'tool' | 'operation' | 'arguments' | 'arguments_hash' | 'client' | 'requested_roles'
  >,
) =>
  tx.find<ApprovalRow>(
    `insert into app.mcp_approval (tenant_id, approval_id, tool, operation, arguments, arguments_hash, client, requested_by,
       requested_roles, expires_at)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, now() + interval '24 hours') returning ${approvalColumns}`,
    [
      tx.tenant_id,
      approval.approval_id,
      approval.tool,
      approval.operation,
      JSON.stringify(approval.arguments),
      approval.arguments_hash,
      approval.client,
      tx.actor,
      approval.requested_roles,
    ],
  )

/** Newest first. */
export const listApprovals = (tx: Tx, state: string | null, after: PagePosition, count: number) =>
  tx.query<ApprovalRow>(
    `select * from (select ${approvalColumns} from app.mcp_approval where tenant_id = $1) a
      where ($2::text is null or state = $2 or $2 = 'open' and state in ('waiting', 'approved')) and ($3::timestamptz is null or (requested_at, approval_id) < ($3, $4::uuid))
      order by requested_at desc, approval_id desc limit $5`,
    [tx.tenant_id, state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findApproval = (tx: Tx, approval_id: string) =>
  tx.find<ApprovalRow>(`select ${approvalColumns} from app.mcp_approval where tenant_id = $1 and approval_id = $2`, [
    tx.tenant_id,
    approval_id,
  ])

export const lockApproval = (tx: Tx, approval_id: string) =>
  tx.find<ApprovalRow>(
    `select ${approvalColumns} from app.mcp_approval where tenant_id = $1 and approval_id = $2 for update`,
    [tx.tenant_id, approval_id],
  )

/** How long a run is taken for one that goes on, where its process does not say how it ended. */
const RUNS_FOR = '5 minutes'

/** What is approved runs at once: nobody can deny it in between. */
export const updateApprovalDecided = (
  tx: Tx,
  approval_id: string,
  { state, note }: { state: 'approved' | 'denied'; note: string | null },
) =>
  tx.find<ApprovalRow>(
    `update app.mcp_approval set state = $3, decided_at = now(), decided_by = $4, note = $5,
            running_until = case when $3 = 'approved' then now() + interval '${RUNS_FOR}' end
      where tenant_id = $1 and approval_id = $2 returning ${approvalColumns}`,
    [tx.tenant_id, approval_id, state, tx.actor, note],
  )

export const updateApprovalRunning = (tx: Tx, approval_id: string) =>
  tx.find<ApprovalRow>(
    `update app.mcp_approval set running_until = now() + interval '${RUNS_FOR}'
      where tenant_id = $1 and approval_id = $2 and state = 'approved' returning ${approvalColumns}`,
    [tx.tenant_id, approval_id],
  )

/** The run ended without an outcome: the call stays approved. */
export const updateApprovalNotRun = (tx: Tx, approval_id: string, run_problem: string) =>
  tx.run(
    `update app.mcp_approval set running_until = null, run_problem = $3
      where tenant_id = $1 and approval_id = $2 and state = 'approved'`,
    [tx.tenant_id, approval_id, run_problem],
  )

export const updateApprovalOutcome = (
  tx: Tx,
  approval_id: string,
  { state, outcome }: { state: 'succeeded' | 'failed'; outcome: unknown },
) =>
  tx.find<ApprovalRow>(
    `update app.mcp_approval set state = $3, outcome = $4::jsonb, running_until = null, run_problem = null
      where tenant_id = $1 and approval_id = $2 and state = 'approved' returning ${approvalColumns}`,
    [tx.tenant_id, approval_id, state, JSON.stringify(outcome)],
  )

export const updateApprovalCollected = (tx: Tx, approval_id: string) =>
  tx.run(
    'update app.mcp_approval set collected_at = now() where tenant_id = $1 and approval_id = $2 and collected_at is null',
    [tx.tenant_id, approval_id],
  )

const toolApprovals = {
  table: 'mcp_approval',
  restriction: 'r.restriction_id',
  other_restrictions: 'r.named_restriction_ids',
  id: 'r.approval_id',
  owner: 'app.subject_named(r.arguments)',
  text: `concat_ws(E'\\n', app.json_texts(r.arguments), app.json_texts(r.outcome), r.note)`,
  json: 'jsonb_build_array(r.arguments, r.outcome)',
  set: `arguments = '{}', outcome = case when r.outcome is null then null else '{}'::jsonb end, note = null`,
}
/** What waits for a decision is changed only where it is about the subject. */
export const toolApprovalErasure = createErasureClass(
  'tool-approvals',
  'Arguments and outcomes of tool calls that waited for a person',
  [
    { ...toolApprovals, where: `r.state in ('waiting', 'approved')`, by_mark: 'review' },
    { ...toolApprovals, where: `r.state not in ('waiting', 'approved')` },
  ],
)
