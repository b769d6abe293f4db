/** What the machine can do at most: a ready-made answer from node:http, the same from Fastify, and an insert through `pg`. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'
import { readStartOptions, reportReady } from './child.ts'

export interface BareServerOptions {
  readonly server: 'http' | 'fastify' | 'insert' | 'document'
  /** The answer of the product, to be given byte for byte. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly database: pg.PoolConfig
  /** What `document` stores at each request. */
  readonly document: string
}

const options = readStartOptions<BareServerOptions>()

const insertUser = `insert into app.user_account
  (tenant_id, user_id, issuer, subject, email, name, roles, origin, state, created_by)
  values ($1, gen_random_uuid(), 'probity', $2, $2, $3, $4, 'built_in', 'invited', 'bare') returning *`
const insertDocument = `insert into bench.document (tenant_id, document_id, document)
  values ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), $1) returning document_id`

function listenHttp(): Promise<number> {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, options.headers).end(options.body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function listenFastify(): Promise<number> {
  const app = Fastify()
  app.get('/*', (_request, reply) => reply.headers(options.headers).send(options.body))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

function listenInsert(): Promise<number> {
  return listenWrites('insert', insertUser, ({ tenant_id, email, name, roles }) => [tenant_id, email, name, roles])
}

const listenDocument = (): Promise<number> => listenWrites('document', insertDocument, () => [options.document])

/** What one writes by hand: one transaction around one insert, on a pool of the same size. */
async function listenWrites(
  statement: string,
  text: string,
  valuesOf: (body: Record<string, string>) => unknown[],
): Promise<number> {
  const pool = new pg.Pool({ ...options.database, max: 10 })
  const app = Fastify()
  app.post('/*', async (request, reply) => {
    const values = valuesOf(request.body as Record<string, string>)
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows } = await client.query({ name: statement, text, values })
      await client.query('commit')
      return reply.status(201).send(rows[0])
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

const listen = { http: listenHttp, fastify: listenFastify, insert: listenInsert, document: listenDocument }[
  options.server
]
reportReady({ port: await listen() })
