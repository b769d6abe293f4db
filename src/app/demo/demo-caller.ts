/** Calls the API of this service as people of a demo tenant: each change passes the same checks and leaves the same record. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import type { Role } from '#kernel/auth/roles.ts'
import type { Egress } from '#kernel/egress/egress.ts'
import type { DemoTenant } from '../seed.ts'

const TOKEN_LIFETIME_S = 3600
const MAX_ATTEMPTS = 20
const JOB_WAIT_S = 8
const PAGE = 200
/** What the program that uses tools calls itself. */
const TOOL_CLIENT = { name: 'Desk assistant', version: '1.4' }
const TOOL_PROTOCOL = '2026-07-28'
const RETRIED = new Set([429, 503])
const TIMEOUT_MS = 120_000
const MAX_REPLY_BYTES = 64 * 1024 * 1024

export interface CallerOptions {
  readonly url: string
  readonly egress: Pick<Egress, 'request'>
  readonly issuer: Pick<BuiltInIssuer, 'mint'>
  readonly tenant: DemoTenant
  readonly signal: AbortSignal
}

export interface JobView {
  readonly job_id: string
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  readonly resource: string | null
  readonly problem: { readonly detail?: string } | null
}

/** A response that the caller did not expect. */
export class UnexpectedReply extends Error {
  override readonly name = 'UnexpectedReply'
  readonly status: number
  readonly code: string | undefined
  constructor(request: string, status: number, problem: { code?: string; detail?: string; errors?: unknown }) {
    const errors = problem.errors === undefined ? '' : ` ${JSON.stringify(problem.errors).slice(0, 500)}`
    super(`${request} returned ${status} ${problem.code ?? ''}: ${problem.detail ?? ''}${errors}`)
    this.status = status
    this.code = problem.code
  }
}

/** Somebody who uses the tenant made changes need approval: the data cannot be added by the people of the tenant alone. */
export class ApprovalRequired extends Error {
  override readonly name = 'ApprovalRequired'
  constructor(tenant: Pick<DemoTenant, 'slug'>) {
    super(`the approval policy of the tenant ${tenant.slug} was changed while the data was being added`)
  }
}

/** What a tool answered: a result, or a problem. */
export interface ToolResult {
  readonly isError?: boolean
  readonly structuredContent?: { readonly code?: string }
}

interface Content {
  readonly type: string
  readonly content: string
  readonly headers?: Readonly<Record<string, string>>
}

interface ProposedChange {
  readonly cr_id: string
  readonly required_role: string
}
const isProposedChange = (reply: unknown): reply is ProposedChange =>
  typeof reply === 'object' && reply !== null && 'cr_id' in reply && 'required_role' in reply

export class DemoCaller {
  readonly #options: CallerOptions
  readonly #tokens = new Map<Role, Promise<string>>()

  constructor(options: CallerOptions) {
    this.#options = options
  }

  get signal(): AbortSignal {
    return this.#options.signal
  }

  get tenant(): DemoTenant {
    return this.#options.tenant
  }

  get<T>(who: Role, path: string): Promise<T> {
    return this.#send<T>(who, 'GET', path)
  }

  post<T>(who: Role, path: string, body: unknown): Promise<T> {
    return this.#sendChange<T>(who, 'POST', path, { type: 'application/json', content: JSON.stringify(body) })
  }

  put<T>(who: Role, path: string, body: unknown): Promise<T> {
    return this.#sendChange<T>(who, 'PUT', path, { type: 'application/json', content: JSON.stringify(body) })
  }

  patch<T>(who: Role, path: string, body: unknown): Promise<T> {
    return this.#sendChange<T>(who, 'PATCH', path, { type: 'application/json', content: JSON.stringify(body) })
  }

  /** A step of something that exists, without content. */
  act<T>(who: Role, path: string): Promise<T> {
    return this.#sendChange<T>(who, 'POST', path)
  }

  delete(who: Role, path: string): Promise<unknown> {
    return this.#sendChange(who, 'DELETE', path)
  }

  /** A change that is meant to wait for approval, or a decision about one. */
  propose<T>(who: Role, path: string, body: unknown): Promise<T> {
    return this.#send<T>(who, 'POST', path, { type: 'application/json', content: JSON.stringify(body) })
  }

  upload<T>(who: Role, path: string, content: string): Promise<T> {
    return this.#send<T>(who, 'POST', path, { type: 'application/octet-stream', content })
  }

