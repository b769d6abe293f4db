/**
 * PostGraphile as a point of comparison. It needs Node 22 and some 180 packages, so it is installed at the time of
 * measurement into a folder outside the project; where that fails, the row says "not measured" and why.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { type Child, startChild } from './child.ts'

const folder = path.join(os.tmpdir(), 'postgraphile-bench')
const packages = { postgraphile: '5.1.5', node: '22.23.3', jsonwebtoken: '9.0.3' }
export const postgraphileVersion = `PostGraphile ${packages.postgraphile} on Node ${packages.node}`

async function install(): Promise<void> {
  fs.mkdirSync(folder, { recursive: true })
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: packages })
  const file = path.join(folder, 'package.json')
  const is_there = fs.existsSync(file) && fs.readFileSync(file, 'utf8') === manifest
  if (is_there && fs.existsSync(path.join(folder, 'node_modules/.bin/node'))) return
  fs.writeFileSync(file, manifest)
  // The script of the package `node` fetches the binary of this platform.
  const command = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--foreground-scripts']
  await promisify(execFile)('npm', command, { cwd: folder, timeout: 300_000 })
}

/** The Node that PostGraphile needs: every server is measured on the same one. Undefined where it cannot be had. */
export async function installNode22(): Promise<string | undefined> {
  try {
    await install()
    return path.join(folder, 'node_modules/.bin/node')
  } catch {
    return undefined
  }
}

export async function startPostgraphile(
  projectRoot: string,
  order: { database: pg.PoolConfig; public_keys: readonly object[]; keep_tokens: boolean },
): Promise<Child<{ port: number }>> {
  await install()
  const script = path.join(folder, 'server.mjs')
  fs.copyFileSync(path.join(projectRoot, 'bench/postgraphile-server.mjs'), script)
  return startChild(script, order, { node: path.join(folder, 'node_modules/.bin/node'), cwd: folder })
}

/** The columns of the product's answer, of the same row. */
export const postgraphileQuery = (tenant_id: string, user_id: string): string =>
  JSON.stringify({
    query: `query user($tenant: UUID!, $user: UUID!) {
      userAccountByTenantIdAndUserId(tenantId: $tenant, userId: $user) {
        userId issuer subject email name team locale roles origin state awayFrom awayUntil lastSeenAt
        createdAt createdBy updatedAt revision
      }
    }`,
    variables: { tenant: tenant_id, user: user_id },
  })
