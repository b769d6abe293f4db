/** One API process of a run, whose memory can be looked at from outside. Lives no longer than the run. */
import type pg from 'pg'
import { roles } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createTestRuntime } from './support/running-api.ts'

export interface ApiStartMessage {
  readonly connections: { readonly app: pg.PoolConfig; readonly worker: pg.PoolConfig }
  readonly tenant_id: string
  /** Held in memory, so that looking for it shows that the look finds something. */
  readonly control: string
}

let control: string[] = []

process.once('message', async ({ connections, tenant_id, control: text }: ApiStartMessage) => {
  control = [text]
  const runtime = await createTestRuntime({ connection: (role) => connections[role as 'app' | 'worker'] })
  const server = await runtime.createServer()
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/api`
  const { token } = await runtime.kernel.issuer.mint({
    tenant_id,
    principal: `user:${uuidv7()}`,
    roles,
    lifetime_s: 3600,
  })
  process.send?.({ url, token, held: control.length })
})
process.on('disconnect', () => process.exit(1))
