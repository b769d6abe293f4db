/** Test fixtures of tool servers: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import { hashDefinition } from '#provider/tools/tool-definition.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'
import { upsertOffered } from './queries.ts'

const oncePerTenant = createOncePerTenant()

const buildServer = () => ({
  server_key: `acme-tools-${uuidv7().slice(-12)}`,
  title: 'Acme company tools',
  url: 'https://tools.acme.example/mcp',
})

async function newServer(t: ExampleTenant): Promise<string> {
  const body = buildServer()
  await t.make('POST /mcp/servers', { body })
  return body.server_key
}

export const lookupTool = {
  name: 'lookup_company',
  title: 'Look up a company',
  description: 'Gives the entry of a company in the register.',
  inputSchema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
  outputSchema: {
    type: 'object',
    properties: { number: { type: 'string' }, name: { type: 'string' } },
    required: ['number', 'name'],
  },
  annotations: { readOnlyHint: true },
}

/** A server whose tool was discovered; no operation can do that without a server to ask. */
async function newOffer(t: ExampleTenant): Promise<{ server_key: string; tool_name: string }> {
  const server_key = await newServer(t)
  const offered = { tool_name: lookupTool.name, offered: lookupTool, offered_hash: hashDefinition(lookupTool) }
  await t.write((tx) => upsertOffered(tx, server_key, [offered]))
  return { server_key, tool_name: lookupTool.name }
}

const one: Fixture = async (t) => ({
  params: { server_key: (await oncePerTenant(t, 'tool server', () => newOffer(t))).server_key },
})

export const textsInEvents: TextsInEvents = ['createToolServer', 'updateToolServer', 'pinServerTool']

export const fixtures: Fixtures = {
  listToolServers: async (t, role) => {
    await one(t, role)
    return {}
  },
  createToolServer: () => ({
    body: {
      ...buildServer(),
      description: 'Looks up companies in registers of several countries.',
      auth: { kind: 'header', name: 'authorization', value: 'Bearer {credential.token}' },
      credential: { members: [{ name: 'token', title: 'Access token', secret: true, max: 500 }] },
    },
  }),
  getToolServer: one,
  updateToolServer: async (t) => ({
    params: { server_key: await newServer(t) },
    body: { title: 'Acme company tools, production', reason: 'Named as in the contract' },
  }),
  deleteToolServer: async (t) => ({ params: { server_key: await newServer(t) }, query: { reason: 'Contract ended' } }),
  discoverServerTools: async (t) => ({ params: { server_key: await newServer(t) } }),
  getServerTool: async (t) => ({ params: await oncePerTenant(t, 'tool', () => newOffer(t)) }),
  pinServerTool: async (t) => ({
    params: await newOffer(t),
    body: { definition_hash: hashDefinition(lookupTool), reason: 'Reviewed by the data team' },
  }),
}
