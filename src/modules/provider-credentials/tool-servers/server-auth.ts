/** Tool servers as owners of credentials: the keys that these are kept under, and what a server declares of them. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertReferenced } from '#kernel/problem.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { listToolServerAuth, type ToolServerAuthRow } from './queries.ts'

/** The credential of a tool server is kept under this and its key, which no provider can have: every provider that uses the server shares it. */
export const TOOL_SERVER_PREFIX = 'mcp/'

export const toCredentialKey = (server_key: string): string => `${TOOL_SERVER_PREFIX}${server_key}`

export const isServerKey = (key: string): boolean => key.startsWith(TOOL_SERVER_PREFIX)

/** A server as far as its credential is concerned. */
export const toServerManifest = ({ auth, credential }: ToolServerAuthRow): documentStore.DefinitionText => ({
  auth,
  ...(credential && { credential }),
})

/** 409 where there is no such server. */
export async function expectServer(tx: Tx, credential_key: string): Promise<ToolServerAuthRow> {
  const [server] = await listToolServerAuth(tx, [credential_key.slice(TOOL_SERVER_PREFIX.length)])
  return assertReferenced(server, `tool server ${credential_key}`)
}
