/** Verifies a credential of a tool server: whether its tools can be listed with it. */
import { requestScope } from '#kernel/database/scope.ts'
import { type CheckKernel, checkServer } from '#modules/tool-servers/index.ts'
import { ToolServerFailed } from '#provider/tools/tool-faults.ts'
import type { TestContext, TestResult } from './test-call.ts'

const PREFIX = 'mcp/'

export const isToolServer = ({ provider_key }: { readonly provider_key: string }): boolean =>
  provider_key.startsWith(PREFIX)

export async function verifyServer(
  { kernel, actor, signal }: Omit<TestContext, 'kernel'> & { readonly kernel: CheckKernel },
  { provider_key }: { readonly provider_key: string },
  credential: { readonly credential_id: string; readonly version: number },
): Promise<TestResult> {
  const scope = requestScope(actor)
  const started_ms = performance.now()
  const toResult = (outcome: TestResult['outcome'], fault: string | null): TestResult => ({
    outcome,
    fault,
    call_id: null,
    result: null,
    admission_id: null,
    duration_ms: Math.round(performance.now() - started_ms),
  })
  try {
    const request = { server_key: provider_key.slice(PREFIX.length), credential, is_verification: true }
    await checkServer(kernel, { scope, signal }, request)
    return toResult('answered', null)
  } catch (error) {
    if (!(error instanceof ToolServerFailed)) throw error
    return toResult(error.fault === 'unauthorized' ? 'refused' : 'failed', error.fault)
  }
}