  /** As an assistant of this person does it: over the protocol for tools. */
  async callTool(who: Role, tool: string, given: Readonly<Record<string, unknown>>): Promise<ToolResult> {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': TOOL_PROTOCOL,
      'io.modelcontextprotocol/clientInfo': TOOL_CLIENT,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const message = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: tool, arguments: given, _meta: meta },
    }
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': TOOL_PROTOCOL,
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    }
    const content = { type: 'application/json', content: JSON.stringify(message), headers }
    const reply = await this.#send<{ result?: ToolResult; error?: object }>(who, 'POST', '/api/mcp', content)
    if (reply.result) return reply.result
    throw new Error(`The call of ${tool} was refused: ${JSON.stringify(reply.error)}`)
  }

  /** All items of a listing. */
  async listAll<T>(who: Role, path: string): Promise<T[]> {
    const items: T[] = []
    let cursor: string | null = null
    do {
      const at = `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}`
      const page: { items: T[]; next_cursor: string | null } = await this.get(
        who,
        cursor === null ? at : `${at}&cursor=${encodeURIComponent(cursor)}`,
      )
      items.push(...page.items)
      cursor = page.next_cursor
    } while (cursor !== null)
    return items
  }

  /** Waits until the job has succeeded. */
  async waitForJob(who: Role, job_id: string): Promise<JobView> {
    const job = await this.waitForJobEnd(who, job_id)
    if (job.state === 'succeeded') return job
    throw new Error(`Job ${job_id} is ${job.state}: ${job.problem?.detail ?? 'no detail'}`)
  }

  /** Waits until the job has ended, however it ended. */
  async waitForJobEnd(who: Role, job_id: string): Promise<JobView> {
    for (;;) {
      const job = await this.get<JobView>(who, `/api/jobs/${job_id}?wait=${JOB_WAIT_S}`)
      if (job.state !== 'queued' && job.state !== 'running') return job
    }
  }

  /** Withdraws a change request that the change became, so that nothing is left behind, and throws ApprovalRequired. */
  async #sendChange<T>(who: Role, method: string, path: string, body?: Content): Promise<T> {
    const reply = await this.#send<T>(who, method, path, body)
    if (!isProposedChange(reply)) return reply
    const note = 'Made while the demo data was being added.'
    await this.propose(who, `/api/change-requests/${reply.cr_id}/withdraw`, { note })
    throw new ApprovalRequired(this.#options.tenant)
  }

  async #send<T>(who: Role, method: string, path: string, body?: Content): Promise<T> {
    const { url, egress, signal } = this.#options
    const headers = {
      authorization: `Bearer ${await this.#getToken(who)}`,
      ...(body && { ...body.headers, 'content-type': body.type }),
    }
    for (let attempt = 1; ; attempt++) {
      const reply = await egress.request({
        pool_key: 'demo-data',
        url: `${url}${path}`,
        method,
        headers,
        allowed_hosts: [],
        trust: 'operator',
        timeout_ms: TIMEOUT_MS,
        max_bytes: MAX_REPLY_BYTES,
        signal,
        ...(body && { body: Buffer.from(body.content) }),
      })
      const text = reply.body.toString('utf8')
      if (reply.status >= 200 && reply.status < 300) return (text === '' ? undefined : JSON.parse(text)) as T
      if (!RETRIED.has(reply.status) || attempt === MAX_ATTEMPTS) {
        throw new UnexpectedReply(`${method} ${path}`, reply.status, parseProblem(text))
      }
      await sleep(Number(reply.headers['retry-after'] ?? 1) * 1000, undefined, { signal })
    }
  }

  #getToken(who: Role): Promise<string> {
    let token = this.#tokens.get(who)
    if (!token) {
      token = this.#mint(who)
      this.#tokens.set(who, token)
    }
    return token
  }

  async #mint(who: Role): Promise<string> {
    const { issuer, tenant } = this.#options
    const user = tenant.users.find(({ roles }) => roles.includes(who))
    if (!user) throw new Error(`The demo tenant ${tenant.slug} has nobody with the role ${who}.`)
    const minted = await issuer.mint({
      principal: `user:${user.user_id}`,
      tenant_id: tenant.tenant_id,
      roles: user.roles,
      lifetime_s: TOKEN_LIFETIME_S,
      name: user.name,
    })
    return minted.token
  }
}

function parseProblem(text: string): { code?: string; detail?: string } {
  try {
    return JSON.parse(text) as { code?: string; detail?: string }
  } catch {
    return { detail: text.slice(0, 200) }
  }
}
