import fs from 'node:fs'
import { test } from 'vitest'
import { roles } from '../../src/kernel/auth/roles.ts'
import { createLog } from '../../src/kernel/log.ts'
import { uuidv7 } from '../../src/kernel/uuid.ts'
import { world } from '../support/world.ts'

test('serve', async () => {
  const w = await world({ log: createLog({ level: 'warn', destination: '/tmp/sthesis-server.log', name: 'x' }), pool_size: 10 })
  const four_eyes = process.env['FOUR_EYES'] === '1'
  const tenant_id = await w.makeTenant({ four_eyes })
  await w.runtime.database.write({ tenant_id, actor: 'operator:test' }, async (tx) => {
    for (const b of ['principal', 'tenant', 'in_flight', 'heavy'])
      await tx.run('insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1,$2,1000000,1000000)', [tenant_id, b])
  })
  const principal = `user:${uuidv7()}` as const
  const token = await w.token({ tenant_id, principal, roles: roles.filter((r) => r !== 'auditor'), lifetime_s: 80000 })
  const base = await w.listen()
  fs.writeFileSync('/tmp/sthesis-env', `BASE=${base}\nTOKEN=${token}\n`)
  while (!fs.existsSync('/tmp/sthesis-stop')) await new Promise((r) => setTimeout(r, 500))
  await w.close()
}, 3_600_000)
