/** The published document is valid OpenAPI 3.1 and says neither more nor less than what the running server does. */
import { validate as validateOpenapi } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { inputValidator, replyValidator } from '#kernel/http/validation.ts'
import { problems } from '#kernel/problem.ts'
import { isStreamReply } from '#kernel/route.ts'
import type { TSchema } from '#kernel/schema.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: string[]
  readonly security: object[]
  readonly parameters?: { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: Record<string, { schema: object }> }
  readonly responses: Record<string, Response>
}
interface Response {
  readonly description: string
  readonly content?: Record<string, { schema: object }>
  readonly links?: Record<string, { operationId: string; parameters: Record<string, string> }>
}
interface Document {
  readonly openapi: string
  readonly tags: { name: string; description: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: Record<string, object> }
}

let w: TestApp
let document: Document
let operations: { path: string; method: string; operation: Operation }[]
const routes = modules.flatMap((module) => module.routes.map((route) => ({ module, route })))

beforeAll(async () => {
  w = await startTestApp()
  document = (await w.call('GET /openapi.json')).json
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
})
afterAll(() => w.close())

const faulty = (isFaulty: (entry: (typeof operations)[number]) => boolean) =>
  operations.filter(isFaulty).map(({ operation }) => operation.operationId)

describe('the document', () => {
  test('is valid against the OpenAPI 3.1 schema', async () => {
    expect(document.openapi).toBe('3.1.0')
    const { valid, errors } = await validateOpenapi(structuredClone(document) as never)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
  })

  test('lists exactly the routes that are served', () => {
    const served = w.server.mountedRoutes
      .filter(({ url }) => url.startsWith('/api/') && !url.startsWith('/api/docs/'))
      .map(({ method, url }) => `${method} ${url.replace(/:([a-z_]+)/g, '{$1}')}`)
    const written = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    expect(written.length).toBeGreaterThan(45)
    expect(written.toSorted()).toEqual(served.toSorted())
  })

  test('every served path is routed, and every declared route is served', () => {
    for (const { route } of routes) {
      expect(w.server.app.hasRoute({ method: route.method, url: `/api${route.path}` })).toBe(true)
    }
    expect(operations).toHaveLength(routes.length)
  })

  test('resolves every reference and uses every schema', () => {
    const text = JSON.stringify(document)
    const used = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name))
    expect([...used].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted())
  })

  test('is the same for every caller and needs no token', async () => {
    const { status, json } = await w.call('GET /openapi.json', { token: await w.token() })
    expect(status).toBe(200)
    expect(json).toEqual(document)
  })
})

