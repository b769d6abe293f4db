/**
 * `npm run acceptance -- mcp-conformance`: the public conformance suite of the Model Context Protocol (M1). A fixture server over
 * the product's transport takes the scenarios of both revisions; the product itself, behind a proxy that adds a token, takes those
 * that need no fixtures. Prints one line of JSON and exits 0 or 1.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { startFixtureServer } from './mcp-conformance/fixture-server.ts'
import { canRunSuite, runSuite, type SuiteResult } from './mcp-conformance/suite.ts'
import { startApi } from './support/running-api.ts'

/** Scenarios that call nothing by the name of a fixture. */
const PRODUCT_SCENARIOS = [
  'tools-list',
  'resources-list',
  'prompts-list',
  'sep-2164-resource-not-found',
  'dns-rebinding-protection',
  'caching',
  'server-sse-multiple-streams',
  'server-stateless',
]
/** Checks of `server-stateless` that need diagnostic tools which a product does not have. */
const NOT_TESTABLE = 'Not testable'

const { values } = parseArgs({ options: { part: { type: 'string', default: 'all' } } })
const folder = path.join(readProject().root, 'test/acceptance/mcp-conformance')

async function runFixtures(revision: string): Promise<SuiteResult & { output: string }> {
  const server = await startFixtureServer(0)
  const { port } = server.address() as AddressInfo
  try {
    return await runSuite([
      'server',
      '--url',
      `http://127.0.0.1:${port}/mcp`,
      '--requirements',
      revision,
      '--expected-failures',
      path.join(folder, `expected-failures-${revision}.yml`),
    ])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Passes every message on with the token of a person; the suite cannot send one. */
async function startProxy(target: string, token: string): Promise<http.Server> {
  const { hostname, port } = new URL(target)
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` }
    const sent = http.request({ hostname, port, path: '/api/mcp', method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    sent.once('error', () => response.destroy())
    request.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function runProduct(): Promise<Record<string, { passed: number; failed: number; not_testable: number }>> {
  const api = await startApi()
  const proxy = await startProxy(api.url, api.token)
  const { port } = proxy.address() as AddressInfo
  const results: Record<string, { passed: number; failed: number; not_testable: number }> = {}
  try {
    for (const scenario of PRODUCT_SCENARIOS) {
      const args = ['--url', `http://127.0.0.1:${port}/mcp`, '--scenario', scenario, '--spec-version', '2026-07-28']
      const { checks_passed, checks_failed, output } = await runSuite(['server', ...args])
      const not_testable = output.split('\n').filter((line) => line.includes(NOT_TESTABLE)).length
      results[scenario] = {
        passed: checks_passed,
        failed: Math.max(0, checks_failed - not_testable),
        not_testable: Math.min(not_testable, checks_failed),
      }
      if (results[scenario].failed > 0) console.error(output)
    }
  } finally {
    proxy.closeAllConnections()
    proxy.close()
    await api.close()
  }
  return results
}

if (!canRunSuite()) {
  console.log(JSON.stringify({ run: 'mcp-conformance', skipped: 3, reason: 'the suite needs Node.js 22' }))
  process.exit(0)
}
const result: Record<string, unknown> = { run: 'mcp-conformance' }
let isGood = true
if (values.part !== 'product') {
  for (const revision of ['2026-07-28', '2025-11-25']) {
    const { output, ...summary } = await runFixtures(revision)
    result[revision] = summary
    if (summary.exit_code !== 0) console.error(output)
    isGood &&= summary.exit_code === 0
  }
}
if (values.part !== 'fixtures') {
  const product = await runProduct()
  result['product'] = product
  isGood &&= Object.values(product).every(({ passed, failed }) => failed === 0 && passed > 0)
}
console.log(JSON.stringify(result))
process.exit(isGood ? 0 : 1)
