/** The published document is valid OpenAPI 3.1 and says neither more nor less than what the running server does. */
import { validate as validateOpenapi } from '@scalar/openapi-parser'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { problems } from '#kernel/problem.ts'
import { closed, Type } from '#kernel/schema.ts'
import {
  type ApiDocument,
  createSchemaCompiler,
  type ListedOperation,
  listOperations,
  type Media,
} from '../support/api-document.ts'
import { EXAMPLES_STALE, readExamples } from '../support/recorded-examples.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

/** Media types whose content cannot be shown in a document. */
const BINARY_TYPES = [
  'application/pdf',
  'application/zip',
  'application/octet-stream',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
]
const isBinary = (schema: object): boolean => 'format' in schema && schema.format === 'binary'
/** Problems that no operation declares: the catalogue documents them. */
const codesWithoutOperation = [
  // Of messages of the tool protocol.
  'origin_not_allowed',
  'tool_approval_required',
  'tool_confirmation_required',
  'tool_declined',

  'import_rejected',
  'provider_refused',
  'provider_failed',
  'not_recorded',
  'outcome_unknown',
]

type Json = Record<string, unknown>

let w: TestApp
/** As it is served. */
let document: ApiDocument
/** Operations with the responses that they refer to. */
let operations: ListedOperation[]
let compile: (schema: object) => ValidateFunction
const routes = modules.flatMap((module) => module.routes.map((route) => ({ module, route })))

beforeAll(async () => {
  w = await startTestApp()
  document = (await w.call('GET /openapi.json')).json
  operations = listOperations(document)
  compile = createSchemaCompiler(document)
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
      .filter(({ url }) => url.startsWith('/api/') && !url.startsWith('/api/docs/') && url !== '/api/mcp')
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
    for (const kind of ['schemas', 'responses', 'examples'] as const) {
      const used = new Set(
        [...text.matchAll(new RegExp(`"\\$ref":"#/components/${kind}/([^"]+)"`, 'g'))].map(([, name]) => name),
      )
      const unused = kind === 'examples' ? codesWithoutOperation : []
      expect([...used, ...unused].toSorted()).toEqual(Object.keys(document.components[kind]).toSorted())
    }
  })

  test('describes the problems that are answered', async () => {
    const { status, json } = await w.call('GET /users?limit=0', { token: await w.token() })
    expect([status, json.errors.length]).toEqual([422, 1])
    expect(compile({ $ref: '#/components/schemas/Problem' })(json)).toBe(true)
  })

  test('is the same for every caller and needs no token', async () => {
    const { status, json } = await w.call('GET /openapi.json', { token: await w.token() })
    expect(status).toBe(200)
    expect(json).toEqual(document)
  })
})

