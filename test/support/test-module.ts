/**
 * A module that exists only in tests: its routes leave a mark in the database and then wait, fail or go on, as the test
 * says. It shows what the kernel does around a handler; nothing of it is part of the product.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { publicRoute, tenantRoute } from '#kernel/declare-route.ts'
import type { Module } from '#kernel/module.ts'
import { fail } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import { closed, Id, text } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { claimUpload } from '#modules/system/index.ts'

export interface HandlerGate {
  /** Resolves once a request waits inside its handler. */
  readonly arrived: Promise<void>
  release(): void
}

const roles = ['analyst', 'service'] as const
const Named = closed({ name: text(100) })
const Marked = closed({ name: text(100), mark_id: Id() })

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const insertMark = (tx: Tx, name: string) =>
  tx.run(
    `insert into app.upload (tenant_id, upload_id, state, file_name, media_type, created_by, expires_at)
     values ($1, $2, 'receiving', $3, 'test/mark', $4, now() + interval '1 hour')`,
    [tx.tenant_id, uuidv7(), name, tx.actor],
  )

export const countMarks = async (tx: Tx, name: string): Promise<number> =>
  (await tx.query('select 1 from app.upload where tenant_id = $1 and file_name = $2', [tx.tenant_id, name])).length

export function createTestModule() {
  const gates = new Map<string, { arrive: () => void; opened: Promise<void> }>()

  /** Requests that name it wait inside their handler until it is released. */
  const hold = (name: string): HandlerGate => {
    const arrived = deferred()
    const opened = deferred()
    gates.set(name, { arrive: arrived.resolve, opened: opened.promise })
    return {
      arrived: arrived.promise,
      release: () => {
        gates.delete(name)
        opened.resolve()
      },
    }
  }

  const waitAtGate = async (name: string): Promise<void> => {
    const gate = gates.get(name)
    gate?.arrive()
    await gate?.opened
  }

  const module: Module = {
    name: 'rehearsal',
    segments: ['rehearsal'],
    tier: 'views',
    summary: 'Only in tests.',
    jobs: [],
    canary: async () => {},
    routes: [
      tenantRoute('POST /rehearsal/marks', {
        id: 'createMark',
        summary: 'Writes a mark, then waits while its name is held',
        roles,
        tx: 'write',
        body: Named,
        reply: [201, Marked],
        location: ({ mark_id }) => `/rehearsal/marks/${mark_id}`,
      }).handle(async ({ tx, body }) => {
        await insertMark(tx, body.name)
        await waitAtGate(body.name)
        return { name: body.name, mark_id: uuidv7() }
      }),

      tenantRoute('POST /rehearsal/accidents', {
        id: 'createAccident',
        summary: 'Writes a mark, then fails in a way nobody foresaw',
        roles,
        tx: 'write',
        body: Named,
        reply: [201, Marked],
      }).handle(async ({ tx, body }) => {
        await insertMark(tx, body.name)
        throw new Error('the secret reason of an accident')
      }),

      tenantRoute('GET /rehearsal/pauses', {
        id: 'getPause',
        summary: 'Waits without a connection while its name is held',
        roles,
        tx: 'self',
        query: Named,
        reply: [200, Named],
      }).handle(async ({ query }) => {
        await waitAtGate(query.name)
        return { name: query.name }
      }),

      tenantRoute('GET /rehearsal/waits', {
        id: 'getWait',
        summary: 'Waits until the request is aborted',
        roles,
        tx: 'self',
        query: Named,
        reply: [200, Named],
      }).handle(async ({ query, request }) => {
        gates.get(query.name)?.arrive()
        await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve(), { once: true }))
        return { name: query.name }
      }),

      tenantRoute('GET /rehearsal/streams', {
        id: 'streamPause',
        summary: 'Says something, then nothing more while its name is held',
        roles,
        tx: 'self',
        query: Named,
        reply: [200, streamReply('text/plain', 'Two words.')],
      }).handle(async ({ query }) =>
        (async function* () {
          yield 'hello '
          await waitAtGate(query.name)
          yield 'goodbye'
        })(),
      ),

      tenantRoute('POST /rehearsal/uses/:upload_id', {
        id: 'createUse',
        summary: 'Names an upload, as imports will',
        roles,
        tx: 'write',
        params: closed({ upload_id: Id() }),
        reply: [200, closed({ upload_id: Id() })],
        problems: ['not_found', 'upload_incomplete'],
      }).handle(async ({ tx, params }) => ({ upload_id: (await claimUpload(tx, params.upload_id)).upload_id })),

      publicRoute('GET /rehearsal/lies', {
        id: 'getLie',
        summary: 'Answers with something else than it declares',
        reply: [200, Named],
      }).handle(async () => ({ name: '' })),

      tenantRoute('GET /rehearsal/undeclared', {
        id: 'getUndeclared',
        summary: 'Answers with a problem it does not declare',
        roles,
        tx: 'self',
        reply: [200, Named],
      }).handle(async () => fail('cursor_not_found')),
    ],
  }
  return { module, hold }
}
