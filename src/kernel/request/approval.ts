/**
 * Approval by a second person. Where the tenant's policy requires approvers, a governed request runs as a dry run in a savepoint
 * and is stored as a change request bound to its exact content and to the state it was made against.
 */
import { createHash } from 'node:crypto'
import { type AuditNotes, getOnlyRestriction } from '../audit/record.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { Tx } from '../database/tx.ts'
import type { GovernedChange, RequestMetadata, Route } from '../route.ts'
import {
  closed,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  RestrictionInForce,
  Revision,
  Timestamp,
  Type,
  text,
} from '../schema.ts'
import { uuidv7 } from '../uuid.ts'
import { assertEnoughApprovers } from './approvers.ts'
import {
  type ApprovalRule,
  type ChangeRequestRow,
  changeRequestProtocols,
  changeRequestStates,
  dryRunInSavepoint,
  findApprovalRule,
  findOpenProposal,
  insertChangeRequest,
  lockProposal,
} from './queries.ts'

export const ChangeRequestView = closed(
  {
    cr_id: Id(),
    action: text(100),
    operation: text(100, { description: 'operationId of the request that waits.' }),
    params: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    query: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The stored query, executed as well.',
    }),
    body: Type.Unsafe<unknown>({ description: 'The stored request body, exactly what approving will execute.' }),
    changes: nullable(
      listOf(
        closed({
          member: text(600),
          before: Type.Unsafe<unknown>({ description: 'Null: not set.' }),
          after: Type.Unsafe<unknown>({ description: 'Null: removed.' }),
        }),
        200,
        {
          description:
            'What would change, compared with the state when it was proposed; once approved, what it changed. Null: the operation ' +
            'names no members, or the request is older than this member.',
        },
      ),
    ),
    content_hash: text(64),
    head: nullable(text(200, { description: 'The state it was proposed against; approving fails when it has moved.' })),
    state: oneOf(changeRequestStates, {
      description: 'void: the subject it concerns was erased before it was decided; its content is gone.',
    }),
    is_outdated: Type.Optional(
      Type.Boolean({
        description:
          'Of an open request in a list: what it is based on has changed since, so that it can only be rejected or withdrawn.',
      }),
    ),
    required_role: text(50),
    approvers: integer(1, 5),
    require_impact: Type.Boolean({ description: 'Approving needs an impact run that still holds.' }),
    impact_run_id: nullable(
      Id({ description: 'The impact run made for it last, or one of the same version from before the request.' }),
    ),
    approvals: listOf(closed({ approved_by: text(200), approved_at: Timestamp(), note: nullable(text(2000)) }), 5),
    created_at: Timestamp(),
    created_by: text(200),
    via: nullable(
      oneOf(changeRequestProtocols, {
        description: 'mcp: proposed through an assistant. Null: proposed before this was recorded.',
      }),
    ),
    client: nullable(text(200, { description: 'What the program of the assistant calls itself, where it is known.' })),
    existing: Type.Optional(
      Type.Boolean({
        description:
          'In the answer to a proposal only, true: its author had proposed exactly this before, and that request is still open. ' +
          'No second one was created.',
      }),
    ),
    decided_at: nullable(Timestamp()),
    decided_by: nullable(text(200)),
    decision_note: nullable(text(2000)),
    restriction_id: RestrictionInForce(),
    revision: Revision,
  },
  { title: 'ChangeRequest' },
)

interface RequestContent {
  readonly params: unknown
  readonly query?: unknown
  readonly body: unknown
}

/** Runs the handler of a proposed change; its notes then tell what would change. */
interface DryRun {
  readonly run: () => Promise<unknown>
  readonly audit: Pick<AuditNotes, 'changes' | 'restriction'>
  readonly request: Pick<RequestMetadata, 'assistant'>
}

