/** Reports the progress of a job to a caller that asks for it, while its call waits for the job. */
import { isTerminal } from '#kernel/job/schema.ts'
import { type ToolRequest, toToolRequest } from '../tools/arguments.ts'
import type { Tool } from '../tools/catalogue.ts'
import type { ToolCall } from './tool-call.ts'

interface JobProgress {
  readonly state: string
  readonly progress: { readonly done: number; readonly total: number | null }
}

const JOB_TOOL = 'getJob'

/**
 * With a progress token, a call that waits for a job first waits for each of its changes and reports them; the recorded call then
 * returns its state. Without one it waits once.
 */
export async function followJob<T>(
  call: ToolCall,
  tool: Tool,
  request: ToolRequest,
  run: () => Promise<T>,
): Promise<T> {
  const token = call.ctx.mcpReq._meta?.progressToken
  const wait_s = (request.query as { wait?: unknown } | undefined)?.wait
  if (token === undefined || tool.route.id !== JOB_TOOL || typeof wait_s !== 'number') return run()
  const { session, ctx, given } = call
  const until_ms = call.started_ms + Math.min(wait_s, 8) * 1000
  let reported = -1
  for (;;) {
    const left_s = Math.floor((until_ms - performance.now()) / 1000)
    if (left_s < 1 || ctx.mcpReq.signal.aborted) break
    const { params } = toToolRequest(tool, given)
    const inputs = { params, query: { wait: left_s }, body: undefined }
    // A problem is the answer of the recorded call, which meets it too.
    const response = await session.kernel
      .call(tool.route.id, session.actor, inputs, { via: 'mcp', request: session.request })
      .catch(() => undefined)
    if (!response) break
    const { state, progress } = JSON.parse(response.body ?? '{}') as JobProgress
    // The protocol allows only values that increase.
    if (progress.done > reported) {
      reported = progress.done
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: {
          progressToken: token,
          progress: progress.done,
          ...(progress.total !== null && { total: progress.total }),
          message: `The job is ${state}.`,
        },
      })
    }
    if (isTerminal(state)) break
  }
  ;(request.query as { wait?: number }).wait = 0
  return run()
}
