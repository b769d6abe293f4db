/**
 * Whether the tool protocol works: asks the server of this process, for each role, what it is and which tools it offers, through
 * the transport that clients use, and compiles every schema.
 */
import { setImmediate } from 'node:timers/promises'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { getToolResource } from '#kernel/auth/protected-resource.ts'
import { roles } from '#kernel/auth/roles.ts'
import { inputValidator, replyValidator } from '#kernel/http/validation.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { CheckFunction, CheckResult } from '#kernel/readiness.ts'
import type { TSchema } from '#kernel/schema.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import type { SessionKernel } from './server/session.ts'
import { createToolServer } from './server/tool-server.ts'
import { ProtocolTransport } from './server/transport.ts'
import { getCatalogue } from './tools/catalogue.ts'

const REVISION = '2026-07-28'

const validators = { input: inputValidator, output: replyValidator }
/** Texts of schemas that compiled in this process: they are the same for each server in it. */
const compiledSchemas = new Set<string>()

function compileOnce(kind: keyof typeof validators, schema: TSchema): void {
  const text = `${kind} ${JSON.stringify(schema)}`
  if (compiledSchemas.has(text)) return
  validators[kind](schema)
  compiledSchemas.add(text)
}

export function createToolProtocolCheck(
  getKernel: () => SessionKernel & Capabilities<'public_url' | 'issuers'>,
): CheckFunction {
  // Nothing that it asks for changes while the process runs. A check that takes longer than its caller waits goes on for the next.
  let checked: Promise<CheckResult> | undefined
  return () => {
    checked ??= askEachRole(getKernel()).catch((error: unknown) => {
      checked = undefined
      throw error
    })
    return checked
  }
}

async function askEachRole(kernel: SessionKernel & Capabilities<'public_url' | 'issuers'>): Promise<CheckResult> {
  const rules = [...getCatalogue(kernel.routes).keys()].map((tool) => ({ tool, roles: [], decision: 'allow' as const }))
  const transport = new ProtocolTransport<(typeof roles)[number]>((role) => {
    const actor = { ...ACTOR, roles: [role] }
    const { signal } = new AbortController()
    const request = { id: uuidv7(), signal, if_match: undefined, address: '', stream: undefined }
    // The policy of a tenant is not part of the check, so no tenant is asked for one: every tool is turned on.
    return createToolServer({ kernel, actor, request, client: null, rules })
  })
  const offered = new Set<string>()
  const revisions = new Set<string>()
  for (const role of roles) {
    const discovered = await ask<{ supportedVersions: string[] }>(transport, role, 'server/discover')
    for (const revision of discovered.supportedVersions) revisions.add(revision)
    const { tools } = await ask<{ tools: { name: string; inputSchema: TSchema; outputSchema: TSchema }[] }>(
      transport,
      role,
      'tools/list',
    )
    for (const { name, inputSchema, outputSchema } of tools) {
      // A tool has the same schemas for every role.
      if (offered.has(name)) continue
      offered.add(name)
      // Compiling takes milliseconds: other checks and requests go on in between.
      await setImmediate()
      compileOnce('input', inputSchema)
      compileOnce('output', outputSchema)
    }
  }
  const missing = [...getCatalogue(kernel.routes).keys()].filter((name) => !offered.has(name))
  if (missing.length > 0) return { status: 'failed', detail: `no role is offered ${missing.join(', ')}` }
  return {
    status: 'ok',
    tools: offered.size,
    revisions: [...revisions, ...SUPPORTED_PROTOCOL_VERSIONS].filter((one, at, all) => all.indexOf(one) === at),
    discovery: describeDiscovery(kernel),
  }
}

/** Metadata without an issuer of its own tell a client nothing about where to sign in. */
function describeDiscovery({ public_url, issuers }: Capabilities<'public_url' | 'issuers'>): string {
  if (getToolResource(public_url) === null) return 'not_configured'
  return issuers.some(({ built_in }) => !built_in) ? 'ok' : 'no_issuer'
}

const ACTOR = {
  principal: 'operator:readiness',
  tenant_id: SYSTEM_TENANT,
  name: null,
  token_id: 'readiness',
  issuer: 'probity',
  issued_at_s: 0,
  expires_at_s: 0,
}

async function ask<T>(
  transport: ProtocolTransport<(typeof roles)[number]>,
  role: (typeof roles)[number],
  method: string,
): Promise<T> {
  const params = {
    _meta: {
      [PROTOCOL_VERSION_META_KEY]: REVISION,
      [CLIENT_INFO_META_KEY]: { name: 'readiness', version: '1' },
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  }
  const { status, body } = await transport.handle(
    {
      message: { jsonrpc: '2.0', id: 1, method, params },
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
      },
      signal: new AbortController().signal,
    },
    role,
  )
  const answer = JSON.parse(String(body)) as { result?: T; error?: { message: string } }
  if (status !== 200 || !answer.result) throw new Error(`${method} failed: ${answer.error?.message ?? status}`)
  return answer.result
}