describe('every operation', () => {
  const verbs =
    'list|get|create|update|delete|revoke|check|deactivate|reactivate|rotate|approve|reject|withdraw|stream|cancel|retry|' +
    'archive|export|diff|activate|submit|rollBack|pin|unpin|validate|preview|start|resolve|lookUp|rebase|offboard|publish|simulate|test|import|' +
    'replay|reevaluate|explore|compare|override|estimate|resume|acknowledge'

  test('has an id of verb and noun that fits its method and is used once', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !new RegExp(`^(${verbs})[A-Z][A-Za-z]+$`).test(id))).toEqual([])
    expect(
      faulty(
        ({ method, operation }) =>
          (method === 'get') !== /^(list|get|stream|export|diff|resolve(?!Lists))/.test(operation.operationId),
      ),
    ).toEqual([])
    expect(
      faulty(({ method, operation }) => (method === 'delete') !== operation.operationId.startsWith('delete')),
    ).toEqual([])
  })

  test('has a summary, a description and the tag of its module', () => {
    const routers = modules.filter((module) => module.routes.length > 0)
    expect(document.tags.map(({ name }) => name)).toEqual(routers.map(({ name }) => name))
    expect(faulty(({ operation }) => !/^[A-Z].{3,100}[^.]$/.test(operation.summary))).toEqual([])
    for (const { module, route } of routes) {
      const entry = document.paths[`/api${route.path.replace(/:([a-z_]+)/g, '{$1}')}`]?.[route.method.toLowerCase()]
      expect(entry?.tags).toEqual([module.name])
    }
  })

  test('is in the folder, under the segment and under the tag of its module', () => {
    const unexpected = routes.filter(
      ({ module, route }) => !module.segments.includes(route.path.split('/')[1] as string),
    )
    expect(unexpected.map(({ route }) => route.at)).toEqual([])
  })

  test('documents each status it may return', () => {
    const vague = faulty(({ operation }) =>
      Object.keys(operation.responses).some((status) => !/^[2-5]\d\d$/.test(status)),
    )
    expect(vague).toEqual([])
    for (const status of ['400', '405', '406', '422', '429', '500', '503']) {
      expect(faulty(({ operation }) => !operation.responses[status])).toEqual([])
    }
    expect(
      faulty(({ operation }) => Object.keys(operation.responses).filter((status) => status < '300').length < 1),
    ).toEqual([])
    expect(
      faulty(({ operation }) => Object.values(operation.responses).some(({ description }) => !description)),
    ).toEqual([])
  })

  test('needs a token exactly where the route does, and then documents 401 and 403', () => {
    const open = routes.filter(({ route }) => route.access === 'public').map(({ route }) => route.id)
    expect(faulty(({ operation }) => operation.security.length === 0)).toEqual(open)
    const secured = operations.filter(({ operation }) => operation.security.length > 0)
    for (const { operation } of secured) {
      expect(operation.security).toEqual([{ bearer: [] }])
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '403']))
    }
  })

  test('returns errors as problem+json', () => {
    const plain = faulty(({ operation }) =>
      Object.entries(operation.responses).some(
        ([status, { content }]) => status >= '400' && !Object.hasOwn(content ?? {}, 'application/problem+json'),
      ),
    )
    expect(plain).toEqual([])
  })

  test('declares exactly the parameters of its path', () => {
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name)
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual(named)
      expect(declared.every(({ required }) => required)).toBe(true)
    }
    for (const { route } of routes) {
      const named = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name)
      expect(Object.keys((route.params as { properties?: object })?.properties ?? {})).toEqual(named)
    }
  })

  test('describes conditional and retry headers in its description, not as parameters', () => {
    expect(
      faulty(({ operation }) => (operation.parameters ?? []).some((parameter) => parameter.in === 'header')),
    ).toEqual([])
    const prose = (id: string) =>
      operations.find(({ operation }) => operation.operationId === id)?.operation.description
    expect(prose('createUser')).toContain('Idempotency-Key')
    expect(prose('createUser')).not.toContain('If-Match')
    expect(prose('updateUser')).toContain('If-Match')
    expect(prose('getUser')).toContain('If-None-Match')
  })

  test('that is governed documents 202 with the change request', () => {
    const governed = routes.filter(({ route }) => route.governed).map(({ route }) => route.id)
    const waiting = { $ref: '#/components/schemas/ChangeRequest' }
    expect(governed.length).toBeGreaterThan(2)
    for (const { operation } of operations.filter(({ operation: { operationId } }) => governed.includes(operationId))) {
      expect(operation.responses['202']?.content?.['application/json']?.schema).toEqual(waiting)
    }
  })

  test('links only to existing operations, with existing parameters and members', () => {
    const links = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap((response) => Object.values(response.links ?? {})),
    )
    expect(links.length).toBeGreaterThan(5)
    for (const { operationId, parameters } of links) {
      const target = operations.find(({ operation }) => operation.operationId === operationId)
      expect(target?.operation.parameters?.map(({ name }) => name)).toEqual(
        expect.arrayContaining(Object.keys(parameters)),
      )
      for (const from of Object.values(parameters)) expect(from).toMatch(/^\$response\.body#(\/[a-z_]+)+$/)
    }
  })
})

describe('every schema', () => {
  test('of a request and of a reply compiles in strict mode', () => {
    let count = 0
    for (const { route } of routes) {
      for (const schema of [route.params, route.query, route.body]) {
        if (schema) expect(inputValidator(schema)).toBeTypeOf('function')
        if (schema) count++
      }
      const [, reply] = route.reply
      if (reply === null || isStreamReply(reply)) continue
      expect(replyValidator(reply as TSchema)).toBeTypeOf('function')
      count++
    }
    expect(count).toBeGreaterThan(80)
  })

  test('in the document compiles with its references', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
    ;(addFormats as unknown as { default: (ajv: Ajv2020) => void }).default(ajv)
    ajv.addFormat('binary', true)
    ajv.addKeyword('components')
    ajv.addSchema({ $id: 'document', components: document.components })
    const distinct = new Set<string>()
    for (const { operation } of operations) {
      const bodies = Object.values(operation.requestBody?.content ?? {})
      const replies = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}))
      const parameters = operation.parameters ?? []
      for (const { schema } of [...bodies, ...replies, ...parameters]) distinct.add(JSON.stringify(schema))
    }
    expect(distinct.size).toBeGreaterThan(60)
    for (const text of distinct) {
      expect(ajv.compile(JSON.parse(text.replaceAll('"#/', '"document#/')))).toBeTypeOf('function')
    }
    const isProblem = ajv.compile({ $ref: 'document#/components/schemas/Problem' })
    return w.call('GET /users?limit=0', {}).then(({ json }) => expect(isProblem(json)).toBe(true))
  })

  test('of a problem lists every code', () => {
    expect(document.components.schemas['Problem']).toMatchObject({
      properties: { code: { enum: Object.keys(problems) } },
    })
  })

  test('names its members in snake_case', () => {
    const names = new Set<string>()
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return
      for (const name of Object.keys((value as { properties?: object }).properties ?? {})) names.add(name)
      for (const inner of Object.values(value)) visit(inner)
    }
    visit(document.components.schemas)
    visit(document.paths)
    // As the specification of problem details and of validators spells it.
    names.delete('instancePath')
    expect(names.size).toBeGreaterThan(80)
    expect([...names].filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([])
  })
})
