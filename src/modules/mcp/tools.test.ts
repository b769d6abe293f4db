/** The set of tools: its budget, its schemas, and what may never be one. */
import { describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { type Role, roles } from '#kernel/auth/roles.ts'
import {
  decideTool,
  isLooser,
  listUsableTools,
  optInTools,
  type ToolRule,
  toolCallers,
} from '#kernel/auth/tool-policy.ts'
import { inputValidator, replyValidator } from '#kernel/http/validation.ts'
import type { Problem } from '#kernel/problem.ts'
import { isStreamReply, type Route } from '#kernel/route.ts'
import type { TSchema } from '#kernel/schema.ts'
import { encodeRequestState, isValidRequestState } from './server/request-state.ts'
import { toToolRequest } from './tools/arguments.ts'
import { buildCatalogue, leftOutFirst, selectTools, type Tool, toToolListing } from './tools/catalogue.ts'

const routes = modules.flatMap((module) => module.routes)
const tools = buildCatalogue(routes)

/** Why an operation must not be offered to assistants, or undefined. */
function findToolFault(route: Route): string | undefined {
  const [, segment = ''] = route.path.split('/')
  if (['users', 'roles', 'api-keys', 'auth', 'tenant', 'uploads', 'break-glass-reviews', 'mcp'].includes(segment))
    return 'it concerns people, roles, tokens, the tenant or files'
  if (segment === 'provider-credentials' && route.id !== 'listCredentialGaps') return 'it concerns credentials'
  if (/\/(approve|reject|deny|acknowledge|withdraw)$/.test(route.path)) return 'a person decides it'
  if (route.governed) return 'it may change policy without a change request'
  if (route.secret || route.secret_body) return 'it holds a secret'
  if (route.bytes || isStreamReply(route.reply[1])) return 'it is not JSON'
  if (route.path.includes('/content') || route.path.includes('/restrict')) return 'it concerns restricted objects'
  if (route.tool?.effect === 'propose' && !route.proposes) return 'a proposal must create a change request'
  if (route.proposes && route.tool?.effect !== 'propose') return 'what creates a change request is a proposal'
  if (route.tool?.effect === 'propose' && !route.tool.confirm) return 'a proposal must be confirmed'
  if (route.tool?.effect === 'read' && route.method !== 'GET' && !['resolveLists', 'lookUpEntries'].includes(route.id))
    return 'it stores more than a receipt'
  return undefined
}

describe('what may be a tool', () => {
  test('holds for every tool', () => {
    const faults = [...tools.values()].flatMap(({ route, mark }) => {
      const fault = findToolFault(route)
      return fault ? [`${mark.name}: ${fault}`] : []
    })
    expect(faults).toEqual([])
  })

  test.each([
    'approveChangeRequest',
    'rejectChangeRequest',
    'approveToolCall',
    'updateToolPolicy',
    'createProviderCredential',
    'listProviderCredentials',
    'setUserRoles',
    'updateTenant',
    'activateDatasetVersion',
    'createApiKey',
    'createUpload',
  ])('excludes %s', (id) => {
    const route = routes.find((one) => one.id === id)
    const marked = { ...(route ?? { path: '/users', id }), tool: { effect: 'work' } } as Route
    expect(findToolFault(marked)).toBeDefined()
  })
})

/** Also those that a tenant has to turn on. */
const everyTool = [...tools.keys()].map((tool): ToolRule => ({ tool, roles: [], decision: 'allow' }))

const combinations = Array.from({ length: 2 ** roles.length }, (_, bits): Role[] =>
  roles.filter((_role, at) => (bits >> at) % 2 === 1),
)

test('a person who confirms a proposal is shown each argument of it', () => {
  const confirmed = [...tools.values()].filter(({ mark }) => mark.confirm)
  expect(confirmed.map(({ mark }) => mark.name)).toEqual(['propose_activation'])
  for (const { mark, arguments: taken } of confirmed) {
    const named = [...taken.keys()].filter((name) => !mark.confirm?.includes(`{${name}}`))
    expect(Object.keys(mark.confirm_shows ?? {}).toSorted(), mark.name).toEqual(named.toSorted())
  }
})

describe('the budget of tools/list', () => {
  test('holds for every combination of roles: at most 24 tools and 32 KB, and nothing usable is lost', () => {
    for (const rules of [[], everyTool]) {
      for (const held of combinations) {
        const { listed, left_out } = selectTools(routes, rules, held)
        const listing = toToolListing({ listed, left_out })
        const serverInfo = { name: 'probity', title: 'Probity', version: '10.10.10' }
        const added = { 'io.modelcontextprotocol/serverInfo': serverInfo }
        const result = { ...listing, ttlMs: 60_000, cacheScope: 'private', resultType: 'complete' }
        const message = { jsonrpc: '2.0', id: 1, result: { ...result, _meta: { ...result._meta, ...added } } }
        expect(listed.length).toBeLessThanOrEqual(24)
        expect(Buffer.byteLength(JSON.stringify(message)), held.join()).toBeLessThanOrEqual(32_768)
        const names = [...listed.map(({ mark }) => mark.name), ...left_out]
        expect(names.toSorted()).toEqual(listUsableTools(routes, rules, held).toSorted())
      }
    }
  })

  test('leaves nothing out for one role, nor without investigations, and the least needed tools for a person with every role', () => {
    for (const held of roles) expect(selectTools(routes, everyTool, [held]).left_out, held).toEqual([])
    expect(selectTools(routes, [], roles).left_out).toEqual([])
    expect(selectTools(routes, everyTool, roles).left_out).toEqual(['run_import_preview', 'start_batch'])
    expect(leftOutFirst.filter((name) => !tools.has(name))).toEqual([])
  })

  test('holds however many tools there are, and however large they are', () => {
    const one = routes.find(({ tool }) => tool?.name === 'start_batch') as Route
    const more = Array.from(
      { length: 40 },
      (_, at) => ({ ...one, tool: { ...one.tool, name: `batch_${at}` } }) as Route,
    )
    const { listed, left_out } = selectTools([...routes, ...more], [], ['compliance_officer'])
    expect(listed.length + left_out.length).toBe(60)
    expect(Buffer.byteLength(JSON.stringify(toToolListing({ listed, left_out })))).toBeLessThanOrEqual(32_768)
    expect(left_out.slice(0, leftOutFirst.length)).toEqual(leftOutFirst)
  })

  test('descriptions have at most 400 characters, and no schema a reference', () => {
    for (const { mark, inputSchema, outputSchema } of tools.values()) {
      expect(mark.description.length, mark.name).toBeLessThanOrEqual(400)
      expect(JSON.stringify([inputSchema, outputSchema]), mark.name).not.toContain('$ref')
      expect(inputSchema.type).toBe('object')
      expect(outputSchema.type, mark.name).toBe('object')
      inputValidator(inputSchema as unknown as TSchema)
      replyValidator(outputSchema as unknown as TSchema)
    }
  })
})

test('tools of a role are exactly those whose operation the role may call', () => {
  const matrix = roles.map((role): [Role, string[]] => [role, listUsableTools(routes, everyTool, [role]).toSorted()])
  for (const [role, names] of matrix) {
    const expected = toolCallers.includes(role as never)
      ? [...tools.values()].filter(({ route }) => route.roles.includes(role)).map(({ mark }) => mark.name)
      : []
    expect(names, role).toEqual(expected.toSorted())
  }
  expect(Object.fromEntries(matrix)['policy_editor']).toContain('propose_activation')
  expect(Object.fromEntries(matrix)['analyst']).not.toContain('propose_activation')
})

describe('the tool policy', () => {
  const rule = (tool: string, decision: ToolRule['decision'], held: Role[] = []): ToolRule => ({
    tool,
    roles: held,
    decision,
  })

  test('allows what no rule names', () => {
    expect(decideTool([], 'lookup', ['analyst'])).toBe('allow')
  })
  test('keeps what concerns investigations off until a rule names it, for the roles of that rule', () => {
    const ofCases = [...tools.values()].filter(({ route }) => route.path.startsWith('/investigations'))
    expect(ofCases.map(({ mark }) => mark.name)).toEqual([...optInTools])
    const named = rule('get_investigation', 'allow', ['analyst'])
    for (const rules of [[], [rule('*', 'allow')], [rule('*', 'person')]])
      expect(listUsableTools(routes, rules, roles).filter((name) => optInTools.has(name))).toEqual([])
    expect(decideTool([named], 'get_investigation', ['analyst'])).toBe('allow')
    expect(decideTool([named], 'get_investigation', ['auditor'])).toBe('forbid')
    expect([isLooser([], [named]), isLooser([named], []), isLooser([], [rule('*', 'allow')])]).toEqual([
      true,
      false,
      false,
    ])
  })
  test('applies a rule to its roles only', () => {
    const rules = [rule('lookup', 'forbid', ['service'])]
    expect([decideTool(rules, 'lookup', ['analyst']), decideTool(rules, 'lookup', ['analyst', 'service'])]).toEqual([
      'allow',
      'forbid',
    ])
  })
  test('takes a rule for the tool before one for every tool, and the strictest of several', () => {
    const rules = [rule('*', 'forbid'), rule('lookup', 'allow'), rule('get_job', 'person'), rule('get_job', 'allow')]
    const decide = (tool: string) => decideTool(rules, tool, ['analyst'])
    expect([decide('lookup'), decide('get_job'), decide('search_lists')]).toEqual(['allow', 'person', 'forbid'])
  })
})

test('a policy is looser where any caller may do more with any tool', () => {
  const forbid: ToolRule = { tool: '*', roles: ['analyst'], decision: 'forbid' }
  const named = (decision: ToolRule['decision'], held: Role[]): ToolRule => ({ tool: 'lookup', roles: held, decision })
  expect(isLooser([], [forbid])).toBe(false)
  expect(isLooser([forbid], [])).toBe(true)
  expect(isLooser([forbid], [{ ...forbid, decision: 'person' }])).toBe(true)
  expect(isLooser([forbid], [{ ...forbid, roles: [] }])).toBe(false)
  expect(isLooser([named('person', [])], [named('forbid', []), forbid])).toBe(false)
  // Neither role alone gains anything; a person with both does, since a rule that names the tool comes first.
  expect(isLooser([forbid], [forbid, named('allow', ['service'])])).toBe(true)
})

describe('arguments', () => {
  const tool = (name: string) => tools.get(name) as Tool

  test('become the parts of the request, with the names of its members', () => {
    expect(toToolRequest(tool('get_job'), { job_id: 'x', wait_s: 3 })).toMatchObject({
      params: { job_id: 'x' },
      query: { wait: 3 },
      body: undefined,
    })
    expect(toToolRequest(tool('propose_activation'), { list_key: 'a', version: 3, confirm: 'a@3' })).toMatchObject({
      params: { list_key: 'a', version: '3' },
      body: {},
      confirm: 'a@3',
    })
  })
  test('that are unknown or ask for more than 50 items are refused', () => {
    const findFault = (name: string, given: object): string | undefined => {
      try {
        toToolRequest(tool(name), given as Record<string, unknown>)
      } catch (error) {
        return (error as Problem).extra.detail
      }
      return undefined
    }
    expect(findFault('search_lists', { limit: 51 })).toBe('1 field is invalid: #/limit must be <= 50.')
    expect(findFault('get_list', { list_key: 'a', tenant_id: 'b' })).toContain('#/tenant_id is not a known argument')
    expect(findFault('search_lists', { idempotency_key: 'a' })).toContain('#/idempotency_key is not a known argument')
  })
})

describe('the state of a question', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const binding = { tenant_id: 't', principal: 'user:a', tool: 'propose_activation', arguments_hash: 'h' }
  const now_ms = 1_800_000_000_000
  const state = encodeRequestState(key, binding, now_ms)

  test('is accepted for ten minutes, also after the key was replaced', () => {
    expect(isValidRequestState([other, key], state, binding, now_ms + 599_999)).toBe(true)
    expect(isValidRequestState([key], state, binding, now_ms + 600_000)).toBe(false)
  })
  test.each(['tenant_id', 'principal', 'tool', 'arguments_hash'])('is bound to %s', (member) => {
    expect(isValidRequestState([key], state, { ...binding, [member]: 'x' }, now_ms)).toBe(false)
  })
  test('is refused when any character differs', () => {
    for (let at = 0; at < state.length; at++) {
      const changed = `${state.slice(0, at)}${state[at] === 'a' ? 'b' : 'a'}${state.slice(at + 1)}`
      expect(isValidRequestState([key], changed, binding, now_ms), changed).toBe(false)
    }
  })
  test('is refused when it is not one at all', () => {
    for (const text of ['', '.', 'x', `${state} `, `${state}=`, `0${state}`, '__proto__', state.toUpperCase()]) {
      expect(isValidRequestState([key], text, binding, now_ms), text).toBe(false)
    }
  })
})
