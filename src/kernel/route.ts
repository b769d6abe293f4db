/**
 * A declared route with its types erased, as the server, the OpenAPI document and the tests see it. Routes are declared with
 * tenantRoute, publicRoute and protocolRoute of declare-route.ts.
 */
import type { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import type { Role } from './auth/roles.ts'
import type { Tx, TxMode } from './database/tx.ts'
import type { ProblemCode } from './problem.ts'
import type { ApprovalRule } from './request/queries.ts'

/** What runs plugins. */
export type PluginUser = 'matrix' | 'rule' | 'provider' | 'playbook' | 'adapter' | 'import'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Endpoint = `${Method} /${string}`

/** The caller: a person (`user:<id>`) or a machine key (`key:<id>`) of one tenant. */
export interface Actor {
  readonly principal: string
  readonly tenant_id: string
  readonly roles: readonly Role[]
  readonly name: string | null
  readonly token_id: string
  readonly issuer: string
  readonly issued_at_s: number
  readonly expires_at_s: number
}

/** What a handler can read of the request beside its validated parts. */
export interface RequestMetadata {
  readonly id: string
  /** Aborts when the client disconnects or the process shuts down. */
  readonly signal: AbortSignal
  /** The revisions named by If-Match, or undefined without the header; '*' matches any. */
  readonly if_match: readonly string[] | '*' | undefined
  readonly address: string
  /** The change request whose approval caused this execution. */
  readonly change_request_id?: string
  /** The author of that change request. */
  readonly requested_by?: string
  /** Set where an assistant makes the request by the tool protocol, with what its program calls itself. */
  readonly assistant?: { readonly client: string | null }
  /** The id of what the request creates, where it has to be the same in each attempt of its transaction. */
  readonly new_id?: string
  /** The unread body of a route declared with `bytes`. */
  readonly stream: Readable | undefined
}

/** A reply that is not JSON: bytes or events, sent as they are produced. */
export interface StreamReply {
  /** The first is sent unless the stream names another one of them. */
  readonly media_types: readonly string[]
  readonly description: string
  /** A short text in each of the textual types after the first, whose example is recorded. */
  readonly examples: Readonly<Record<string, string>>
}
export const streamReply = (
  media_types: string | readonly string[],
  description: string,
  examples: StreamReply['examples'] = {},
): StreamReply => ({ media_types: [media_types].flat(), description, examples })

/** Media types of the file formats that exports are written in. */
export const fileMediaTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const
export const isStreamReply = (reply: unknown): reply is StreamReply =>
  typeof reply === 'object' && reply !== null && 'media_types' in reply

export type ReplySchema = TSchema | StreamReply | null

/** A governed request after validation. */
export interface GovernedChange {
  readonly params: unknown
  readonly body: unknown
}

/** How a route is offered as a tool of the Model Context Protocol. A route without it is not offered. */
export interface ToolMark {
  readonly name: string
  readonly title: string
  /** Read by a language model: when to use it and what comes back, in at most 400 characters. */
  readonly description: string
  /** `read` changes nothing; `work` computes or stores a decision; `propose` creates a change request for another person to approve. */
  readonly effect: 'read' | 'work' | 'propose'
  /** Parameters of the request that have another name as an argument. */
  readonly rename?: Readonly<Record<string, string>>
  /** Optional members of the request that cannot be given as arguments. */
  readonly omit?: readonly string[]
  /** What a caller of a `propose` tool repeats to confirm it, with arguments in braces: `{list_key}@{version}`. */
  readonly confirm?: string
  /**
   * The other arguments of what would be proposed, as the person who confirms it is shown them; `absent` is what an argument that
   * is not given means.
   */
  readonly confirm_shows?: Readonly<Record<string, { readonly title: string; readonly absent?: string }>>
  /** operationId of the read with the same path: the object must exist before a person is asked to confirm. */
  readonly confirm_reads?: string
}

/** Members of a declaration whose types do not depend on its schemas. */
export interface RouteOptions {
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** A body that every tenant can send as it is, documented before the recorded one, which names rows of the tenant it was recorded in. */
  readonly ready_body?: {
    readonly summary: string
    readonly value: object
    /** What the recorded one is called beside it. */
    readonly recorded_summary: string
  }
  /** The body is a stream of bytes of any media type instead of JSON. */
  readonly bytes?: { readonly description: string; readonly max_bytes: 'upload' }
  /** operationId that reads what this one created, with the reply member to use for each of its parameters. */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The reply contains a secret that is returned only once: it is never stored for a repeated request. */
  readonly secret?: true
}

/** The same for routes that need a token. */
export interface TenantRouteOptions extends RouteOptions {
  /** The action name in the tenant's approval policy, and the state that a change request is bound to. */
  readonly governed?: {
    readonly action: string
    readonly head: (tx: Tx, params: Record<string, string>) => Promise<string | null>
    /** What keeps an open request from being executed, other than a changed head: approving it is refused with all of them. */
    readonly findGates?: (
      tx: Tx,
      params: Record<string, string>,
    ) => Promise<readonly { readonly gate: string; readonly detail: string }[]>
    /** False: it changes no rating, so a rule that requires an impact run does not require one of it. */
    readonly has_impact?: boolean
    /** What this operation does without approval whatever the policy says, such as a dry run. */
    readonly skipApprovalIf?: (body: unknown) => boolean
    /** The reason of a break-glass change: a person makes it immediately, and somebody else reviews it. */
    readonly breakGlass?: (body: unknown) => string | undefined
    /** The rule that applies where the policy has none for this action. */
    readonly findDefaultRule?: (tx: Tx, change: GovernedChange) => Promise<ApprovalRule | undefined>
    /** Called inside the transaction when a rule requires approvers; false when this change does not need them. */
    readonly requiresApproval?: (tx: Tx, rule: ApprovalRule, change: GovernedChange) => Promise<boolean>
  }
  /**
   * The body holds a secret: it is encrypted or discarded, never stored for a repeated request, returned, logged or recorded. Such
   * a route is not governed, because a change request stores its body, and every free text of the body is `writeOnly`.
   */
  readonly secret_body?: true
  /** Calls a provider: answers 424 before any row or job is created while a credential is missing. */
  readonly needs?: 'provider'
  /** Runs a plugin: answers 503, and decides and stores nothing, while the plugin is invalid or fails. */
  readonly executes?: 'plugin'
  /** Whose plugins it runs; absent where it runs a plugin by its own key. */
  readonly runs_plugins_of?: readonly PluginUser[]
  /** Always creates a change request for this governed action, whatever the policy says. The reply is the change request. */
  readonly proposes?: string
  /** A POST that only computes: nothing is stored, and nothing is recorded. */
  readonly stores_nothing?: true
  /** A read that is itself recorded in the audit trail. Changes always are. */
  readonly audited?: true
  /** Creates a change request for the governed operation of this id: its callers may read those change requests too. */
  readonly submits?: string
  /** Starts long work: answers 202 with the job and its Location. */
  readonly starts?: string
  /** The handler sets an ETag through `headers`: 304 for a client that has this version. */
  readonly cacheable?: true
  /** The reply has `revision`: strong ETag, If-None-Match on reads, If-Match on changes. */
  readonly revisioned?: true
  readonly tool?: ToolMark
}

export interface Route extends TenantRouteOptions {
  /** `protocol`: the body is a message of another protocol, which the handler answers itself. */
  readonly access: 'tenant' | 'public' | 'protocol'
  readonly at: Endpoint
  readonly method: Method
  /** Path below /api with `:name` parameters. */
  readonly path: string
  readonly roles: readonly Role[]
  readonly tx: TxMode | null
  /** Names of the capabilities that its functions get in `kernel`. */
  readonly uses: readonly string[]
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  readonly reply: readonly [status: number, schema: ReplySchema]
  readonly problems: readonly ProblemCode[]
  readonly location?: (reply: unknown) => string
  readonly headers?: (reply: unknown) => Record<string, string>
  readonly also_at_root?: true
  readonly demo_only?: true
  readonly unlimited?: true
  readonly alternateStatus?: { readonly status: number; readonly when: (reply: unknown) => boolean }
  readonly beforeTransaction?: (input: unknown) => Promise<void>
  readonly redact?: (reply: unknown, reader: unknown) => unknown
  readonly handle: (input: unknown) => Promise<unknown>
}

/** The same declaration at a second path, because the specification names both. */
export const aliasRoute = (route: Route, at: Endpoint, id: string): Route => {
  const [method, path] = at.split(' ') as [Method, string]
  const { tool: _, ...declaration } = route
  return { ...declaration, at, method, path, id }
}
