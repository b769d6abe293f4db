/** Lists the tools of a server: when somebody asks for it, and regularly for every server whose tools are pinned. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Slug } from '#kernel/schema.ts'
import { credentialStore, expectReady, findReadiness } from '#modules/provider-credentials/index.ts'
import { ToolServerFailed } from '#provider/tools/tool-faults.ts'
import { type CheckKernel, checkServer } from './check-server.ts'
import { listServersDue } from './queries.ts'
import type { ServerCredential } from './server-access.ts'

export const DISCOVER_TOOLS = 'tool-discovery'
const CHECK_EVERY_S = 3600
const MAX_PER_RUN = 100
const uses = ['caches', 'egress', 'encryption', 'forced_provider_mode', 'log', 'metrics', 'transactions'] as const

/** The credential that lists the tools of the server: 424 where it is missing. */
export async function expectServerCredential(
  kernel: Capabilities<'caches' | 'forced_provider_mode'>,
  tx: Tx,
  server_key: string,
): Promise<ServerCredential> {
  const key = credentialStore.toCredentialKey(server_key)
  return (await expectReady(kernel, tx, [key])).get(key)?.credential ?? null
}

export const discoverToolsJob = defineJob({
  kind: DISCOVER_TOOLS,
  summary: 'Asks a tool server which tools it offers, and compares them with those that are pinned.',
  payload: closed({ server_key: Slug() }),
  resumes: 'restart',
  max_attempts: 3,
  visible_to: ['tenant_admin', 'compliance_officer', 'policy_editor', 'auditor'],
  uses,
  run: async ({ payload, scope, kernel, signal, read, finish }) => {
    const { server_key } = payload
    const credential = await read((tx) => expectServerCredential(kernel, tx, server_key))
    try {
      const result = await checkServer(kernel, { scope, signal }, { server_key, credential })
      await finish(async () => ({ server_key, ...result, quarantined: [...result.quarantined] }))
    } catch (error) {
      if (error instanceof ToolServerFailed) throw toProblem(server_key, error)
      throw error
    }
    return null
  },
})

export const toProblem = (server_key: string, { fault, http_status }: ToolServerFailed): Problem =>
  new Problem(fault === 'unauthorized' ? 'provider_refused' : 'provider_failed', {
    detail: `The tools of the server ${server_key} cannot be listed: ${fault}.`,
    members: { server_key, fault, ...(http_status !== null && { http_status }) },
  })

export const checkToolsJob = defineJob({
  kind: 'tool-check',
  summary:
    'Compares what tool servers offer with what is pinned; tools that changed or vanished are not used any more.',
  payload: closed({}),
  every_s: CHECK_EVERY_S,
  resumes: 'restart',
  visible_to: ['tenant_admin', 'compliance_officer', 'auditor'],
  uses,
  run: async (context: JobContext<object, unknown, CheckKernel & Capabilities<'caches' | 'forced_provider_mode'>>) => {
    const { kernel, scope, signal, read, finish } = context
    const due = kernel.forced_provider_mode ? [] : await read((tx) => listServersDue(tx, MAX_PER_RUN))
    const counts = { checked: 0, failed: 0, blocked: 0 }
    for (const { server_key } of due) {
      if (signal.aborted) break
      const key = credentialStore.toCredentialKey(server_key)
      const ready = (await read((tx) => findReadiness(kernel, tx, [key]))).get(key)?.ready
      // Without its credential the list would be refused; calls answer 424 meanwhile.
      if (!ready) {
        counts.blocked++
        continue
      }
      try {
        await checkServer(kernel, { scope, signal }, { server_key, credential: ready.credential })
        counts.checked++
      } catch (error) {
        if (!(error instanceof ToolServerFailed)) throw error
        counts.failed++
      }
    }
    await finish(async () => counts)
    return null
  },
})
