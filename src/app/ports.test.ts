import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { findPortFault, type PortSettings, portErrorMessage } from './ports.ts'

const servers: http.Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function occupy(answer: string): Promise<number> {
  const server = http.createServer((_request, response) => response.end(answer)).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const question = (port: number, more: Partial<PortSettings> = {}): PortSettings => ({
  port,
  host: 'localhost',
  setting: 'PORT',
  ...more,
})

test('a free port is no fault, and is left free', async () => {
  const port = await occupy('')
  for (const server of servers.splice(0)) server.close()
  expect(await findPortFault(question(port))).toBeNull()
  expect(await findPortFault(question(port))).toBeNull()
})

test('0 is always free', async () => {
  expect(await findPortFault(question(0, { host: 'no such host' }))).toBeNull()
})

test('reports a port in use, and how to choose another', async () => {
  const port = await occupy('something else')
  expect(await findPortFault(question(port))).toBe(
    `Port ${port} is already in use by another program: stop it first, or choose another port, for example PORT=${port + 1}.`,
  )
  expect(await findPortFault(question(port, { host: '0.0.0.0' }))).toContain('already in use')
  expect(await findPortFault(question(port, { setting: 'PROBITY_METRICS_PORT' }))).toContain('PROBITY_METRICS_PORT=')
})

test('reports a port that another Probity uses as such', async () => {
  const port = await occupy(JSON.stringify({ status: 'ok', uptime_s: 1 }))
  expect(await findPortFault(question(port))).toMatch(`Probity is already running on port ${port}: stop it first`)
})

test('an address that is not ours, and a name nobody knows', async () => {
  expect(await findPortFault(question(8000, { host: '192.0.2.1' }))).toBe(
    'HOST=192.0.2.1 is not an address of this machine.',
  )
  expect(await findPortFault(question(8000, { host: 'no-such-host.invalid' }))).toMatch(
    /^HOST=no-such-host\.invalid is not a/,
  )
})

test('a port that needs more rights', () => {
  const error = Object.assign(new Error('denied'), { code: 'EACCES' })
  expect(portErrorMessage(error, question(80))).toBe(
    'Port 80 needs more rights than this user has: choose another port, for example PORT=81.',
  )
})