describe('every operation', () => {
  const verbs =
    'settle|waive|list|get|create|update|delete|revoke|check|deactivate|reactivate|rotate|approve|reject|withdraw|stream|cancel|retry|' +
    'archive|export|diff|activate|submit|rollBack|pin|unpin|validate|preview|start|resolve|lookUp|rebase|offboard|publish|simulate|test|import|' +
    'replay|reevaluate|explore|compare|override|estimate|resume|acknowledge|detect|infer|convert|reprocess|call|repeat|answer|verify|enable|disable|run|deny|discover|impose|lift|confirm|release|detach|reassign|claim|assign|snooze|wake|dismiss|return|escalate|decide|end|wait|propose|close|reopen|merge|fulfil|link'

  test('has an id of verb and noun that fits its method and is used once', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !new RegExp(`^(${verbs})[A-Z][A-Za-z]+$`).test(id))).toEqual([])
    expect(
      faulty(
        ({ method, operation }) =>
          (method === 'get') !==
          /^(list|get|stream|export|diff|resolve(?!Lists|Quarantined))/.test(operation.operationId),
      ),
    ).toEqual([])
    expect(
      faulty(({ method, operation }) => (method === 'delete') !== operation.operationId.startsWith('delete')),
    ).toEqual([])
  })

  test('has a summary, a description and the tag of its module', () => {
    const routers = modules.filter((module) => module.routes.length > 0)
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual(routers.map(({ name }) => name).toSorted())
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
    expect(faulty(({ operation }) => operation.security.length === 0).toSorted()).toEqual(open.toSorted())
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

  test('whose body holds a secret is not governed, and every free text of its body is write-only', () => {
    const secret = routes.filter(({ route }) => route.secret_body)
    expect(secret.map(({ route }) => route.id)).toContain('createCredentialVersion')
    const listTexts = (schema: Json): Json[] => {
      const nested = [schema['items'], schema['additionalProperties'], ...Object.values(schema['properties'] ?? {})]
      const below = nested.filter((part): part is Json => typeof part === 'object' && part !== null).flatMap(listTexts)
      const isText = [schema['type']].flat().includes('string') && !('enum' in schema) && !('format' in schema)
      return isText ? [schema, ...below] : below
    }
    for (const { route } of secret) {
      expect(route.governed ?? route.proposes, route.id).toBeUndefined()
      const texts = listTexts(route.body as unknown as Json)
      expect(texts.length, route.id).toBeGreaterThan(0)
      expect(
        texts.filter(({ writeOnly }) => writeOnly !== true),
        route.id,
      ).toEqual([])
      expect(JSON.stringify(route.reply[1]), route.id).not.toContain('writeOnly')
    }
    const body = closed({ secret: Type.String({ writeOnly: true }) })
    const governed = { action: 'x', head: async () => null }
    const declare = () =>
      tenantRoute('POST /x', {
        id: 'x',
        summary: 'x',
        roles: everyone,
        tx: 'write',
        body,
        secret_body: true,
        governed,
        reply: [204, null],
      })
    expect(() => declare().handle(async () => undefined)).toThrow('a change request would store the secret')
  })

  test('that needs a provider documents 424', () => {
    for (const { operation } of operations) {
      const route = routes.find(({ route: { id } }) => id === operation.operationId)?.route
      expect('424' in operation.responses, operation.operationId).toBe(route?.needs === 'provider')
    }
  })

  test('that runs a plugin documents 503 plugin_invalid and plugin_failed', () => {
    const executing = routes.filter(({ route }) => route.executes === 'plugin').map(({ route }) => route)
    expect(executing.length).toBeGreaterThan(0)
    for (const { operation } of operations) {
      const route = routes.find(({ route: { id } }) => id === operation.operationId)?.route
      const documented = JSON.stringify(operation.responses['503'] ?? {}).includes('plugin_invalid')
      expect(documented, operation.operationId).toBe(route?.executes === 'plugin')
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

describe('the order', () => {
  test('names every tag in one group, with a title and a description', () => {
    const grouped = document['x-tagGroups'].flatMap(({ tags }) => tags)
    expect(grouped).toEqual(document.tags.map(({ name }) => name))
    expect(new Set(grouped).size).toBe(grouped.length)
    const groups = document['x-tagGroups'].map(({ name }) => name)
    expect(new Set(groups).size, groups.join()).toBe(groups.length)
    expect(
      document['x-tagGroups'].map(({ name }) => name),
      'add the module to src/app/api-groups.ts',
    ).not.toContain('Other')
    for (const tag of document.tags) expect(tag).toMatchObject({ 'x-displayName': /\S/, description: /\.$/m })
  })

  test('starts with lists and decisions and ends with jobs and probes', () => {
    const names = document.tags.map(({ name }) => name)
    expect(names[0]).toBe('reference-data')
    expect(names.indexOf('evaluations')).toBeLessThan(names.indexOf('access'))
    expect(names.slice(-2)).toEqual(['jobs', 'system'])
    expect([...new Set(operations.map(({ operation }) => operation.tags[0]))]).toEqual(names)
  })

  test('goes through a resource as it is used: create, list, read, change, act', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    const story = [
      'createSubject',
      'listSubjects',
      'getSubject',
      'updateSubject',
      'offboardSubject',
      'listSubjectVersions',
    ]
    expect(ids.filter((id) => story.includes(id))).toEqual(story)
    const lists = ['createDataset', 'listDatasets', 'getDataset', 'createDatasetVersion', 'activateDatasetVersion']
    expect(ids.filter((id) => lists.includes(id))).toEqual(lists)
  })
})

describe('examples', () => {
  test('exist for every request body and every success reply that can be shown', () => {
    const missing = operations.flatMap(({ operation }) => {
      const bodies = Object.entries(operation.requestBody?.content ?? {})
      const replies = Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content }]) => Object.entries(content ?? {}))
      const shown = [...bodies, ...replies].filter(([, { schema }]) => !isBinary(schema))
      return shown.filter(([, { examples }]) => !examples).map(([type]) => `${operation.operationId} ${type}`)
    })
    expect(missing, EXAMPLES_STALE).toEqual([])
  })

  test('are replaced by a described schema for replies that are files', () => {
    const files = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content }]) => Object.entries(content ?? {}))
        .filter(([type, { schema }]) => BINARY_TYPES.includes(type) || isBinary(schema))
        .map(([type, { schema }]) => ({ name: `${operation.operationId} ${type}`, type, schema })),
    )
    expect(new Set(files.map(({ type }) => type))).toEqual(new Set(BINARY_TYPES))
    for (const { name, type, schema } of files)
      expect(schema, name).toMatchObject({ format: 'binary', contentMediaType: type, description: /\.$/ })
  })

  test('exist for every problem code, and every problem response shows those of its codes', () => {
    const byCode = Object.fromEntries(
      Object.entries(document.components.examples).filter(([name]) => !name.includes('.')),
    )
    expect(Object.keys(byCode)).toEqual(Object.keys(problems))
    const recorded = Object.keys(readExamples('problems'))
    const unreachable = Object.keys(problems).filter((code) => !recorded.includes(code))
    expect(unreachable.toSorted()).toEqual([
      'contract_violated',
      'document_infected',
      'import_rejected',
      'not_recorded',
      'outcome_unknown',
      'provider_failed',
      'provider_refused',
      'shutting_down',
    ])
    for (const [code, { value }] of Object.entries(byCode)) expect(value).toMatchObject({ code })
    for (const { description, content } of Object.values(document.components.responses)) {
      const codes = Object.keys(content?.['application/problem+json']?.examples ?? {})
      expect(codes.length).toBeGreaterThan(0)
      expect([...description.matchAll(/`([a-z_]+)`: /g)].map(([, code]) => code)).toEqual(codes)
    }
  })

  test('conform to the schemas beside them', () => {
    let count = 0
    const faults: string[] = []
    const check = (name: string, { schema, examples = {} }: Media) => {
      const isValid = compile(schema)
      for (const example of Object.values(examples)) {
        const value = example.$ref
          ? document.components.examples[example.$ref.split('/').at(-1) as string]?.value
          : example.value
        if (!isValid(value)) faults.push(`${name}: ${JSON.stringify(isValid.errors)}`)
        count++
      }
    }
    for (const { operation } of operations) {
      const replies = Object.values(operation.responses).flatMap(({ content }) => Object.entries(content ?? {}))
      for (const [type, media] of [...Object.entries(operation.requestBody?.content ?? {}), ...replies]) {
        if (type !== 'application/problem+json') check(`${operation.operationId} ${type}`, media)
      }
    }
    for (const [name, { content = {} }] of Object.entries(document.components.responses)) {
      for (const media of Object.values(content)) check(name, media)
    }
    expect(faults).toEqual([])
    expect(count).toBeGreaterThan(300)
  })

  test('hold no token, key or secret that could be used', () => {
    const text = JSON.stringify(document)
    expect(new Set(text.match(/pk_[\w.-]{12,}/g))).toEqual(new Set(['pk_example_replace_with_the_key_you_were_shown']))
    expect(new Set(text.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g)?.map((token) => token.length))).toEqual(new Set([53]))
  })

  test('keep the document small', () => {
    expect(JSON.stringify(document).length).toBeLessThan(2_500_000)
  })
})
