/**
 * V1, `npm run acceptance -- credential-memory`: stores credentials through an API process, waits ten seconds, and searches a heap
 * snapshot of the process for their values in every form. Prints one line of JSON.
 */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingProvider } from '../support/counting-provider.ts'
import type { ApiStartMessage } from './api-process.ts'
import { startDurableDatabase } from './support/durable-database.ts'
import { parseNumbers, reportResult } from './support/running-api.ts'

const { credentials, idle_s } = parseNumbers({ credentials: 20, idle_s: 10 })
const PROVIDER_KEY = 'memory'

const listForms = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('base64').slice(0, 40),
  Buffer.from(secret).toString('hex'),
  secret.slice(0, 16),
  secret.slice(-16),
]

async function storeCredentials(url: string, token: string, manifest: object): Promise<string[]> {
  const call = async (at: string, body: object): Promise<Record<string, string>> => {
    const [method = '', route] = at.split(' ')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const reply = await fetch(`${url}${route}`, { method, headers, body: JSON.stringify(body) })
    if (!reply.ok) throw new Error(`${at} answered ${reply.status} ${await reply.text()}`)
    return (await reply.json()) as Record<string, string>
  }
  await call('POST /providers', { provider_key: PROVIDER_KEY, title: 'Memory', definition: manifest })
  await call(`POST /providers/${PROVIDER_KEY}/versions/draft/publish`, {})
  await call(`POST /providers/${PROVIDER_KEY}/activations`, { version: 1, reason: 'acceptance' })
  const { credential_id } = await call('POST /provider-credentials', { provider_key: PROVIDER_KEY, label: 'Main' })
  const secrets: string[] = []
  for (let version = 1; version <= credentials; version++) {
    const api_key = randomBytes(30).toString('base64url')
    const versions = `POST /provider-credentials/${credential_id}/versions`
    await call(versions, { members: { api_key } })
    await call(`${versions}/${version}/activations`, { reason: 'acceptance' })
    secrets.push(api_key)
  }
  return secrets
}

/** The snapshot that the process writes into its folder, once it is whole. */
async function takeSnapshot(pid: number, folder: string): Promise<string> {
  process.kill(pid, 'SIGUSR2')
  for (let size = -1; ; await sleep(1000)) {
    const [file] = fs.readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'))
    if (!file) continue
    const now = fs.statSync(path.join(folder, file)).size
    if (now > 0 && now === size) return fs.readFileSync(path.join(folder, file), 'utf8')
    size = now
  }
}

const provider = await CountingProvider.start()
const database = await startDurableDatabase()
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'credential-memory-'))
const script = path.join(import.meta.dirname, 'api-process.mjs')
const child = fork(script, {
  cwd: process.cwd(),
  execArgv: ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`],
})
try {
  const [tenant_id] = (await database.makeTenants(1)) as [string]
  const control = `control-${randomBytes(20).toString('hex')}`
  const connections = { app: database.connection('app'), worker: database.connection('worker') }
  child.send({ connections, tenant_id, control } satisfies ApiStartMessage)
  const [{ url, token }] = (await once(child, 'message')) as [{ url: string; token: string }]
  const secrets = await storeCredentials(url, token, provider.createManifest())
  await sleep(idle_s * 1000)
  const snapshot = await takeSnapshot(child.pid as number, folder)
  const found = secrets.filter((secret) => listForms(secret).some((form) => snapshot.includes(form))).length
  const control_found = snapshot.includes(control)
  const snapshot_mib = Math.round(snapshot.length / 1024 / 1024)
  const passed = found === 0 && control_found
  reportResult('credential-memory', { credentials, found, control_found, snapshot_mib, passed })
} finally {
  child.kill('SIGKILL')
  await database.stop()
  await provider.close()
  fs.rmSync(folder, { recursive: true, force: true })
}
