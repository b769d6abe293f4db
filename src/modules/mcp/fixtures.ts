/** Test fixtures of the tool protocol's own operations: one valid call per operation. */
import { fullScope } from '#kernel/database/scope.ts'
import type { Actor } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixtures, noInput, type TextsInEvents } from '#test/support/operation-fixture.ts'
import { type ApprovalRow, deferCall, insertApproval } from './queries.ts'
import { hashArguments } from './server/tool-call.ts'

const once = createOncePerTenant()
const toArguments = () => ({ type_key: 'country-risk' })

/** A call of the author that waits for a person. */
async function newApproval(t: ExampleTenant): Promise<string> {
  const given = toArguments()
  const actor = { tenant_id: t.tenant_id } as Actor
  const approval = await t.w.runtime.database.write(fullScope(t.tenant_id, t.author), (tx) =>
    insertApproval(tx, {
      approval_id: uuidv7(),
      tool: 'search_lists',
      operation: 'listDatasets',
      arguments: given,
      arguments_hash: hashArguments({ kernel: t.w.kernel, actor }, 'search_lists', given),
      client: 'Desk assistant 1.4',
      requested_roles: ['analyst'],
    }),
  )
  return (approval as ApprovalRow).approval_id
}

const ensureCall = (t: ExampleTenant): Promise<string> =>
  once(t, 'call', async () => {
    const call_id = uuidv7()
    const given = toArguments()
    const kernel = t.w.kernel
    await t.w.runtime.database.write(fullScope(t.tenant_id, t.author), async (tx) =>
      deferCall(tx, {
        call_id,
        client: 'Desk assistant 1.4',
        tool: 'search_lists',
        operation: 'listDatasets',
        arguments_hash: hashArguments({ kernel, actor: { tenant_id: t.tenant_id } as Actor }, 'search_lists', given),
        result_hash: kernel.auditKeys.fingerprint('{}'),
        problem: null,
        approval_id: null,
        request_id: uuidv7(),
        duration_ms: 12,
        restriction_id: null,
      }),
    )
    return call_id
  })

export const textsInEvents: TextsInEvents = ['updateToolPolicy']

export const fixtures: Fixtures = {
  listTools: noInput,
  getToolPolicy: noInput,
  updateToolPolicy: () => ({
    body: { rules: [{ tool: 'start_batch', roles: ['service'], decision: 'person' }] },
  }),
  listToolApprovals: async (t) => {
    await once(t, 'approval', () => newApproval(t))
    return {}
  },
  getToolApproval: async (t) => ({
    params: { approval_id: await once(t, 'approval', () => newApproval(t)) },
  }),
  approveToolCall: async (t) => ({ params: { approval_id: await newApproval(t) }, body: {} }),
  denyToolCall: async (t) => ({
    params: { approval_id: await newApproval(t) },
    body: { note: 'The analyst can search the lists in the console.' },
  }),
  listToolCalls: async (t) => {
    await ensureCall(t)
    return {}
  },
  getToolCall: async (t) => ({ params: { call_id: await ensureCall(t) } }),
  getProtectedResource: noInput,
  getToolProtocolResource: noInput,
}
