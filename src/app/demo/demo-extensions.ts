/** Use of what extends the service, in the demo tenant: decisions and an import through plugins, calls of tools, and a tool server. */
import type { DemoCaller, JobView } from './demo-caller.ts'
import { seedDefinition } from './demo-definitions.ts'
import type { DemoToolCall, ExtensionsFile } from './demo-files.ts'
import { ignoreDuplicate } from './demo-lists.ts'

export async function seedPluginMatrix(caller: DemoCaller, { matrix }: ExtensionsFile): Promise<void> {
  const { matrix_key, definition, note, reason, ...settings } = matrix
  const version = { label: 'board-1', note, reason, definition }
  await seedDefinition(caller, 'risk-matrices', matrix_key, { ...settings, versions: [version] })
}

/** One after the other, so that an interrupted run knows which are there. They are about nobody, and rate no customer. */
export async function seedPluginDecisions(caller: DemoCaller, { matrix, decisions }: ExtensionsFile): Promise<void> {
  const { matrix_key } = matrix
  const made = await caller.listAll('analyst', `/api/evaluations?matrix_key=${matrix_key}`)
  for (const { by, inputs } of decisions.slice(made.length)) {
    await caller.post(by, '/api/evaluations', { matrix_key, inputs })
  }
}

/** Rows that the plugin rejects are left out and counted. The version is not put in force. */
export async function seedPluginImport(caller: DemoCaller, { list, import: file }: ExtensionsFile): Promise<void> {
  const { list_key } = list
  await ignoreDuplicate(() => caller.post('policy_editor', '/api/reference-data/datasets', list))
  const at = '/api/reference-data/imports'
  const [earlier] = await caller.listAll<{ job_id: string }>('policy_editor', `${at}?list_key=${list_key}`)
  const { job_id } = earlier ?? (await startImport(caller, list_key, file))
  await caller.waitForJob('policy_editor', job_id)
}

async function startImport(
  caller: DemoCaller,
  list_key: string,
  { file_name, rows, ...settings }: ExtensionsFile['import'],
): Promise<JobView> {
  const { upload_id } = await caller.upload<{ upload_id: string }>(
    'policy_editor',
    `/api/uploads?file_name=${file_name}`,
    `${rows.join('\n')}\n`,
  )
  const body = { list_key, upload_id, strict: false, ...settings }
  return caller.post<JobView>('policy_editor', '/api/reference-data/imports', body)
}

/** A policy that only restricts takes effect at once. Nothing is sent to a tool server that is registered. */
export async function seedTools(caller: DemoCaller, file: ExtensionsFile): Promise<void> {
  const at = '/api/mcp/tool-policy'
  const { rules } = await caller.get<{ rules: unknown[] }>('compliance_officer', at)
  if (rules.length === 0) await caller.put('compliance_officer', at, file.tool_policy)
  await seedToolCalls(caller, file.tool_calls)
  await ignoreDuplicate(() => caller.post('tenant_admin', '/api/mcp/servers', file.tool_server))
}

/** Each tool is called once. */
async function seedToolCalls(caller: DemoCaller, calls: readonly DemoToolCall[]): Promise<void> {
  const logged = await caller.listAll<{ tool: string }>('auditor', '/api/mcp/calls')
  for (const { by, tool, arguments: given, problem = null } of calls) {
    if (logged.some((call) => call.tool === tool)) continue
    const { isError, structuredContent } = await caller.callTool(by, tool, given)
    const code = isError ? (structuredContent?.code ?? 'no code') : null
    if (code !== problem) throw new Error(`The tool ${tool} answered ${code ?? 'a result'} instead of ${problem}.`)
  }
}
