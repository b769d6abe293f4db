/** One row in each table of tool servers, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { hashDefinition } from '#provider/tools/tool-definition.ts'
import { insertPin, insertServer, updatePinned, upsertOffered } from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const server_key = `canary-${uuidv7().slice(-12)}`
  const url = 'https://tools.canary.example/mcp'
  await insertServer(tx, {
    server_key,
    title: 'canary',
    description: 'canary',
    url,
    auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
    credential: { members: [{ name: 'api_key' }] },
  })
  const offered = { name: 'canary', description: 'canary', inputSchema: {}, outputSchema: {} }
  const definition_hash = hashDefinition(offered)
  await upsertOffered(tx, server_key, [{ tool_name: 'canary', offered, offered_hash: definition_hash }])
  const pinned = assertFound(await updatePinned(tx, { server_key, tool_name: 'canary', definition_hash }))
  await insertPin(tx, pinned, { url, reason: 'canary' })
}
