/**
 * What the compiler refuses. Each line under an expected error must fail to type-check; `npm run types` notices when it
 * stops doing so. At run time a declaration only makes a value, so the same lines are harmless.
 */
import { describe, expect, test } from 'vitest'
import { publicRoute, tenantRoute } from './declare-route.ts'
import { defineJob } from './job/define-job.ts'
import type { Capabilities } from './kernel.ts'
import { declareReview } from './request/declare-review.ts'
import { streamReply } from './route.ts'
import { closed, integer, listOf, nullable, oneOf, pageQuery, Type, text } from './schema.ts'

const Reply = closed({ n: integer(0, 9), state: oneOf(['open', 'shut']) })
const Params = closed({ id: text(36) })
const Body = closed({ name: text(10), note: Type.Optional(nullable(text(10))), tags: listOf(text(5), 3) })
const spec = { id: 'getA', summary: 'A', roles: ['viewer'], tx: 'read', params: Params, reply: [200, Reply] } as const
const good = { n: 1, state: 'open' } as const
const job = { kind: 'a', summary: 'A', payload: closed({}), resumes: 'restart' } as const
const needsRoutes = async (kernel: Capabilities<'routes'>) => ({ n: kernel.routes.length, state: 'open' as const })

describe('a declaration', () => {
  test('that is complete compiles, and keeps its members', () => {
    const route = tenantRoute('GET /a/:id', spec).handle(async ({ params }) => ({ n: params.id.length, state: 'open' }))
    expect(route).toMatchObject({ access: 'tenant', method: 'GET', path: '/a/:id', roles: ['viewer'], tx: 'read' })
  })

  test('must name roles and tx', () => {
    // @ts-expect-error roles is mandatory
    tenantRoute('GET /a', { id: 'getA', summary: 'A', tx: 'read', reply: [200, Reply] })
    // @ts-expect-error tx is mandatory
    tenantRoute('GET /a', { id: 'getA', summary: 'A', roles: ['viewer'], reply: [200, Reply] })
    // @ts-expect-error roles may not be empty
    tenantRoute('GET /a', { ...spec, roles: [] })
    // @ts-expect-error there is no such role
    tenantRoute('GET /a', { ...spec, roles: ['root'] })
    // @ts-expect-error there is no such mode
    tenantRoute('GET /a', { ...spec, tx: 'maybe' })
    expect(tenantRoute('GET /a', { ...spec, roles: ['viewer', 'analyst'] })).toBeDefined()
  })

  test('must have an id, a summary, a reply, and a method and path in one literal', () => {
    // @ts-expect-error id is mandatory
    tenantRoute('GET /a', { summary: 'A', roles: ['viewer'], tx: 'read', reply: [200, Reply] })
    // @ts-expect-error summary is mandatory
    tenantRoute('GET /a', { id: 'getA', roles: ['viewer'], tx: 'read', reply: [200, Reply] })
    // @ts-expect-error reply is mandatory
    tenantRoute('GET /a', { id: 'getA', summary: 'A', roles: ['viewer'], tx: 'read' })
    // @ts-expect-error there is no such method
    tenantRoute('FETCH /a', spec)
    // @ts-expect-error a path begins with a slash
    tenantRoute('GET a', spec)
    // @ts-expect-error an error is a problem, not a reply
    tenantRoute('GET /a', { ...spec, reply: [404, Reply] })
    expect(tenantRoute('GET /a', spec)).toBeDefined()
  })

  test('may name only problems of the catalogue and known options', () => {
    // @ts-expect-error there is no such problem
    tenantRoute('GET /a', { ...spec, problems: ['not_there'] })
    const marks = { id: 'getA', summary: 'A', roles: ['viewer'], tx: 'read' } as const
    // @ts-expect-error there is no such mark
    tenantRoute('GET /a', { ...marks, reply: [200, Reply], cached: true })
    // @ts-expect-error there is no such limit
    tenantRoute('GET /a', { ...spec, limit: 'light' })
    // @ts-expect-error a governed change names the state it is bound to
    tenantRoute('PUT /a', { ...spec, governed: { action: 'a' } })
    expect(tenantRoute('GET /a', { ...spec, problems: ['not_found'], audited: true })).toBeDefined()
  })

  test('of a public route has neither roles nor a transaction', () => {
    // @ts-expect-error roles mean nothing without a token
    publicRoute('GET /h', { id: 'getH', summary: 'H', roles: ['viewer'], reply: [200, Reply] })
    const open = publicRoute('GET /h', { id: 'getH', summary: 'H', reply: [200, Reply] })
    // @ts-expect-error there is no transaction
    open.handle(async ({ tx }) => tx)
    // @ts-expect-error there is nobody
    open.handle(async ({ actor }) => actor)
    expect(open.handle(async () => good).roles).toEqual([])
  })
})