/** A request without a query has the same hash as before there were queries. */
export function hashContent(operation: string, { params, query, body }: RequestContent): string {
  const ownQuery = Object.keys(query ?? {}).length > 0 ? { query } : {}
  const content = canonicalJson({ operation, params: params ?? {}, ...ownQuery, body: body ?? null })
  return createHash('sha256').update(content).digest('hex')
}

/** The rule that requires approvers for this change, or undefined where it needs none. */
export async function findApplicableRule(
  tx: Tx,
  governed: NonNullable<Route['governed']>,
  change: GovernedChange,
): Promise<ApprovalRule | undefined> {
  if (governed.skipApprovalIf?.(change.body)) return undefined
  const rule = (await findApprovalRule(tx, governed.action)) ?? (await governed.findDefaultRule?.(tx, change))
  return rule && (await governed.requiresApproval?.(tx, rule, change)) !== false ? rule : undefined
}

/** The stored change request, or undefined when the policy requires no approval. */
export async function proposeIfGoverned(
  tx: Tx,
  route: Route,
  input: RequestContent,
  attempt: DryRun,
): Promise<ProposedChange | undefined> {
  const governed = route.governed
  if (!governed) return undefined
  const rule = await findApplicableRule(tx, governed, input)
  return rule && propose(tx, { route, governed, rule }, input, attempt)
}

/** Creates a change request for an operation, whatever the policy says of its author. */
export async function submitChangeRequest(
  tx: Tx,
  route: Route,
  input: { params: Record<string, string>; body: unknown },
  attempt: DryRun,
): Promise<ProposedChange> {
  const governed = route.governed as NonNullable<Route['governed']>
  const rule = (await findApprovalRule(tx, governed.action)) ?? {
    action: governed.action,
    role: route.roles[0] as string,
    approvers: 1,
    require_impact: false,
  }
  return propose(tx, { route, governed, rule }, input, attempt)
}

export type ProposedChange = ChangeRequestRow & { readonly existing?: true }

interface Governed {
  readonly route: Route
  readonly governed: NonNullable<Route['governed']>
  readonly rule: ApprovalRule
}

/** An instant has one spelling in a request, so that the same proposal is recognised. */
function normalizeInstants(route: Route, body: unknown): unknown {
  const { properties = {} } = (route.body ?? {}) as { properties?: Readonly<Record<string, { format?: string }>> }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) =>
      typeof value === 'string' && properties[name]?.format === 'date-time'
        ? [name, value.replace(/(\.[0-9]*?)0+Z$/, '$1Z').replace(/\.Z$/, 'Z')]
        : [name, value],
    ),
  )
}

/** The open request of the same author for the same content and state, or a new one. */
async function propose(
  tx: Tx,
  { route, governed, rule }: Governed,
  given: RequestContent,
  { run, audit, request }: DryRun,
): Promise<ProposedChange> {
  const input = { ...given, body: normalizeInstants(route, given.body) }
  await assertEnoughApprovers(tx, { ...rule, action: governed.action })
  const head = await governed.head(tx, (input.params ?? {}) as Record<string, string>)
  // A request that could not be executed now is refused now, not when it is approved.
  await dryRunInSavepoint(tx, run)
  const content_hash = hashContent(route.id, input)
  await lockProposal(tx, content_hash)
  const existing = await findOpenProposal(tx, { content_hash, head })
  if (existing) return { ...existing, existing: true }
  const inserted = await insertChangeRequest(tx, {
    cr_id: uuidv7(),
    action: governed.action,
    operation: route.id,
    params: input.params,
    query: input.query,
    body: input.body,
    changes: audit.changes,
    restriction_id: getOnlyRestriction(audit.restriction),
    content_hash,
    head,
    required_role: rule.role,
    approvers: rule.approvers,
    require_impact: rule.require_impact && governed.has_impact !== false,
    via: request.assistant ? 'mcp' : 'http',
    client: request.assistant?.client ?? null,
  })
  return inserted as ChangeRequestRow
}