describe('a handler', () => {
  const route = tenantRoute('POST /a/:id', { ...spec, body: Body, query: closed(pageQuery) })

  test('returns what its reply declares', () => {
    // @ts-expect-error n is a number
    route.handle(async () => ({ n: 'x', state: 'open' }))
    // @ts-expect-error state is open or shut
    route.handle(async () => ({ n: 1, state: 'ajar' }))
    // @ts-expect-error state is missing
    route.handle(async () => ({ n: 1 }))
    // @ts-expect-error something must be answered
    route.handle(async () => {})
    // @ts-expect-error 204 answers nothing
    tenantRoute('DELETE /a', { ...spec, reply: [204, null] }).handle(async () => good)
    // @ts-expect-error a stream is something to iterate over
    tenantRoute('GET /a', { ...spec, reply: [200, streamReply('text/csv', 'Rows.')] }).handle(async () => good)
    // @ts-expect-error the header is made from a member the reply has
    tenantRoute('GET /a', { ...spec, location: (reply) => reply.nowhere })
    expect(route.handle(async () => good).reply[0]).toBe(200)
  })

  test('gets what was validated, and nothing else', () => {
    // @ts-expect-error there is no such parameter
    route.handle(async ({ params }) => ({ n: params.nope, state: 'open' }))
    // @ts-expect-error there is no such query
    route.handle(async ({ query }) => ({ n: query.offset, state: 'open' }))
    // @ts-expect-error limit may be absent
    route.handle(async ({ query }) => ({ n: query.limit.valueOf(), state: 'open' }))
    // @ts-expect-error note may be null
    route.handle(async ({ body }) => ({ n: body.note?.length ?? body.note.length, state: 'open' }))
    // @ts-expect-error no body was declared
    tenantRoute('GET /a', spec).handle(async ({ body }) => ({ n: body.length, state: 'open' }))
    // @ts-expect-error handlers never see the framework
    route.handle(async ({ reply }) => reply)
    expect(
      route.handle(async ({ body, query }) => ({ n: body.tags.length + (query.limit ?? 0), state: 'open' })),
    ).toBeDefined()
  })

  test('can use only what its declaration names', () => {
    // @ts-expect-error without `uses` there is no kernel
    route.handle(async ({ kernel }) => kernel)
    const jobs = tenantRoute('POST /a', { ...spec, uses: ['jobs'] })
    // @ts-expect-error cursors are not declared
    jobs.handle(async ({ kernel }) => kernel.cursors)
    // @ts-expect-error nor are the routes, also not for a function that needs them
    jobs.handle(async ({ kernel }) => needsRoutes(kernel))
    // @ts-expect-error there is no such capability
    tenantRoute('POST /a', { ...spec, uses: ['pool'] })
    const open = publicRoute('GET /h', { id: 'getH', summary: 'H', uses: ['build'], reply: [200, Reply] })
    // @ts-expect-error public routes declare what they use as well
    open.handle(async ({ kernel }) => needsRoutes(kernel))
    // @ts-expect-error and so do the functions of a route that are no handler
    tenantRoute('GET /a', { ...spec, uses: ['jobs'], redact: (reply, { kernel }) => kernel.cursors && reply })
    // @ts-expect-error and jobs
    defineJob({ ...job, uses: ['caches'], run: async ({ kernel }) => ({ n: kernel.routes.length }) })
    // @ts-expect-error and reviews
    declareReview({ uses: ['caches'], begin: async (kernel) => async () => kernel.routes })
    const allowed = jobs.handle(async ({ kernel }) => ({ n: kernel.jobs.kinds.size, state: 'open' }))
    expect(allowed.uses).toEqual(['jobs'])
  })

  test('has the transaction its mode gives it', () => {
    const own = tenantRoute('GET /a', { ...spec, tx: 'self' })
    // @ts-expect-error with 'self' no transaction is open
    own.handle(async ({ tx }) => tx)
    // @ts-expect-error with 'read' there is one, and no second
    tenantRoute('GET /a', spec).handle(async ({ write }) => write)
    expect(own.handle(async ({ read }) => read(async () => good)).tx).toBe('self')
  })
})
